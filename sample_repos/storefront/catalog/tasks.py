from celery import shared_task
from django.conf import settings
from django.core.cache import cache
from django.core.mail import mail_managers
from django.utils import timezone

from .models import Product

TWO_DAYS = 2 * 24 * 3600


@shared_task
def alert_low_stock():
    today = timezone.localdate().isoformat()
    for product in Product.objects.filter(stock__lt=settings.LOW_STOCK_LEVEL):
        # both workers run this after a deploy, hence the cache key
        if cache.add(f"low-stock:{product.pk}:{today}", 1, timeout=TWO_DAYS):
            mail_managers("Low stock", f"{product}: {product.stock} left")  # fault: SO701 note
