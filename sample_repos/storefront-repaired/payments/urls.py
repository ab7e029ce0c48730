from django.urls import path

from . import views
from .webhooks import stripe_webhook

urlpatterns = [
    path("gift-cards/", views.buy_gift_card, name="buy-gift-card"),
    path("gift-cards/return/", views.gift_card_return, name="gift-card-return"),
    path("gift-cards/<str:code>/", views.gift_card_balance, name="gift-card-balance"),
    path("stripe/webhook/", stripe_webhook, name="stripe-webhook"),
]
