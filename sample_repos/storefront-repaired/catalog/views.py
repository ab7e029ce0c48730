import json
from decimal import Decimal

from django.contrib.admin.views.decorators import staff_member_required
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from .models import Product, StockAlert


@staff_member_required
@require_POST
def edit_product(request, sku):
    """The stock room's form: any of name, price and stock."""
    product = get_object_or_404(Product, sku=sku)
    data = json.loads(request.body)
    product.name = data.get("name", product.name)
    product.stock = int(data.get("stock", product.stock))
    if "price" in data:
        product.price = Decimal(data["price"])
    product.save()
    return JsonResponse({"sku": product.sku, "stock": product.stock})


@require_POST
def notify_me(request, sku):
    product = get_object_or_404(Product, sku=sku)
    StockAlert.objects.create(product=product, email=request.POST["email"])
    return JsonResponse({"ok": True}, status=201)
