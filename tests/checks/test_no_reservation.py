"""SO301: a send that a trigger reaches with no reservation before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import no_reservation

MODELS = """
from django.db import models


class Booking(models.Model):
    email = models.EmailField()
    confirmed_at = models.DateTimeField(null=True)


class Delivery(models.Model):
    booking = models.ForeignKey(Booking, on_delete=models.CASCADE)
    mail = models.CharField(max_length=20)

    class Meta:
        unique_together = [("booking", "mail")]
"""
URLS = """
from django.urls import path
from . import views

urlpatterns = [path("confirm/<int:pk>", views.confirm)]
"""
HEAD = """
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.utils import timezone
from .models import Booking, Delivery

"""


def project(view: str, **more: str) -> dict[str, str]:
    return {"inn/__init__.py": "", "inn/models.py": MODELS, "inn/urls.py": URLS, "inn/views.py": HEAD + view, **more}


GUARDED = {
    "conditional update": """
def confirm(request, pk):
    booking = Booking.objects.get(pk=pk)
    if Booking.objects.filter(pk=pk, confirmed_at=None).update(confirmed_at=timezone.now()):
        send_mail("Confirmed", "x", None, [booking.email])
    return HttpResponse()
""",
    "conflict that leaves": """
def confirm(request, pk):
    booking = Booking.objects.get(pk=pk)
    try:
        Delivery.objects.create(booking=booking, mail="confirmed")
    except IntegrityError:
        return HttpResponse()
    send_mail("Confirmed", "x", None, [booking.email])
    return HttpResponse()
""",
    "created": """
def confirm(request, pk):
    booking = Booking.objects.get(pk=pk)
    _, fresh = Delivery.objects.get_or_create(booking=booking, mail="confirmed")
    if not fresh:
        return HttpResponse()
    send_mail("Confirmed", "x", None, [booking.email])
    return HttpResponse()
""",
    "row lock held": """
def confirm(request, pk):
    with transaction.atomic():
        booking = Booking.objects.select_for_update().get(pk=pk)
        if booking.confirmed_at is None:
            booking.confirmed_at = timezone.now()
            booking.save()
            send_mail("Confirmed", "x", None, [booking.email])
    return HttpResponse()
""",
}
OPEN = {
    "an address that is kept where there is one": """
def confirm(request, pk):
    booking = Booking.objects.get(pk=pk)
    address = booking.email if booking.confirmed_at else request.POST["email"]
    address = address if address else request.GET["email"]
    address = address if address else request.GET["email"]
    if address:
        send_mail("Confirmed", "x", None, [address])
    return HttpResponse()
""",
    "nothing": """
def confirm(request, pk):
    booking = Booking.objects.get(pk=pk)
    send_mail("Confirmed", "x", None, [booking.email])
    return HttpResponse()
""",
    "claim on another branch": """
def confirm(request, pk):
    booking = Booking.objects.get(pk=pk)
    if request.GET.get("quiet"):
        Delivery.objects.create(booking=booking, mail="quiet")
    send_mail("Confirmed", "x", None, [booking.email])
    return HttpResponse()
""",
    "claim after the send": """
def confirm(request, pk):
    booking = Booking.objects.get(pk=pk)
    send_mail("Confirmed", "x", None, [booking.email])
    Booking.objects.filter(pk=pk, confirmed_at=None).update(confirmed_at=timezone.now())
    return HttpResponse()
