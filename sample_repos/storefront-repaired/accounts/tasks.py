from celery import shared_task
from django.contrib.auth import get_user_model

from mailer.claims import claim
from mailer.send import send_templated


@shared_task(autoretry_for=(OSError,), max_retries=3, default_retry_delay=30)
def send_welcome(user_id):
    if not claim("welcome", user_id):
        return
    user = get_user_model().objects.get(pk=user_id)
    send_templated("welcome", user.email, {"user": user})
