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


def place_order(email, quantities):
    products = {p.sku: p for p in Product.objects.filter(sku__in=quantities)}
    total = sum(products[sku].price * number for sku, number in quantities.items())
    with transaction.atomic():
        order = Order.objects.create(email=email, total=total)
        OrderLine.objects.bulk_create(
            OrderLine(order=order, product=products[sku], quantity=number)
            for sku, number in quantities.items()
        )
        send_order_confirmation.delay(order.reference, email, str(total))  # fault: SO201
        take_from_stock(quantities)
    return order


def cancel_order(order):
    with transaction.atomic():
        Order.objects.filter(pk=order.pk).update(status=Order.Status.CANCELLED)
        send_cancellation(order)  # fault: SO202
        if order.payment_intent:
            gateway.refund(order.payment_intent)
