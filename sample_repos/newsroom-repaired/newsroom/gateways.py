"""Other people's HTTP APIs: text messages and the ledger of the bookkeeping."""

import requests

from . import config


def text(phone, message):
    answer = requests.post(f"{config.SMS_URL}/sms", json={"to": phone, "text": message}, timeout=10)
    answer.raise_for_status()


def book(reference, cents):
    answer = requests.post(
        f"{config.LEDGER_URL}/ledger", json={"reference": reference, "cents": cents}, timeout=10
    )
    answer.raise_for_status()
