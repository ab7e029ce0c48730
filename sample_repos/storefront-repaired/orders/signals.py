from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from .emails import send_return_requested
from .models import ReturnRequest


@receiver(post_save, sender=ReturnRequest)
def return_asked(sender, instance, created, **kwargs):
    if created:
        transaction.on_commit(lambda: send_return_requested(instance))
