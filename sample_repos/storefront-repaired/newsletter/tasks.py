from celery import shared_task
from django.utils import timezone

from catalog.models import Product
from mailer.send import send_once

from .models import Subscriber


@shared_task
def send_weekly_digest():
    """Monday's digest, see CELERY_BEAT_SCHEDULE."""
    products = list(Product.objects.filter(stock__gt=0).order_by("-pk")[:5])
    if not products:
        return
    week = timezone.localdate().strftime("%G-W%V")
    for subscriber in Subscriber.objects.filter(active=True):
        send_once("weekly_digest", f"{week}:{subscriber.pk}", subscriber.email, {"products": products})
