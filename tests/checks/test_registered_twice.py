"""SO104: handlers that are attached twice to one event."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import registered_twice

FILES = {
    "mill/__init__.py": "",
    "mill/settings.py": 'MIDDLEWARE = ["mill.middleware.Watch"]\n',
    "mill/models.py": """
        from django.db import models


        class Sack(models.Model):
            email = models.EmailField()


        class Cart(models.Model):
            email = models.EmailField()
    """,
    "mill/mail.py": """
        from django.core.mail import send_mail


        def tell(row):
            send_mail("Ready", "x", None, [row.email])


        def tell_miller(row):
            send_mail("Ready", "x", None, ["miller@mill.example"])
    """,
    "mill/handlers.py": """
        from .mail import tell, tell_miller


        def ready(sender, instance, created, **kwargs):
            if created:
                tell(instance)


        def also(sender, instance, created, **kwargs):
            if created:
                tell(instance)


        def changed(sender, instance, created, **kwargs):
            if not created:
                tell(instance)


        def miller(sender, instance, created, **kwargs):
            if created:
                tell_miller(instance)
    """,
    "mill/apps.py": """
        from django.apps import AppConfig


        class MillConfig(AppConfig):
            name = "mill"

            def ready(self):
                from . import signals
    """,
}
HEAD = """
from functools import partial
from django.db.models.signals import post_delete, post_save
from .handlers import also, changed, miller, ready
from .mail import tell
from .models import Cart, Sack

"""
SILENT = {
    "the same function twice": """
post_save.connect(ready, sender=Sack)
post_save.connect(ready, sender=Sack)
""",
    "two senders": """
post_save.connect(ready, sender=Sack)
post_save.connect(ready, sender=Cart)
""",
    "two signals": """
post_save.connect(ready, sender=Sack)
post_delete.connect(ready, sender=Sack)
""",
    "one identity": """
post_save.connect(ready, sender=Sack, dispatch_uid="a")
post_save.connect(ready, sender=Sack, dispatch_uid="a")
""",
    "another person": """
post_save.connect(ready, sender=Sack)
post_save.connect(miller, sender=Sack)
""",
    "the other saves": """
post_save.connect(ready, sender=Sack)
post_save.connect(changed, sender=Sack)
""",
    "taken off before": """
def again():
    post_save.disconnect(ready, sender=Sack)
    post_save.connect(ready)


post_save.connect(ready, sender=Sack)
""",
}
FAULTY = {
    "every sender beside its own": """
post_save.connect(ready, sender=Sack)  # one
post_save.connect(ready)  # two
""",
    "two identities": """
post_save.connect(ready, sender=Sack)  # one
post_save.connect(ready, sender=Sack, dispatch_uid="ready")  # two
""",
    "two copies": """
post_save.connect(ready, sender=Sack)  # one
post_save.connect(also, sender=Sack)  # two
""",
}


def project(signals: str) -> dict[str, str]:
    return {**FILES, "mill/signals.py": HEAD + signals}


@pytest.mark.parametrize("signals", SILENT.values(), ids=SILENT)
def test_silent(signals: str, tmp_path: Path) -> None:
    assert findings(project(signals), tmp_path, "SO104") == []


@pytest.mark.parametrize("signals", FAULTY.values(), ids=FAULTY)
def test_found(signals: str, tmp_path: Path) -> None:
    (found,) = findings(project(signals), tmp_path, "SO104")
    assert (found.severity, found.place.line) == ("error", line_of(HEAD + signals, "# two"))
    assert ("mill/signals.py", line_of(HEAD + signals, "# one")) in lines(found)


OFTEN = """
from django.db.models.signals import post_save
from .handlers import ready
from .mail import tell
from .models import Sack


class Watch:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        self.watch(request.user)
        return self.get_response(request)

    def watch(self, user):
        def told(sender, instance, created, **kwargs):
            if created:
                tell(instance)

        {connect}