""",
}


@pytest.mark.parametrize("view", GUARDED.values(), ids=GUARDED)
def test_silent_where_every_way_is_guarded(view: str, tmp_path: Path) -> None:
    assert findings(project(view), tmp_path, "SO301") == []


def test_silent_with_a_stable_key_for_the_provider(tmp_path: Path) -> None:
    app = """
    import resend
    from flask import Flask

    app = Flask(__name__)


    @app.post("/bills/<int:bill>")
    def bill(bill):
        params = {"from": "a@x.example", "to": "b@x.example", "subject": "Your bill", "text": "x"}
        resend.Emails.send(params, {"idempotency_key": f"bill/{bill}"})
        return ""
    """
    assert findings({"app.py": app}, tmp_path, "SO301") == []


@pytest.mark.parametrize("view", OPEN.values(), ids=OPEN)
def test_tells_the_send_and_its_trigger(view: str, tmp_path: Path) -> None:
    # Rules that tell more of a path (a record written after the send) take the place of this one.
    found = findings(project(view), tmp_path, "SO301", "SO302")
    assert len(found) == 1
    text = HEAD + view
    assert {
        ("inn/views.py", line_of(text, "send_mail(")),
        ("inn/views.py", line_of(text, "def confirm")),
    } & lines(found[0])
    assert found[0].template == "Confirmed"


def test_stands_where_the_template_is_known(tmp_path: Path) -> None:
    post = """
    import smtplib
    from email.message import EmailMessage


    def post(subject, to, text):
        message = EmailMessage()
        message["Subject"] = subject
        message["To"] = to
        message.set_content(text)
        with smtplib.SMTP("localhost") as server:
            server.send_message(message)
    """
    web = """
    from flask import Flask, request
    from .post import post

    app = Flask(__name__)


    @app.post("/visit")
    def visit():
        thank(request.form["email"], request.form["text"])
        return ""


    def thank(to, text):
        post("Thank you for your visit", to, text)
    """
    found = findings({"site/__init__.py": "", "site/post.py": post, "site/web.py": web}, tmp_path, "SO301")
    assert [(one.place.path, one.place.line, one.template) for one in found] == [
        ("site/web.py", line_of(web, 'post("Thank'), "Thank you for your visit")
    ]
    assert ("site/web.py", line_of(web, "def visit")) in lines(found[0])


@pytest.mark.parametrize(
    ("trigger", "severity"),
    [("asked again", "note"), ("webhook", "error"), ("command", "note"), ("controller", "warning"), ("job", "note")],
)
def test_severity_follows_the_trigger(trigger: str, severity: str, tmp_path: Path) -> None:
    starts = {
        "asked again": '@app.post("/resend-confirmation")\ndef go():\n    tell()\n    return ""\n',
        "controller": '@app.post("/go")\ndef go():\n    tell()\n    return ""\n',
        "webhook": (
            '@app.post("/go")\ndef go():\n'
            '    stripe.Webhook.construct_event(request.data, request.headers["Stripe-Signature"], "s")\n'
            '    tell()\n    return ""\n'
        ),
        "job": "from celery import shared_task\n\n@shared_task\ndef go():\n    tell()\n",
        "command": '@app.cli.command("go")\ndef go():\n    tell()\n',
    }
    app = (
        "import smtplib\nimport stripe\nfrom flask import Flask, request\n\napp = Flask(__name__)\n\n"
        'def tell():\n    smtplib.SMTP("h").sendmail("a", "b", "Subject: Go\\n\\nx")\n\n' + starts[trigger]
    )
    code = "SO501" if trigger == "webhook" else "SO301"
    assert [one.severity for one in findings({"app.py": app}, tmp_path, code)] == [severity]


@pytest.mark.parametrize("test", ["if False:", "if 0:", "while False:", "if ENABLED:", "if not SILENT:", "if ON:"])
def test_a_branch_that_nothing_enters(test: str, tmp_path: Path) -> None:
    view = f"""
ENABLED = False
SILENT = True
ON = True


def confirm(request, pk):
    {test}
        send_mail("Confirmed", "x", None, [request.user.email])
    return HttpResponse()
"""
    found = findings(project(view), tmp_path, "SO301")
    assert [one.code for one in found] == (["SO301"] if test == "if ON:" else [])


def test_mail_to_the_staff_is_internal(tmp_path: Path) -> None:
    views = (
        "from django.conf import settings\nfrom django.core.mail import send_mail\nfrom django.urls import path\n\n"
        "def post(subject, to):\n    send_mail(subject, 'x', None, to)\n\n"
        'def broken(request):\n    post("It broke", [address for _, address in settings.ADMINS])\n\n'
        'def bought(request):\n    post("You bought it", [request.user.email])\n\n'
        'urlpatterns = [path("a/", broken), path("b/", bought)]\n'
    )
    found = findings({"inn/__init__.py": "", "inn/urls.py": views}, tmp_path, "SO301")
    assert {one.template: one.severity for one in found} == {"It broke": "note", "You bought it": "warning"}


CALLBACKS = {
    "created": (
        "@receiver(post_save, sender=Booking)\ndef saved(sender, instance, created, **kw):\n    if created:\n",
        "note",
    ),
    "a new row by its key": (
        "@receiver(pre_save, sender=Booking)\ndef saved(sender, instance, **kw):\n    if instance.pk is None:\n",
        "note",
    ),
    "a changed field": (
        "@receiver(pre_save, sender=Booking)\ndef saved(sender, instance, **kw):\n"
        "    old = Booking.objects.get(pk=instance.pk)\n    if old.confirmed_at != instance.confirmed_at:\n",
        "warning",
    ),
}


@pytest.mark.parametrize(("callback", "severity"), CALLBACKS.values(), ids=CALLBACKS)
def test_a_callback_of_new_rows_runs_once_a_row(callback: str, severity: str, tmp_path: Path) -> None:
    signals = (
        "from django.core.mail import send_mail\nfrom django.db.models.signals import post_save, pre_save\n"
        "from django.dispatch import receiver\nfrom .models import Booking\n\n" + callback
    )
    signals += '        send_mail("Booked", "x", None, [instance.email])\n'
    found = findings({"inn/__init__.py": "", "inn/models.py": MODELS, "inn/signals.py": signals}, tmp_path, "SO301")
    assert [one.severity for one in found] == [severity]


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    given = examples(no_reservation.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Order\n\ndef render(order):\n    return 'x'\n\n"
    models = "from django.db import models\n\nclass Order(models.Model):\n"
    models += "    email = models.EmailField()\n    receipt_sent_at = models.DateTimeField(null=True)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        found = findings(files, tmp_path / name, "SO301", "SO407")
        assert len(found) == wanted, name
