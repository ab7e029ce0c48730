"""All customer mail goes through send_templated(), and what must go out once through send_once()."""

import logging

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.html import linebreaks

from .claims import claim

logger = logging.getLogger(__name__)


def send_once(name, key, to, context=None):
    """One mail per name and key, whoever asks for it and however often; False for those who come later."""
    if not claim(name, key):
        logger.info("mail %s for %s has been sent before", name, key)
        return False
    logger.info("mail %s for %s", name, key)
    send_templated(name, to, context)
    return True


def send_templated(name, to, context=None):
    context = context or {}
    subject = render_to_string(f"emails/{name}/subject.txt", context).strip()
    text = render_to_string(f"emails/{name}/body.txt", context)
    message = EmailMultiAlternatives(subject, text, to=[to])
    message.attach_alternative(linebreaks(text), "text/html")
    logger.info("mail %s to %s", name, to)
    return message.send()
