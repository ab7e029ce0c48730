"""What the tests of the audit share: a shop whose receipt is sent by a view and by a webhook, and its audit."""

from __future__ import annotations

from pathlib import Path

from linking import analysis_of
from sendonce.audit import Audit
from sendonce.config import Settings
from sendonce.run import audit
from sendonce.target import target_of

SHOP = """
--- manage.py
--- shop/urls.py
from django.urls import path
from shop import views
urlpatterns = [path("checkout/", views.checkout), path("hooks/pay/", views.paid), path("refund/", views.refund)]
--- shop/views.py
from django.db import transaction
from django.views.decorators.csrf import csrf_exempt
import stripe
from shop.mailing import send_receipt, send_refund
from shop.models import Order
from shop.tasks import remind


def checkout(request):
    order = Order.objects.create(email=request.POST["email"])
    send_receipt(order)
    with transaction.atomic():
        remind.delay(order.pk)


@csrf_exempt
def paid(request):
    event = stripe.Webhook.construct_event(request.body, request.headers["Stripe-Signature"], "secret")
    order = Order.objects.get(pk=event["data"]["object"]["id"])
    send_receipt(order)


def refund(request):
    send_refund(Order.objects.get(pk=request.POST["id"]))
--- shop/models.py
from django.db import models
class Order(models.Model):
    email = models.EmailField()
--- shop/tasks.py
from celery import shared_task
from shop.mailing import deliver
from shop.models import Order


@shared_task(autoretry_for=(Exception,), max_retries=5)
def remind(pk):
    deliver("mails/reminder.txt", Order.objects.get(pk=pk).email)
--- shop/mailing.py
from django.core.mail import send_mail
from django.template.loader import render_to_string


def deliver(template, to):
    send_mail("Shop", render_to_string(template, {}), None, [to])


def send_receipt(order):
    deliver("mails/receipt.txt", order.email)


def send_refund(order):
    deliver("mails/refund.txt", order.email)
"""


def audit_of(program: str, root: Path) -> Audit:
    """The audit of a program in the form of `linking`, written below `root`."""
    analysis_of(program, root)
    return audit(target_of([root]), Settings())
