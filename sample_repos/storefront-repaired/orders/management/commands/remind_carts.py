"""Started by cron, see deploy/crontab."""

from datetime import timedelta

from django.core.management.base import BaseCommand
from django.utils import timezone

from orders.emails import send_cart_reminder
from orders.models import Cart


class Command(BaseCommand):
    help = "Mails the owners of carts that were left alone for a day."

    def handle(self, *args, **options):
        left = timezone.now() - timedelta(days=1)
        for cart in Cart.objects.filter(reminded_at__isnull=True, updated_at__lt=left):
            mine = Cart.objects.filter(pk=cart.pk, reminded_at__isnull=True)
            if mine.update(reminded_at=timezone.now()):
                send_cart_reminder(cart)
