"""SO101: one mail from two triggers that do not know of each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import multiple_trigger_paths

MODELS = """
from django.db import models


class Trip(models.Model):
    email = models.EmailField()
    booked = models.BooleanField(default=False)
    told_at = models.DateTimeField(null=True)
"""
URLS = """
from django.urls import path
from . import views

urlpatterns = [path("book", views.book), path("edit/<int:pk>", views.edit), path("hook", views.hook)]
"""
MAIL = """
from django.core.mail import send_mail
from django.utils import timezone
from .models import Trip


def tell(subject, trip):
    send_mail(subject, "x", None, [trip.email])


def tell_once(trip):
    if Trip.objects.filter(pk=trip.pk, told_at=None).update(told_at=timezone.now()):
        send_mail("Booked", "x", None, [trip.email])


def change(trip, notify=True):
    trip.save()
    if notify:
        tell("Booked", trip)
"""
HEAD = """
import stripe
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpResponse
from .mail import change, tell, tell_once
from .models import Trip

"""
SILENT = {
    "save and callback are one path": """
def book(request):
    Trip.objects.create(email=request.POST["email"])


@receiver(post_save, sender=Trip)
def saved(sender, instance, created, **kwargs):
    if created:
        tell("Booked", instance)
""",
    "a saved row that was loaded does not reach what stands under created": """
def edit(request, pk):
    trip = Trip.objects.get(pk=pk)
    trip.save()


def book(request):
    Trip.objects.create(email=request.POST["email"])


@receiver(post_save, sender=Trip)
def saved(sender, instance, created, **kwargs):
    if created:
        tell("Booked", instance)
""",
    "one reservation for both": """
def book(request):
    tell_once(Trip.objects.get(pk=1))


def hook(request):
    stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "s")
    tell_once(Trip.objects.get(pk=1))
""",
    "different mails": """
def book(request):
    tell("Booked", Trip.objects.get(pk=1))


def hook(request):
    stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "s")
    tell("Paid", Trip.objects.get(pk=1))
""",
    "a constant that turns the mail off": """
def book(request):
    change(Trip.objects.get(pk=1))


def hook(request):
    stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "s")
    change(Trip.objects.get(pk=1), notify=False)
""",
    "branches of one view": """
def book(request):
    trip = Trip.objects.get(pk=1)
    if request.POST.get("now"):
        tell("Booked", trip)
    else:
        tell("Booked", trip)
""",
}
FAULTY = {
    "callback and view": (
        """
@receiver(post_save, sender=Trip)
def saved(sender, instance, **kwargs):
    if instance.booked:
        tell("Booked", instance)  # one


def edit(request, pk):
    Trip.objects.filter(pk=pk).update(booked=True)
    tell("Booked", Trip.objects.get(pk=pk))  # other
""",
        "error",
    ),
    "webhook and view": (
        """
def book(request):
    tell("Booked", Trip.objects.get(pk=1))  # one


def hook(request):
    stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "s")
    tell("Booked", Trip.objects.get(pk=1))  # other
""",
        "warning",
    ),
    "two event types of one dispatcher": (
        """
def hook(request):
    event = stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "s")
    if event["type"] == "invoice.paid":
        tell("Booked", Trip.objects.get(pk=1))  # one
    if event["type"] == "checkout.session.completed":
        tell("Booked", Trip.objects.get(pk=1))  # other
""",
        "warning",
    ),
    "handlers of a table": (
        """
def paid(event):
    tell("Booked", Trip.objects.get(pk=1))  # one


def completed(event):
    tell("Booked", Trip.objects.get(pk=1))  # other


HANDLERS = {"invoice.paid": paid, "checkout.session.completed": completed}


def hook(request):
    event = stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "s")
    HANDLERS[event["type"]](event)
""",
        "warning",
    ),
    "two views": (
        """
def book(request):
    tell("Booked", Trip.objects.get(pk=1))  # one


def edit(request, pk):
    tell("Booked", Trip.objects.get(pk=pk))  # other
""",
        "note",
    ),
}


def project(views: str) -> dict[str, str]:
    rest = "".join(
        f"\n\ndef {name}(request, **kwargs):\n    return HttpResponse()\n"
        for name in ("book", "edit", "hook")
        if f"def {name}(" not in views
    )
    files = {"tour/__init__.py": "", "tour/models.py": MODELS, "tour/urls.py": URLS, "tour/mail.py": MAIL}
    return {**files, "tour/views.py": HEAD + views + rest}


@pytest.mark.parametrize("views", SILENT.values(), ids=SILENT)
def test_silent(views: str, tmp_path: Path) -> None:
    assert findings(project(views), tmp_path, "SO101") == []


@pytest.mark.parametrize(("views", "severity"), FAULTY.values(), ids=FAULTY)
def test_tells_both_sends_once(views: str, severity: str, tmp_path: Path) -> None:
    found = findings(project(views), tmp_path, "SO101")
    assert [one.severity for one in found] == [severity]
    text = HEAD + views
    assert {("tour/views.py", line_of(text, part)) for part in ("# one", "# other")} <= lines(found[0])
    assert found[0].template == "Booked"


def test_a_resend_that_the_user_asks_for_is_a_note(tmp_path: Path) -> None:
    views = FAULTY["webhook and view"][0].replace("def book(", "def resend_booking(")
    files = project(views)
    files["tour/urls.py"] = URLS.replace("views.book", "views.resend_booking")
    assert [one.severity for one in findings(files, tmp_path, "SO101")] == ["note"]


def test_a_job_that_a_view_enqueues_is_a_hop(tmp_path: Path) -> None:
    files = project("""
def book(request):
    post.delay(1)


from .tasks import post
""")
    files["tour/tasks.py"] = """
from celery import shared_task
from .mail import tell
from .models import Trip


@shared_task
def post(pk):
    tell("Booked", Trip.objects.get(pk=pk))
"""
    assert findings(files, tmp_path, "SO101") == []


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(multiple_trigger_paths.RULE.doc)
    models = "from django.db import models\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    models += "    paid = models.BooleanField()\n    receipt_sent_at = models.DateTimeField(null=True)\n"
    urls = "from django.urls import path\nfrom .views import pay\n\nurlpatterns = [path('pay/<int:pk>', pay)]\n"
    head = "from django.core.mail import send_mail\nfrom django.db.models.signals import post_save\n"
    head += "from django.dispatch import receiver\nfrom django.utils.timezone import now\nfrom .models import Order\n\n"
    helpers = "def charge(pk):\n    return pk\n\n"
    helpers += "def send_templated(template, to, order):\n    send_mail(template, 'x', None, [to])\n\n"
    own = "def send_receipt(order):\n    send_templated('mail/receipt', order.email, order=order)\n\n"
    bad = given["Bad"]
    for name, views, wanted in (
        ("Bad", own + bad, 1),
        ("Good", given["Good"] + "\n" + bad, 0),
    ):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/urls.py": urls}
        found = findings({**files, "shop/views.py": head + helpers + views}, tmp_path / name, "SO101")
        assert len(found) == wanted, name
