from mailer.send import send_once


def tell_waiting(product):
    for alert in product.alerts.order_by("pk"):
        send_once("back_in_stock", alert.pk, alert.email, {"product": product})


def send_announcement(product, subscriber):
    context = {"product": product, "subscriber": subscriber}
    send_once("announcement", f"{product.sku}:{subscriber.pk}", subscriber.email, context)
