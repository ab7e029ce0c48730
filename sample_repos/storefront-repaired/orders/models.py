from django.db import models

from catalog.models import Product


class Order(models.Model):
    class Status(models.TextChoices):
        OPEN = "open"
        PAID = "paid"
        CANCELLED = "cancelled"
        REFUNDED = "refunded"

    email = models.EmailField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    total = models.DecimalField(max_digits=9, decimal_places=2, default=0)
    payment_intent = models.CharField(max_length=80, blank=True, db_index=True)
    note = models.CharField(max_length=200, blank=True)
    form_key = models.CharField(max_length=80, unique=True, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    @property
    def reference(self):
        return f"S{self.pk:06d}"

    def __str__(self):
        return self.reference


class OrderLine(models.Model):
    order = models.ForeignKey(Order, related_name="lines", on_delete=models.CASCADE)
    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    quantity = models.PositiveIntegerField()


class Shipment(models.Model):
    order = models.ForeignKey(Order, related_name="shipments", on_delete=models.CASCADE)
    carrier = models.CharField(max_length=30, default="post")
    tracking_code = models.CharField(max_length=40, blank=True)


class Pickup(models.Model):
    order = models.OneToOneField(Order, on_delete=models.CASCADE)
    collected_at = models.DateTimeField(null=True, blank=True)


class ReturnRequest(models.Model):
    order = models.ForeignKey(Order, related_name="returns", on_delete=models.CASCADE)
    reason = models.TextField(blank=True)
    state = models.CharField(max_length=10, default="asked")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["order"], condition=models.Q(state="asked"), name="one_open_return"
            )
        ]


class Cart(models.Model):
    email = models.EmailField()
    updated_at = models.DateTimeField()
    reminded_at = models.DateTimeField(null=True, blank=True)
