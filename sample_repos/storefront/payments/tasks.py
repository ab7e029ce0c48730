from celery import shared_task

from mailer.send import send_templated


@shared_task(autoretry_for=(OSError,), max_retries=5, default_retry_delay=60)  # fault: SO401
def send_invoice(number, email, url):
    send_templated("invoice", email, {"number": number, "url": url})
