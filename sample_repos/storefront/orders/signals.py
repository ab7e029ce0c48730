from django.db import transaction
from django.db.models.signals import post_save, pre_save
from django.dispatch import receiver

from .emails import send_receipt, send_return_requested
from .models import Order, ReturnRequest


@receiver(pre_save, sender=Order)
def note_payment(sender, instance, **kwargs):
    before = Order.objects.filter(pk=instance.pk).values_list("status", flat=True).first()
    instance._just_paid = instance.status == Order.Status.PAID and before != Order.Status.PAID


@receiver(post_save, sender=Order)
def order_paid(sender, instance, **kwargs):
    if instance._just_paid:
        transaction.on_commit(lambda: send_receipt(instance))


@receiver(post_save, sender=ReturnRequest)
def return_asked(sender, instance, created, **kwargs):
    if created:
        transaction.on_commit(lambda: send_return_requested(instance))
