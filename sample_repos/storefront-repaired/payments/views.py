import secrets
from decimal import Decimal

from django.http import JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from . import gateway
from .models import GiftCard
from .services import complete_checkout


@require_POST
def buy_gift_card(request):
    amount = Decimal(request.POST["amount"])
    session = gateway.open_session(amount, request.build_absolute_uri(reverse("gift-card-return")))
    GiftCard.objects.create(
        code=secrets.token_hex(6).upper(),
        session_id=session.id,
        recipient_email=request.POST["recipient"],
        amount=amount,
    )
    return JsonResponse({"session": session.id}, status=201)


@require_GET
def gift_card_return(request):
    session = gateway.fetch_session(request.GET["session_id"])
    paid = session.payment_status == "paid"
    if paid:
        complete_checkout(session.id)
    return render(request, "shop/thanks.html", {"paid": paid})


@require_GET
def gift_card_balance(request, code):
    card = get_object_or_404(GiftCard, code=code, active=True)
    return JsonResponse({"code": card.code, "amount": str(card.amount)})
