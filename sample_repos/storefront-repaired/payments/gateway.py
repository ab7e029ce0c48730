"""Everything that talks to the Stripe API."""

import stripe
from django.conf import settings

stripe.api_key = settings.STRIPE_API_KEY
stripe.api_base = settings.STRIPE_API_BASE


def open_session(amount, return_url):
    return stripe.checkout.Session.create(
        mode="payment",
        success_url=return_url + "?session_id={CHECKOUT_SESSION_ID}",
        line_items=[
            {
                "quantity": 1,
                "price_data": {
                    "currency": "eur",
                    "unit_amount": int(amount * 100),
                    "product_data": {"name": "Gift card"},
                },
            }
        ],
    )


def fetch_session(session_id):
    return stripe.checkout.Session.retrieve(session_id)


def capture(payment_intent):
    stripe.PaymentIntent.capture(payment_intent)


def refund(payment_intent):
    try:
        stripe.Refund.create(payment_intent=payment_intent)
    except stripe.InvalidRequestError as error:
        # somebody was faster, the money is on its way
        if error.code != "charge_already_refunded":
            raise


def read_event(payload, signature):
    return stripe.Webhook.construct_event(payload, signature, settings.STRIPE_WEBHOOK_SECRET)
