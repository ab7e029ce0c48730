"""Edges: what a call leads to, however the callee gets there."""

from __future__ import annotations

from pathlib import Path

import pytest

from linking import callers

TARGET = "shop.mail.receipt"

REACHED = {
    "a job that an own method of the request looks up": """
        --- shop/views.py
        from shop.mail import receipt

        def pay(request, order):
            request.queue.job(receipt).delay(order.pk)
    """,
    "a plain import": """
        --- shop/views.py
        from shop.mail import receipt

        def pay(order):
            receipt(order)
    """,
    "a relative import": """
        --- shop/views.py
        from .mail import receipt

        def pay(order):
            receipt(order)
    """,
    "a module under another name": """
        --- shop/views.py
        import shop.mail as post

        def pay(order):
            post.receipt(order)
    """,
    "a star import": """
        --- shop/views.py
        from shop.mail import *

        def pay(order):
            receipt(order)
    """,
    "a re-export under another name": """
        --- shop/api/__init__.py
        from shop.mail import receipt as thank
        --- shop/views.py
        from shop.api import thank

        def pay(order):
            thank(order)
    """,
    "an import inside the function": """
        --- shop/views.py
        def pay(order):
            from shop.mail import receipt
            receipt(order)
    """,
    "an import that may fail": """
        --- shop/views.py
        try:
            from shop.mail import receipt
        except ImportError:
            receipt = None

        def pay(order):
            receipt(order)
    """,
    "a variable of the module": """
        --- shop/views.py
        from shop import mail

        thank = mail.receipt

        def pay(order):
            thank(order)
    """,
    "a partial": """
        --- shop/views.py
        from functools import partial
        from shop.mail import receipt

        def pay(order):
            partial(receipt, copy=True)(order)
    """,
    "a lambda that is called at once": """
        --- shop/views.py
        from shop.mail import receipt

        def call(function):
            function()

        def pay(order):
            call(lambda: receipt(order))
    """,
    "a table of functions": """
        --- shop/views.py
        from shop.mail import receipt

        def nothing(order):
            pass

        HANDLERS = {"paid": receipt, "sent": nothing}

        def pay(kind, order):
            HANDLERS[kind](order)
    """,
    "a table asked with get": """
        --- shop/views.py
        from shop.mail import receipt

        HANDLERS = {"paid": receipt}

        def pay(kind, order):
            handler = HANDLERS.get(kind)
            if handler is not None:
                handler(order)
    """,
    "one of two functions": """
        --- shop/views.py
        from shop.mail import receipt

        def nothing(order):
            pass

        def pay(order, quiet):
            function = nothing if quiet else receipt
            function(order)
    """,
    "a module of a constant name": """
        --- shop/views.py
        from importlib import import_module

        def pay(order):
            getattr(import_module("shop.mail"), "receipt")(order)
    """,
    "a path taken apart": """
        --- shop/views.py
        from importlib import import_module

        PATH = "shop.mail.receipt"

        def pay(order):
            module, name = PATH.rsplit(".", maxsplit=1)
            getattr(import_module(module), name)(order)
    """,
    "a dotted string": """
        --- shop/views.py
        from django.utils.module_loading import import_string

        def pay(order):
            import_string("shop.mail.receipt")(order)
    """,
    "a thread": """
        --- shop/views.py
        import threading
        from shop.mail import receipt

        def pay(order):
            threading.Thread(target=receipt, args=(order,)).start()
    """,
    "an executor": """
        --- shop/views.py
        from concurrent.futures import ThreadPoolExecutor
        from shop.mail import receipt

        pool = ThreadPoolExecutor()

        def pay(order):
            pool.submit(receipt, order)
    """,
    "a callback after the commit": """
        --- shop/views.py
        from django.db import transaction
        from shop.mail import receipt

        def pay(order):
            transaction.on_commit(lambda: receipt(order))
    """,
}


@pytest.mark.parametrize("program", REACHED.values(), ids=REACHED)
def test_the_function_is_reached(program: str, tmp_path: Path) -> None:
    found = callers(program, tmp_path, TARGET)
    assert found
    assert all(caller.startswith("shop.views.") for caller in found)
    assert set(found.values()) <= {"high", "medium"}


