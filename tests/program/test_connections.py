"""Signals: handlers, and the calls that fire them."""

from __future__ import annotations

from pathlib import Path

import pytest

from linking import callers, triggers

HEAD = """
        --- shop/models.py
        from django.db import models

        class Order(models.Model):
            email = models.EmailField()

        class Note(models.Model):
            text = models.TextField()
        --- shop/receivers.py
        from django.db.models.signals import post_save
        from django.dispatch import receiver
        from .mail import receipt
        from .models import Order

        @receiver(post_save, sender=Order)
        def on_order(sender, instance, created, **kwargs):
            if created:
                receipt(instance)
"""

FIRES = {
    "create": "Order.objects.create(email='a')",
    "get_or_create": "Order.objects.get_or_create(email='a')",
    "save of a new row": "Order(email='a').save()",
    "update_or_create": "Order.objects.update_or_create(email='a')",
}

SILENT = {
    "a row of another model": "Note.objects.create(text='a')",
    "a query set's update": "Order.objects.filter(pk=1).update(email='a')",
    "a read": "Order.objects.filter(pk=1).first()",
}


def _program(call: str) -> str:
    return f"""{HEAD}
        --- shop/views.py
        from .models import Note, Order

        def pay(request):
            {call}
"""


@pytest.mark.parametrize("call", FIRES.values(), ids=FIRES)
def test_saving_a_row_fires_its_handlers(call: str, tmp_path: Path) -> None:
    assert "shop.views.pay" in callers(_program(call), tmp_path, "shop.receivers.on_order")


@pytest.mark.parametrize("call", SILENT.values(), ids=SILENT)
def test_other_calls_fire_nothing(call: str, tmp_path: Path) -> None:
    assert "shop.views.pay" not in callers(_program(call), tmp_path, "shop.receivers.on_order")


def test_a_handler_of_a_model_is_a_trigger_itself(tmp_path: Path) -> None:
    assert "model_callback shop.receivers.on_order" in triggers(HEAD, tmp_path)


OWN = {
    "a signal of Django": """
        --- shop/signals.py
        from django.dispatch import Signal

        paid = Signal()
        --- shop/receivers.py
        from django.dispatch import receiver
        from .mail import receipt
        from .signals import paid

        @receiver(paid)
        def on_paid(sender, order, **kwargs):
            receipt(order)
        --- shop/views.py
        from .signals import paid

        def pay(order):
            paid.send(sender=None, order=order)
    """,
    "signals that a helper makes": """
        --- shop/signals.py
        from django.dispatch import Signal

        def _described(text):
            signal = Signal()
            signal.__doc__ = text
            return signal

        paid = _described("An order is paid.")
        lost = _described("An order is lost.")
        --- shop/receivers.py
        from django.dispatch import receiver
        from .mail import receipt
        from .signals import paid

        @receiver(paid)
        def on_paid(sender, order, **kwargs):
            receipt(order)
        --- shop/views.py
        from .signals import lost, paid

        def pay(order):
            paid.send(sender=None, order=order)

        def lose(order):
            lost.send(sender=None, order=order)
    """,
    "a signal of blinker": """
        --- shop/signals.py
        from blinker import Namespace

        _signals = Namespace()
        paid = _signals.signal("paid")
        --- shop/receivers.py
        from . import signals
        from .mail import receipt

        @signals.paid.connect
        def on_paid(order, **kwargs):
            receipt(order)
        --- shop/views.py
        from shop import signals

        def pay(order):
            signals.paid.send(order)
    """,
}


@pytest.mark.parametrize("program", OWN.values(), ids=OWN)
def test_a_signal_of_the_project(program: str, tmp_path: Path) -> None:
    assert callers(program, tmp_path, "shop.receivers.on_paid") == {"shop.views.pay": "high"}


def test_a_handler_that_a_helper_attaches(tmp_path: Path) -> None:
    program = """
        --- shop/signals.py
        from django.dispatch import Signal

        paid = Signal()

        def on(signal):
            def decorator(function):
                signal.connect(function)
                return function
            return decorator
        --- shop/receivers.py
        from .mail import receipt
        from .signals import on, paid

        @on(paid)
        def on_paid(sender, order, **kwargs):
            receipt(order)
        --- shop/views.py
        from .signals import paid

        def pay(order):
            paid.send(sender=None, order=order)
    """
    assert "shop.views.pay" in callers(program, tmp_path, "shop.receivers.on_paid")
