from django.db import transaction
from django.db.models import F

from catalog.models import Product
from payments import gateway

from .emails import send_cancellation
from .models import Order, OrderLine
from .tasks import send_order_confirmation


class OutOfStock(Exception):
    pass


def take_from_stock(quantities):
    for sku, quantity in quantities.items():
        enough = Product.objects.filter(sku=sku, stock__gte=quantity)
        if not enough.update(stock=F("stock") - quantity):
            raise OutOfStock(sku)


def place_order(email, quantities, form_key):
    """The order of one checkout form, which may be posted again; raises OutOfStock."""
    products = {p.sku: p for p in Product.objects.filter(sku__in=quantities)}
    total = sum(products[sku].price * number for sku, number in quantities.items())
    with transaction.atomic():
        order, created = Order.objects.get_or_create(
            form_key=form_key, defaults={"email": email, "total": total}
        )
        if not created:
            return order
        OrderLine.objects.bulk_create(
            OrderLine(order=order, product=products[sku], quantity=number)
            for sku, number in quantities.items()
        )
        take_from_stock(quantities)
        transaction.on_commit(
            lambda: send_order_confirmation.delay(order.reference, email, str(total))
        )
    return order


def mark_paid(order, **fields):
    """True for the one run that turns the order paid."""
    unpaid = Order.objects.filter(pk=order.pk, status=Order.Status.OPEN)
    return bool(unpaid.update(status=Order.Status.PAID, **fields))


def cancel_order(order):
    before = order.status
    standing = Order.objects.filter(pk=order.pk, status__in=[Order.Status.OPEN, Order.Status.PAID])
    if not standing.update(status=Order.Status.CANCELLED):
        return
    if order.payment_intent:
        try:
            gateway.refund(order.payment_intent)
        except Exception:
            Order.objects.filter(pk=order.pk).update(status=before)
            raise
    send_cancellation(order)
