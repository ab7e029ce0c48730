"""All customer mail goes through send_templated()."""

import logging

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.html import linebreaks

logger = logging.getLogger(__name__)


def send_templated(name, to, context=None):
    context = context or {}
    subject = render_to_string(f"emails/{name}/subject.txt", context).strip()
    text = render_to_string(f"emails/{name}/body.txt", context)
    message = EmailMultiAlternatives(subject, text, to=[to])
    message.attach_alternative(linebreaks(text), "text/html")
    logger.info("mail %s to %s", name, to)
    return message.send()  # fault: SO701 note