METHODS = {
    "through an attribute that an object was given": """
        --- shop/views.py
        from shop.mail import receipt
        from somelibrary import Backend

        class Mailer(Backend):
            def thank(self, order):
                if getattr(self, "request", None):
                    receipt(order)

        def pay(order, request):
            mailer = Mailer()
            mailer.authenticate(request)
            mailer.thank(order)
    """,
    "a job in the rows of a table": """
        --- shop/tasks.py
        from celery import shared_task
        from .mail import receipt

        @shared_task
        def thank(order):
            receipt(order)

        @shared_task
        def remind(order):
            print(order)

        --- shop/views.py
        from .tasks import remind, thank

        TASKS = {"paid": (thank, "Thanks"), "late": (remind, "Pay")}

        def pay(kind, order):
            task, title = TASKS.get(kind)
            task.delay(order)
    """,
    "a method of a new object": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        def pay(order):
            Mailer().thank(order)
    """,
    "a method of an annotated parameter": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        def pay(mailer: "Mailer", order):
            mailer.thank(order)
    """,
    "a method of an optional parameter": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        def pay(order, mailer: Mailer | None = None):
            mailer.thank(order)
    """,
    "an attribute set by the constructor": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        class Shop:
            def __init__(self):
                self.mailer = Mailer()

            def pay(self, order):
                self.mailer.thank(order)
    """,
    "an attribute that the constructor is given": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        class Shop:
            def __init__(self, mailer: Mailer):
                self._mailer = mailer

            def pay(self, order):
                self._mailer.thank(order)
    """,
    "a field of a dataclass": """
        --- shop/views.py
        from dataclasses import dataclass
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        @dataclass
        class Shop:
            mailer: Mailer

            def pay(self, order):
                self.mailer.thank(order)
    """,
    "a property": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        class Shop:
            @property
            def mailer(self):
                return Mailer()

            def pay(self, order):
                self.mailer.thank(order)
    """,
    "an object of the module": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        mailer = Mailer()

        def pay(order):
            mailer.thank(order)
    """,
    "an object that a function returns": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        def mailer():
            return Mailer()

        def pay(order):
            mailer().thank(order)
    """,
    "an object of which only the annotation tells": """
        --- shop/views.py
        from .mail import receipt
        from .registry import find

        class Mailer:
            def thank(self, order):
                receipt(order)

        def mailer(name) -> Mailer:
            return find(name)(1)

        def pay(order):
            mailer("x").thank(order)
    """,
    "super() to a sibling": """
        --- shop/views.py
        from .mail import receipt

        class Base:
            def thank(self, order):
                pass

        class Mailer(Base):
            def thank(self, order):
                receipt(order)

        class Logged(Base):
            def thank(self, order):
                super().thank(order)

        class Both(Logged, Mailer):
            pass

        def pay(order):
            Both().thank(order)
    """,
    "an abstract method": """
        --- shop/views.py
        from .mail import receipt

        class Channel:
            def thank(self, order):
                raise NotImplementedError

        class Mailer(Channel):
            def thank(self, order):
                receipt(order)

        def pay(channel: Channel, order):
            channel.thank(order)
    """,
    "a method that only subclasses have, by a name that a manager hands through two helpers": """
        --- shop/plugins.py
        from collections.abc import Callable

        class Plugin:
            active = True
            paid: Callable[[object], None]
        --- shop/manager.py
        from typing import TYPE_CHECKING, Optional

        if TYPE_CHECKING:
            from shop.plugins import Plugin

        class Manager:
            plugins: list["Plugin"] = []

            def active(self) -> list["Plugin"]:
                return [plugin for plugin in self.plugins if plugin.active]

            def _run(self, name, order):
                for plugin in self.active():
                    self._run_one(plugin, name, order)

            def _run_one(self, plugin: Optional["Plugin"], name, order):
                method = getattr(plugin, name, NotImplemented)
                if method != NotImplemented:
                    method(order)

            def pay(self, order):
                self._run("paid", order)
        --- shop/views.py
        from shop.mail import receipt
        from shop.plugins import Plugin

        class Mailer(Plugin):
            def paid(self, order):
                receipt(order)
    """,
    "a method of an object whose class stands in quotes inside its annotation": """
        --- shop/plugins.py
        class Plugin:
            def paid(self, order):
                pass
        --- shop/manager.py
        from typing import TYPE_CHECKING, Optional

        if TYPE_CHECKING:
            from shop.plugins import Plugin

        class Manager:
            plugins: list["Plugin"] = []

            def get(self, key) -> Optional["Plugin"]:
                for plugin in self.plugins:
                    if plugin.key == key:
                        return plugin
                return None

            def pay(self, key, order):
                self.get(key).paid(order)
        --- shop/views.py
        from shop.mail import receipt
        from shop.plugins import Plugin

        class Mailer(Plugin):
            def paid(self, order):
                receipt(order)
    """,
    "a method by a name with a hole": """
        --- shop/views.py
        from .mail import receipt

        class Handler:
            def on_paid(self, order):
                receipt(order)

            def handle(self, kind, order):
                getattr(self, f"on_{kind}")(order)
    """,
    "an object that is called": """
        --- shop/views.py
        from .mail import receipt

        class Thank:
            def __call__(self, order):
                receipt(order)

        thank = Thank()

        def pay(order):
            thank(order)
    """,
    "an object after many calls on it": """
        --- shop/views.py
        from .mail import receipt

        class Mailer:
            def add(self, name):
                pass

            def thank(self, order):
                receipt(order)

        def pay(order):
            mailer = Mailer()
"""
    + "            mailer.add('one more name')\n" * 60
    + """
            mailer.thank(order)
    """,
    "a row that a manager gives": """
        --- shop/views.py
        from django.db import models
        from .mail import receipt

        class Order(models.Model):
            def thank(self):
                receipt(self)

        def pay():
            order = Order.objects.filter(paid=True).first()
            order.thank()
    """,
    "a row of an own query set": """
        --- shop/views.py
        from django.db import models
        from .mail import receipt

        class Orders(models.QuerySet):
            def pay(self):
                for order in self.filter(paid=True):
                    order.thank()

        class Order(models.Model):
            objects = Orders.as_manager()

            def thank(self):
                receipt(self)
    """,
    "a row behind a foreign key": """
        --- shop/views.py
        from django.db import models
        from .mail import receipt

        class Order(models.Model):
            def thank(self):
                receipt(self)

        class Line(models.Model):
            order = models.ForeignKey("Order", on_delete=models.CASCADE)

            def pay(self):
                self.order.thank()
    """,
    "a row on the other side of a foreign key": """
        --- shop/views.py
        from django.db import models
        from .mail import receipt

        class Line(models.Model):
            order = models.ForeignKey("Order", on_delete=models.CASCADE, related_name="lines")

            def thank(self):
                receipt(self)

        class Order(models.Model):
            def pay(self):
                for line in self.lines.all():
                    line.thank()
    """,
}


