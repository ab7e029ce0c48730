"""SO103: a mail that one trigger reserves and another does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import partly_guarded

FILES = {
    "farm/__init__.py": "",
    "farm/models.py": """
        from django.db import models


        class Box(models.Model):
            email = models.EmailField(unique=True)
            packed = models.BooleanField(default=False)
            told_at = models.DateTimeField(null=True)


        class Letter(models.Model):
            box = models.ForeignKey(Box, models.CASCADE)
            kind = models.CharField(max_length=20)

            class Meta:
                constraints = [models.UniqueConstraint(fields=["box", "kind"], name="once")]
    """,
    "farm/mail.py": """
        from django.core.cache import cache
        from django.core.mail import send_mail
        from django.utils import timezone
        from .models import Box, Letter


        def tell(box):
            send_mail("Packed", "x", None, [box.email])


        def tell_once(box):
            if Box.objects.filter(pk=box.pk, told_at=None).update(told_at=timezone.now()):
                tell(box)


        def tell_by_letter(box):
            _, created = Letter.objects.get_or_create(box=box, kind="packed")
            if created:
                tell(box)
    """,
    "farm/urls.py": """
        from django.urls import path
        from . import views

        urlpatterns = [path("hook", views.hook), path("pack", views.pack), path("add", views.add)]
    """,
}
VIEWS = """
import stripe
from .mail import tell, tell_by_letter, tell_once
from .models import Box


def hook(request):
    stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "s")
    {hook}


def pack(request):
    box = Box.objects.get(pk=1)
    {pack}


def add(request):
    {add}
"""
BOX = "Box.objects.get(pk=1)"
SILENT = {
    "both take one claim": {"hook": f"tell_once({BOX})", "pack": "tell_once(box)"},
    "none takes a claim": {"hook": f"tell({BOX})", "pack": "tell(box)"},
    "a read is no reservation": {"hook": f"tell({BOX})", "pack": "not box.told_at and tell(box)"},
    "a new row that is unique was not made for the mail": {
        "add": 'tell(Box.objects.create(email="a"))',
        "pack": "tell(box)",
    },
    "two claims of their own": {"hook": f"tell_once({BOX})", "pack": "tell_by_letter(box)"},
}
FAULTY = {
    "a view beside a webhook": ({"hook": f"tell_once({BOX})", "pack": "tell(box)  # here"}, "warning"),
    "a webhook beside a view": ({"hook": f"tell({BOX})  # here", "pack": "tell_by_letter(box)"}, "error"),
}


def project(views: dict[str, str]) -> dict[str, str]:
    return {**FILES, "farm/views.py": VIEWS.format(**{"hook": "pass", "pack": "pass", "add": "pass", **views})}


@pytest.mark.parametrize("views", SILENT.values(), ids=SILENT)
def test_silent(views: dict[str, str], tmp_path: Path) -> None:
    assert findings(project(views), tmp_path, "SO103") == []


@pytest.mark.parametrize(("views", "severity"), FAULTY.values(), ids=FAULTY)
def test_found(views: dict[str, str], severity: str, tmp_path: Path) -> None:
    files = project(views)
    (found,) = findings(files, tmp_path, "SO103")
    assert (found.severity, found.place.line) == (severity, line_of(files["farm/views.py"], "# here"))
    assert any(path == "farm/mail.py" for path, _ in lines(found))


def test_many_ways_beside_one_claim_are_notes(tmp_path: Path) -> None:
    files = project({"hook": f"tell_once({BOX})", "pack": "tell(box)"})
    for number in range(partly_guarded.FEW):
        files["farm/views.py"] += f"\n\ndef more{number}(request):\n    tell({BOX})\n"
        listed = f'path("more/{number}", views.more{number}), path("add"'
        files["farm/urls.py"] = files["farm/urls.py"].replace('path("add"', listed)
    assert {one.severity for one in findings(files, tmp_path, "SO103")} == {"note"}


@pytest.mark.parametrize("asked", ["resend", "send_test"])
def test_a_resend_is_a_note(asked: str, tmp_path: Path) -> None:
    files = project({"hook": f"tell_once({BOX})", "pack": "tell(box)"})
    for name in ("farm/views.py", "farm/urls.py"):
        files[name] = files[name].replace("def pack", f"def {asked}").replace("views.pack", f"views.{asked}")
    assert [one.severity for one in findings(files, tmp_path, "SO103")] == ["note"]


def test_the_line_is_the_call_in_the_trigger(tmp_path: Path) -> None:
    files = project({"hook": f"tell_once({BOX})"})
    files["farm/jobs.py"] = """
from apscheduler.schedulers.blocking import BlockingScheduler
from .mail import tell
from .models import Box

scheduler = BlockingScheduler()


def settle(box):
    tell(box)


@scheduler.scheduled_job("cron", hour=3)
def nightly():
    for box in Box.objects.filter(packed=True):
        settle(box)  # here


scheduler.start()
"""
    (found,) = findings(files, tmp_path, "SO103")
    assert (found.place.path, found.place.line) == ("farm/jobs.py", line_of(files["farm/jobs.py"], "# here"))


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(partly_guarded.RULE.doc)
    models = "from django.db import models\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    models += "    receipt_sent_at = models.DateTimeField(null=True)\n"
    urls = "from django.urls import path\nfrom .views import webhook\n\nurlpatterns = [path('hook', webhook)]\n"
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Order\n\n"
    head += "def order_of(request):\n    return Order.objects.get(pk=request.POST['order'])\n\n"
    head += "def settled_orders():\n    return Order.objects.all()\n\n"
    own = "def send_receipt(order):\n    send_mail('Your receipt', 'x', None, [order.email])\n\n"
    for name, text, wanted in (("Bad", own + given["Bad"], 1), ("Good", given["Good"], 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/urls.py": urls, "shop/views.py": head + text}
        assert len(findings(files, tmp_path / name, "SO103")) == wanted, name
