from django.db import models, transaction

from .emails import tell_waiting


class Product(models.Model):
    sku = models.CharField(max_length=20, unique=True)
    name = models.CharField(max_length=120)
    price = models.DecimalField(max_digits=9, decimal_places=2)
    stock = models.IntegerField(default=0)

    def __str__(self):
        return f"{self.sku} {self.name}"

    def save(self, *args, **kwargs):
        before = Product.objects.filter(pk=self.pk).values_list("stock", flat=True).first()
        super().save(*args, **kwargs)
        # people on the waiting list want to know as soon as it is back
        if self.stock > 0 and not before:
            transaction.on_commit(lambda: tell_waiting(self))


class StockAlert(models.Model):
    product = models.ForeignKey(Product, related_name="alerts", on_delete=models.CASCADE)
    email = models.EmailField()
