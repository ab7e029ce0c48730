import json

from django.contrib.admin.views.decorators import staff_member_required
from django.db import transaction
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from payments import gateway

from . import services
from .emails import send_collected, send_receipt, send_refund_notice, send_return_requested
from .models import Order, Pickup, ReturnRequest
from .tasks import send_return_approved


@require_POST
def checkout(request):
    data = json.loads(request.body)
    try:
        order = services.place_order(data["email"], data["items"])
    except services.OutOfStock as error:
        return JsonResponse({"error": f"out of stock: {error}"}, status=409)
    return JsonResponse({"order": order.reference, "id": order.pk}, status=201)


@require_POST
def pay(request, pk):
    order = get_object_or_404(Order, pk=pk, status=Order.Status.OPEN)  # fault: SO303
    gateway.capture(request.POST["payment_intent"])
    order.payment_intent = request.POST["payment_intent"]
    order.status = Order.Status.PAID
    order.save()
    return JsonResponse({"status": order.status})


@staff_member_required
@require_POST
def book_payment(request, pk):
    """Accounting works through the bank statement and books what has arrived."""
    order = get_object_or_404(Order, pk=pk)
    Order.objects.filter(pk=order.pk).update(
        status=Order.Status.PAID, note=request.POST.get("note", "")
    )
    send_receipt(order)
    return JsonResponse({"booked": order.reference})


@require_POST
def cancel(request, pk):
    order = get_object_or_404(Order, pk=pk)
    services.cancel_order(order)
    return JsonResponse({"cancelled": order.reference})


@staff_member_required
@require_POST
def refund(request, pk):
    order = get_object_or_404(Order, pk=pk)
    gateway.refund(order.payment_intent)
    Order.objects.filter(pk=order.pk).update(status=Order.Status.REFUNDED)
    send_refund_notice(order)  # fault: SO103
    return JsonResponse({"refunded": order.reference})


@staff_member_required
@require_POST
def collect(request, pk):
    with transaction.atomic():
        pickup = get_object_or_404(Pickup.objects.select_for_update(), pk=pk)
        if pickup.collected_at is not None:
            return JsonResponse({"collected": False})
        pickup.collected_at = timezone.now()
        pickup.save(update_fields=["collected_at"])
    send_collected(pickup.order)
    return JsonResponse({"collected": True})


@require_POST
def request_return(request, pk):
    order = get_object_or_404(Order, pk=pk)
    entry = ReturnRequest.objects.create(order=order, reason=request.POST.get("reason", ""))
    send_return_requested(entry)  # fault: SO102
    return JsonResponse({"return": entry.pk}, status=201)


@staff_member_required
@require_POST
def approve_return(request, pk):
    with transaction.atomic():
        approved = ReturnRequest.objects.filter(pk=pk, state="asked").update(state="approved")
        if approved:
            transaction.on_commit(lambda: send_return_approved.delay(pk))
    return JsonResponse({"approved": bool(approved)})
