from celery import shared_task

from mailer.send import send_once

from .emails import send_gift_card
from .models import GiftCard


@shared_task
def mail_gift_card(card_id):
    send_gift_card(GiftCard.objects.get(pk=card_id))


@shared_task(autoretry_for=(OSError,), max_retries=5, default_retry_delay=60)
def send_invoice(number, email, url):
    send_once("invoice", number, email, {"number": number, "url": url})
