"""All mail of the paper goes through send(). A template's first line is its subject."""

import logging
import smtplib
from email.message import EmailMessage
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import config
from .claims import claim

logger = logging.getLogger(__name__)
templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates" / "mail"), undefined=StrictUndefined
)


def compose(template, to, context):
    subject, _, body = templates.get_template(template).render(context).partition("\n")
    message = EmailMessage()
    message["Subject"] = subject.strip()
    message["From"] = config.MAIL_FROM
    message["To"] = to
    message.set_content(body.strip() + "\n")
    return message


def send_once(template, key, to, **context):
    """One mail a template and key, whoever asks for it and however often; at most one."""
    if not claim(f"{template}:{key}"):
        logger.info("mail %s for %s has been sent before", template, key)
        return
    logger.info("mail %s for %s", template, key)
    send(template, to, **context)


def send(template, to, **context):
    message = compose(template, to, context)
    with smtplib.SMTP(config.SMTP_HOST, config.SMTP_PORT, timeout=20) as server:
        server.send_message(message)
    logger.info("mail %s to %s", template, to)
