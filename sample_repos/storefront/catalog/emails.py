from mailer.send import send_templated


def tell_waiting(product):
    for alert in product.alerts.order_by("pk"):
        send_templated("back_in_stock", alert.email, {"product": product})


def send_announcement(product, subscriber):
    context = {"product": product, "subscriber": subscriber}
    send_templated("announcement", subscriber.email, context)  # fault: SO301 note
