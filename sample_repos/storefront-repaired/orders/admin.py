from django.contrib import admin
from django.db import transaction

from .carrier import announce_parcel
from .models import Order, Shipment
from .tasks import send_shipping_notice


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["reference", "email", "status", "total", "created_at"]
    list_filter = ["status"]
    search_fields = ["email", "payment_intent"]

    def has_change_permission(self, request, obj=None):
        return False

    def has_add_permission(self, request):
        return False


@admin.register(Shipment)
class ShipmentAdmin(admin.ModelAdmin):
    list_display = ["order", "carrier", "tracking_code"]

    def save_model(self, request, obj, form, change):
        super().save_model(request, obj, form, change)
        if "tracking_code" in form.changed_data:
            transaction.on_commit(lambda: send_shipping_notice.delay(obj.pk))

    def save_related(self, request, form, formsets, change):
        super().save_related(request, form, formsets, change)
        announce_parcel(form.instance)