"""
REPEATED = {
    "a new function each time": ("post_save.connect(told, sender=Sack, weak=False)", 1),
    "a lambda": ("post_save.connect(lambda instance, **kw: tell(instance), sender=Sack, weak=False)", 1),
    "one identity": ("post_save.connect(told, sender=Sack, weak=False, dispatch_uid='told')", 0),
    "one that nothing holds": ("post_save.connect(told, sender=Sack)", 0),
    "the same function": ("post_save.connect(ready, sender=Sack, weak=False)", 0),
}


@pytest.mark.parametrize(("connect", "wanted"), REPEATED.values(), ids=REPEATED)
def test_connecting_on_every_request(connect: str, wanted: int, tmp_path: Path) -> None:
    text = OFTEN.replace("{connect}", connect)
    found = findings({**FILES, "mill/middleware.py": text}, tmp_path, "SO104")
    assert [one.place.line for one in found] == [line_of(text, "post_save.connect(")] * wanted


BUS = """
from .mail import tell, tell_miller

HANDLERS = {{}}


def on(*events):
    def add(handler):
        for event in events:
            {keep}
        return handler

    return add


@on("ground", "sold")
def ready(sack):
    tell(sack)


@on({event})
def again(sack):
    {mail}(sack)


def fire(event, sack):
    {run}
"""
LIST = ("HANDLERS.setdefault(event, []).append(handler)", "for one in HANDLERS[event]:\n        one(sack)")
ONE = ("HANDLERS[event] = handler", "HANDLERS[event](sack)")
KEPT = {
    "two handlers of one event": (LIST, '"ground"', "tell", 1),
    "two events": (LIST, '"baked"', "tell", 0),
    "another mail": (LIST, '"ground"', "tell_miller", 0),
    "the second replaces the first": (ONE, '"ground"', "tell", 0),
}


@pytest.mark.parametrize(("how", "event", "mail", "wanted"), KEPT.values(), ids=KEPT)
def test_a_registry_of_the_project(how: tuple[str, str], event: str, mail: str, wanted: int, tmp_path: Path) -> None:
    text = BUS.format(keep=how[0], run=how[1], event=event, mail=mail)
    found = findings({"mill/__init__.py": "", "mill/mail.py": FILES["mill/mail.py"], "mill/bus.py": text}, tmp_path)
    twice = [one.place.line for one in found if one.code == "SO104"]
    assert twice == [line_of(text, f"@on({event})")] * wanted


SCHEDULE = """
from celery import Celery
from celery.schedules import crontab
from django.core.mail import send_mail

app = Celery("mill")
app.conf.beat_schedule = {
    "a": {"task": "mill.beat.count", "schedule": crontab(hour=3)},
    "b": {"task": "mill.beat.count", "schedule": crontab(hour={hour}){rest}},  # two
}


@app.task
def count(kind="all"):
    send_mail("Counted", "x", None, ["miller@mill.example"])
"""
SCHEDULES = {
    "one time": ("3", "", 1),
    "two times": ("9", "", 0),
    "other arguments": ("3", ', "args": ("rye",)', 0),
}


@pytest.mark.parametrize(("hour", "rest", "wanted"), SCHEDULES.values(), ids=SCHEDULES)
def test_one_task_in_two_schedules(hour: str, rest: str, wanted: int, tmp_path: Path) -> None:
    text = SCHEDULE.replace("{hour}", hour).replace("{rest}", rest)
    found = findings({"mill/__init__.py": "", "mill/beat.py": text}, tmp_path, "SO104")
    assert [one.place.line for one in found] == [line_of(text, "# two")] * wanted


def test_a_task_in_two_schedules_that_claims_its_mail(tmp_path: Path) -> None:
    text = SCHEDULE.replace("{hour}", "3").replace("{rest}", "")
    text += "\n\ndef first(key):\n    return Redis().set(key, 1, nx=True, ex=9000)\n"
    guard = '    if not first(f"count:{date.today()}"):\n        return\n'
    text = text.replace('    send_mail("C', guard + '    send_mail("C')
    text = f"from datetime import date\nfrom redis import Redis\n{text}"
    assert findings({"mill/__init__.py": "", "mill/beat.py": text}, tmp_path, "SO104", "SO301") == []


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(registered_twice.RULE.doc)
    models = "from django.db import models\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    head = "from django.apps import AppConfig\nfrom django.core.mail import send_mail\n"
    head += "from django.db.models.signals import post_save\nfrom django.dispatch import receiver\n"
    head += "from .models import Order\n\n"
    head += "def send_confirmation(order):\n    send_mail('Ordered', 'x', None, [order.email])\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/apps.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO104")) == wanted, name
