from django.db import IntegrityError, transaction

from .models import SentMail


def claim(kind, key):
    """True for the first caller with this kind and key, False for all later ones."""
    try:
        with transaction.atomic():
            SentMail.objects.create(kind=kind, key=str(key))
    except IntegrityError:
        return False
    return True
