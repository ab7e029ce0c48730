from mailer.send import send_templated


def send_gift_card(card):
    send_templated("gift_card", card.recipient_email, {"card": card})  # fault: SO101, SO301
