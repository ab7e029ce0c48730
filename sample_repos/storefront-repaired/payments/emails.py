from mailer.send import send_once


def send_gift_card(card):
    send_once("gift_card", card.pk, card.recipient_email, {"card": card})
