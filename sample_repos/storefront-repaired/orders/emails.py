from mailer.send import send_once, send_templated


def send_receipt(order):
    send_once("receipt", order.pk, order.email, {"order": order})


def send_cancellation(order):
    send_once("cancelled", order.pk, order.email, {"order": order})


def send_refund_notice(order):
    send_once("refund", order.pk, order.email, {"order": order})


def send_dispute_notice(order):
    send_templated("dispute", order.email, {"order": order})


def send_return_requested(entry):
    send_once("return_requested", entry.pk, entry.order.email, {"entry": entry})


def send_collected(order):
    send_templated("collected", order.email, {"order": order})


def send_cart_reminder(cart):
    send_templated("cart_reminder", cart.email, {"cart": cart})
