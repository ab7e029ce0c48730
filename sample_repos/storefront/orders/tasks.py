from celery import shared_task

from mailer.send import send_templated

from .emails import send_dispute_notice, send_refund_notice
from .models import Order, ReturnRequest, Shipment


@shared_task
def send_order_confirmation(reference, email, total):
    # gets plain values so that the worker needs no query
    context = {"reference": reference, "total": total}
    send_templated("order_confirmation", email, context)  # fault: SO301


@shared_task(acks_late=True, reject_on_worker_lost=True)  # fault: SO407
def send_shipping_notice(shipment_id):
    shipment = Shipment.objects.select_related("order").get(pk=shipment_id)
    send_templated("shipped", shipment.order.email, {"shipment": shipment})


@shared_task
def tell_of_refund(order_id):
    send_refund_notice(Order.objects.get(pk=order_id))


@shared_task
def tell_of_dispute(order_id):
    send_dispute_notice(Order.objects.get(pk=order_id))


@shared_task
def send_return_approved(entry_id):
    entry = ReturnRequest.objects.select_related("order").get(pk=entry_id)
    send_templated("return_approved", entry.order.email, {"entry": entry})
