from mailer.send import send_templated


def send_receipt(order):
    send_templated("receipt", order.email, {"order": order})  # fault: SO101, SO301


def send_cancellation(order):
    send_templated("cancelled", order.email, {"order": order})  # fault: SO301


def send_refund_notice(order):
    send_templated("refund", order.email, {"order": order})  # fault: SO101, SO301


def send_dispute_notice(order):
    send_templated("dispute", order.email, {"order": order})


def send_return_requested(entry):
    send_templated("return_requested", entry.order.email, {"entry": entry})  # fault: SO301


def send_collected(order):
    send_templated("collected", order.email, {"order": order})


def send_cart_reminder(cart):
    send_templated("cart_reminder", cart.email, {"cart": cart})
