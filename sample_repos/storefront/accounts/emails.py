from django.conf import settings

from mailer.send import send_templated


def send_voucher(profile):
    context = {"user": profile.user, "code": settings.VOUCHER_CODE}
    send_templated("voucher", profile.user.email, context)  # fault: SO301 note
