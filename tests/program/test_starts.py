"""Triggers: where the frameworks of a program start its functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from linking import triggers

FOUND = {
    "a view in the URLconf": (
        """
        --- shop/urls.py
        from django.urls import path
        from shop.views import pay

        urlpatterns = [path("pay/", pay)]
        --- shop/views.py
        from .mail import receipt

        def pay(request):
            receipt(request.user)
        """,
        {"controller shop.views.pay"},
    ),
    "a view under a decorator of the project": (
        """
        --- shop/urls.py
        from django.urls import path
        from shop.views import pay

        urlpatterns = [path("pay/", pay)]
        --- shop/views.py
        import functools
        from .mail import receipt

        def logged(view):
            @functools.wraps(view)
            def wrapper(request):
                return view(request)
            return wrapper

        @logged
        def pay(request):
            receipt(request.user)
        """,
        {"controller shop.views.pay"},
    ),
    "a mail in the decorator of a view": (
        """
        --- shop/urls.py
        from django.urls import path
        from shop.views import close

        urlpatterns = [path("close/", close)]
        --- shop/views.py
        import functools
        from .mail import receipt

        def confirmed(view):
            @functools.wraps(view)
            def wrapper(request):
                receipt(request.user)
                return view(request)
            return wrapper

        @confirmed
        def close(request):
            return None
        """,
        {"controller shop.views.close"},
    ),
    "a class-based view": (
        """
        --- shop/views.py
        from django.views import View
        from .mail import receipt

        class Pay(View):
            def post(self, request):
                receipt(request.user)
        """,
        {"controller shop.views.Pay.post"},
    ),
    "a form saved by a generic view, its class on a mixin": (
        """
        --- shop/views.py
        from django import forms
        from django.views.generic import CreateView
        from .mail import receipt

        class OrderForm(forms.ModelForm):
            def save(self, commit=True):
                order = super().save(commit)
                receipt(order)
                return order

        class OrderMixin:
            form_class = OrderForm

        class Place(OrderMixin, CreateView):
            pass
        """,
        {"controller shop.views.Place"},
    ),
    "an action that no entry names, on a class of a framework": (
        """
        --- shop/views.py
        from django.views import View
        from .mail import receipt

        class Orders(View):
            def resend(self, request):
                receipt(request.user)
        """,
        {"controller shop.views.Orders.resend"},
    ),
    "a command": (
        """
        --- shop/management/commands/remind.py
        from django.core.management.base import BaseCommand
        from shop.mail import receipt

        class Command(BaseCommand):
            def handle(self, *args, **options):
                receipt(options)
        """,
        {"command shop.management.commands.remind.Command.handle"},
    ),
    "a route of a project decorator that adds it": (
        """
        --- shop/app.py
        from flask import Flask

        app = Flask(__name__)

        def api(path):
            def decorator(function):
                app.add_url_rule(path, view_func=function)
                return function
            return decorator
        --- shop/views.py
        from shop.app import api
        from .mail import receipt

        @api("/pay")
        def pay():
            receipt(None)
        """,
        {"controller shop.views.pay"},
    ),
    "a request class of the project, added to an own blueprint": (
        """
        --- shop/web.py
        from flask import Blueprint

        class Shop(Blueprint):
            def add_url_rule(self, rule, endpoint=None, view_func=None, **options):
                super().add_url_rule(rule, endpoint, view_func, **options)

        class Request:
            def process(self):
                return self._process()

            def _process(self):
                raise NotImplementedError
        --- shop/views.py
        from shop.web import Request
        from .mail import receipt

        class Pay(Request):
            def _process(self):
                receipt(None)
        --- shop/urls.py
        from shop.views import Pay
        from shop.web import Shop

        shop = Shop("shop", __name__)
        shop.add_url_rule("/pay", "pay", Pay)
        """,
        {"controller shop.views.Pay._process", "unknown shop.web.Request.process"},
    ),
    "a job that a schedule in merged tables names": (
        """
        --- shop/settings.py
        ALWAYS = {"remind": {"task": "shop.tasks.remind", "schedule": 60.0}}
        CELERY_BEAT_SCHEDULE = dict(ALWAYS)
        --- shop/tasks.py
        from celery import shared_task
        from .mail import receipt

        @shared_task
        def remind():
            receipt(None)
        """,
        {"cron shop.tasks.remind"},
    ),
    "a job that a view enqueues": (
        """
        --- shop/tasks.py
        from celery import shared_task
        from .mail import receipt

        @shared_task
        def remind(pk):
            receipt(pk)
        --- shop/views.py
        from django.views import View
        from .tasks import remind

        class Pay(View):
            def post(self, request):
                remind.delay(1)
        """,
        {"controller shop.views.Pay.post"},
    ),
    "a job whose class mails when it has failed": (
        """
        --- shop/tasks.py
        from celery import Celery, Task
        from .mail import receipt

        app = Celery("shop")

        class Watched(Task):
            def on_failure(self, exc, task_id, args, kwargs, einfo):
                receipt(args)

        @app.task(base=Watched)
        def book(pk):
            return pk
        """,
        {"job shop.tasks.book"},
    ),
    "a job that nobody enqueues": (
        """
        --- shop/tasks.py
        from celery import shared_task
        from .mail import receipt

        @shared_task
        def remind(pk):
            receipt(pk)
        """,
        {"job shop.tasks.remind"},
    ),
    "a function that nobody calls": (
        """
        --- shop/views.py
        from .mail import receipt

        def pay(order):
            receipt(order)
        """,
        {"unknown shop.views.pay"},
    ),
}


@pytest.mark.parametrize(("program", "expected"), FOUND.values(), ids=FOUND)
def test_triggers(program: str, expected: set[str], tmp_path: Path) -> None:
    assert triggers(program, tmp_path) == expected
