import logging

import stripe
from django.http import HttpResponse, HttpResponseBadRequest
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from orders.models import Order
from orders.tasks import tell_of_dispute, tell_of_refund

from . import gateway
from .services import complete_checkout, remember
from .tasks import send_invoice

logger = logging.getLogger(__name__)


@csrf_exempt
@require_POST
def stripe_webhook(request):
    try:
        event = gateway.read_event(request.body, request.headers.get("Stripe-Signature", ""))
    except (ValueError, stripe.SignatureVerificationError):
        return HttpResponseBadRequest("bad signature")

    kind = event["type"]
    data = event["data"]["object"]
    logger.info("stripe %s %s", kind, event["id"])

    if kind == "checkout.session.completed":
        complete_checkout(data["id"])
    elif kind == "invoice.paid":
        send_invoice.delay(data["number"], data["customer_email"], data["hosted_invoice_url"])
    elif kind == "charge.refunded":
        # Stripe repeats these, see the incident in March
        if remember(event):
            order = Order.objects.filter(payment_intent=data["payment_intent"]).first()
            if order is not None:
                tell_of_refund.delay(order.pk)
    elif kind == "charge.dispute.created":
        if remember(event):
            order = Order.objects.filter(payment_intent=data["payment_intent"]).first()
            if order is not None:
                tell_of_dispute.delay(order.pk)
    return HttpResponse(status=200)