@pytest.mark.parametrize("program", METHODS.values(), ids=METHODS)
def test_the_method_is_reached(program: str, tmp_path: Path) -> None:
    target = next(iter(callers(program, tmp_path, TARGET)))
    found = callers(program, tmp_path, target)
    assert found
    assert set(found.values()) <= {"high", "medium"}


APART = {
    "an attribute that an object made here lacks": """
        --- shop/backends.py
        from shop.mail import receipt
        from somelibrary import Backend

        class Login(Backend):
            def welcome(self, order):
                request = getattr(self, "request", None)
                if request and (area := request.session.get("area")):
                    receipt(order)
        --- shop/views.py
        from shop.backends import Login

        def pay(order):
            login = Login()
            login.refresh(order.token)
            login.welcome(order)
    """,
    "an entry of a dict that it lacks": """
        --- shop/views.py
        from shop.mail import receipt

        def create(order, data):
            if data.pop("notify", False):
                receipt(order)

        def pay(order):
            data = {"title": order.title}
            data["price"] = 3
            create(order, data)
    """,
    "another function of that name": """
        --- shop/views.py
        from shop.texts import receipt

        def pay(order):
            receipt(order)
        --- shop/texts.py
        def receipt(order):
            return "text"
    """,
    "a key that no entry has": """
        --- shop/views.py
        from shop.mail import receipt

        def nothing(order):
            pass

        HANDLERS = {"paid": receipt, "sent": nothing}

        def pay(order):
            HANDLERS["sent"](order)
    """,
    "a method of another class": """
        --- shop/views.py
        from shop.mail import receipt

        class Mailer:
            def thank(self, order):
                receipt(order)

        class Printer:
            def thank(self, order):
                pass

        def pay(order):
            Printer().thank(order)
    """,
    "a name that a manager does not ask plugins for": """
        --- shop/plugins.py
        class Plugin:
            pass
        --- shop/views.py
        from shop.mail import receipt
        from shop.plugins import Plugin

        class Mailer(Plugin):
            def thank(self, order):
                receipt(order)

        def run(plugin: "Plugin", name, order):
            getattr(plugin, name)(order)

        def pay(order, plugin):
            run(plugin, "refund", order)
    """,
    "a parameter that stands before the function's name": """
        --- shop/views.py
        from shop import mail

        def pay(receipt, order):
            receipt(order)
    """,
}


@pytest.mark.parametrize("program", APART.values(), ids=APART)
def test_the_function_is_not_reached_from_there(program: str, tmp_path: Path) -> None:
    assert "shop.views.pay" not in callers(program, tmp_path, TARGET)
    assert "shop.views.pay" not in callers(program, tmp_path, "shop.views.Mailer.thank")
