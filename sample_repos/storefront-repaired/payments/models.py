from django.db import models


class GiftCard(models.Model):
    code = models.CharField(max_length=20)
    session_id = models.CharField(max_length=120, unique=True)
    recipient_email = models.EmailField()
    amount = models.DecimalField(max_digits=9, decimal_places=2)
    active = models.BooleanField(default=False)


class StripeEvent(models.Model):
    """Deliveries we have already handled."""

    event_id = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=80)
    received_at = models.DateTimeField(auto_now_add=True)
