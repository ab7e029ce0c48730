from .models import GiftCard, StripeEvent
from .tasks import mail_gift_card


def complete_checkout(session_id):
    """Called by the webhook and by the return page, whichever comes first."""
    card = GiftCard.objects.get(session_id=session_id)
    card.active = True
    card.save(update_fields=["active"])
    mail_gift_card.delay(card.pk)
    return card


def remember(event):
    """False when this delivery has been here before."""
    _, created = StripeEvent.objects.get_or_create(
        event_id=event["id"], defaults={"kind": event["type"]}
    )
    return created
