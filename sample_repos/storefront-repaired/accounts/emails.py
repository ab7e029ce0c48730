from django.conf import settings

from mailer.send import send_once


def send_voucher(profile):
    context = {"user": profile.user, "code": settings.VOUCHER_CODE}
    key = f"{settings.VOUCHER_CODE}:{profile.pk}"
    send_once("voucher", key, profile.user.email, context)
