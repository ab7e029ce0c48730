"""Triggers: where the frameworks of a program start its functions."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

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
    "a schedule that is filled in several statements": (
        """
        --- shop/tasks.py
        from celery import Celery
        from .mail import receipt

        app = Celery("shop")
        app.conf.beat_schedule = {}
        app.conf.beat_schedule["noon"] = {"task": "shop.tasks.noon", "schedule": 60.0}
        app.conf.beat_schedule.update({"night": {"task": "shop.tasks.night", "schedule": 60.0}})
        app.conf.update(timezone="UTC", beat_schedule={"dawn": {"task": "shop.tasks.dawn", "schedule": 60.0}})

        @app.on_after_configure.connect
        def more(sender, **kwargs):
            sender.add_periodic_task(10.0, dusk.s(1))

        @app.task
        def noon():
            receipt(1)

        @app.task
        def night():
            receipt(2)

        @app.task
        def dawn():
            receipt(3)

        @app.task
        def dusk(pk):
            receipt(pk)
        """,
        {"cron shop.tasks.noon", "cron shop.tasks.night", "cron shop.tasks.dawn", "cron shop.tasks.dusk"},
    ),
    "a schedule that is joined from tables of another module": (
        """
        --- shop/schedule.py
        ALWAYS = {f"filler-{number}": {"task": "shop.other.nothing", "schedule": number} for number in range(9)}
        ALWAYS["noon"] = {"task": "shop.tasks.noon", "schedule": 60.0}
        NIGHTLY = {"night": {"task": "shop.tasks.night", "schedule": 60.0}}
        --- shop/settings.py
        from shop.schedule import ALWAYS, NIGHTLY

        if READ_ONLY:
            CELERY_BEAT_SCHEDULE = {}
        else:
            CELERY_BEAT_SCHEDULE = dict(ALWAYS)
            if not STAGING:
                CELERY_BEAT_SCHEDULE |= NIGHTLY
        --- shop/tasks.py
        from celery import shared_task
        from .mail import receipt

        @shared_task
        def noon():
            receipt(1)

        @shared_task
        def night():
            receipt(2)
        """,
        {"cron shop.tasks.noon", "cron shop.tasks.night"},
    ),
    "middleware that the settings list": (
        """
        --- shop/settings.py
        MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "shop.middleware.Faults"]
        MIDDLEWARE += ["shop.middleware.plain"]
        --- shop/middleware.py
        from .mail import receipt

        class Faults:
            def process_exception(self, request, exception):
                receipt(exception)

            def unlisted(self, request):
                receipt(request)

        def plain(get_response):
            def middle(request):
                receipt(request)
                return get_response(request)

            return middle
        """,
        {
            "controller shop.middleware.Faults.process_exception",
            "controller shop.middleware.plain.<locals>.middle",
            "unknown shop.middleware.Faults.unlisted",
        },
    ),
    "a schedule for another task of that name": (
        """
        --- shop/settings.py
        CELERY_BEAT_SCHEDULE = {"digest": {"task": "other.jobs.digest", "schedule": 60.0}}
        --- shop/tasks.py
        from celery import shared_task
        from .mail import receipt

        @shared_task
        def digest():
            receipt(1)
        """,
        {"job shop.tasks.digest"},
    ),
    "a job that a queue of the project finds by its name": (
        """
        --- shop/queue.py
        import dramatiq

        WAITING = []

        def actor(name, **options):
            def decorator(function):
                dramatiq.actor(function, actor_name=name, **options)
                return function

            return decorator

        def enqueue(name, *args, delay=None, **kwargs):
            WAITING.append((name, args, kwargs, delay))
        --- shop/jobs.py
        from shop.queue import actor
        from .mail import receipt

        @actor("mail.receipt", max_retries=3)
        def send_receipt(order):
            receipt(order)

        @actor("mail.reminder")
        def send_reminder(order):
            receipt(order)
        --- shop/views.py
        import logging
        from django.views import View
        from shop.queue import enqueue

        class Pay(View):
            def post(self, request):
                enqueue("mail.receipt", request.order, delay=3)

        class Note(View):
            def post(self, request):
                logging.info("mail.receipt", request.order)
        """,
        {"controller shop.views.Pay.post", "job shop.jobs.send_reminder"},
    ),
    "a job under a name of its own": (
        """
        --- shop/tasks.py
        from celery import Celery
        from .mail import receipt

        app = Celery("shop")

        @app.task(name="letters.receipt")
        def write(order):
            receipt(order)
        --- shop/views.py
        from django.views import View
        from shop.tasks import app

        class Pay(View):
            def post(self, request):
                app.send_task("letters.receipt", args=[request.order])
        """,
        {"controller shop.views.Pay.post"},
    ),
    "a schedule that a decorator of the project is given": (
        """
        --- shop/core.py
        from celery import Celery

        class Queue(Celery):
            def periodic_task(self, *args, **kwargs):
                def decorator(function):
                    schedule = kwargs.pop("run_every")
                    return self.task(*args, **kwargs)(function)

                return decorator

        queue = Queue("shop")
        --- shop/tasks.py
        from datetime import timedelta
        from celery.schedules import crontab
        from shop.core import queue
        from .mail import receipt

        @queue.periodic_task(name="noon", run_every=crontab(hour="12"))
        def noon():
            receipt(1)

        @queue.periodic_task(name="often", run_every=timedelta(minutes=5))
        def often():
            receipt(2)
        """,
        {"cron shop.tasks.noon", "cron shop.tasks.often"},
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
    "a job that a helper puts into the schedule it is given": (
        """
        --- shop/clock.py
        from apscheduler.schedulers.background import BackgroundScheduler
        from shop import tidy, daily

        def start():
            scheduler = BackgroundScheduler()
            scheduler.add_job(tidy.sweep, "interval", minutes=5)
            daily.set_up(scheduler)
            scheduler.start()
        --- shop/tidy.py
        def sweep():
            print("swept")
        --- shop/daily.py
        from .mail import receipt

        def digest():
            receipt("all")

        def set_up(scheduler):
            scheduler.add_job(digest, "cron", hour=7)
        """,
        {"cron shop.daily.digest"},
    ),
    "a job put into something that is no schedule": (
        """
        --- shop/clock.py
        from shop import daily

        class Shelf:
            def add_job(self, job, when):
                self.jobs = [job]

        def start():
            daily.set_up(Shelf())
        --- shop/daily.py
        from .mail import receipt

        def digest():
            receipt("all")

        def set_up(shelf):
            shelf.add_job(digest, "cron")
        """,
        {"unknown shop.daily.digest"},
    ),
}


@pytest.mark.parametrize(("program", "expected"), FOUND.values(), ids=FOUND)
def test_triggers(program: str, expected: set[str], tmp_path: Path) -> None:
    assert triggers(program, tmp_path) == expected


MODELS = """
--- shop/models.py
from django.db import models
from invitations.abstract import AbstractInvite
from .mail import receipt

class Invite(AbstractInvite):
    status = models.CharField(max_length=9)

    def accepted(self):
        receipt(self)

    def declined(self):
        receipt(self, copy=True)
"""

SERIALIZERS = {
    "a row of a model of an unknown library": (
        """
        --- shop/api.py
        from rest_framework import serializers, viewsets
        from shop.models import Invite

        class InviteSerializer(serializers.ModelSerializer):
            class Meta:
                model = Invite

            def create(self, validated_data):
                invite = Invite.objects.create(**validated_data)
                invite.accepted()
                return invite

        class Invites(viewsets.ModelViewSet):
            serializer_class = InviteSerializer
        """,
        {"controller shop.api.Invites"},
    ),
    "a method taken from a table of the row's methods": (
        """
        --- shop/api.py
        from rest_framework import serializers, viewsets
        from shop.models import Invite

        class InviteSerializer(serializers.ModelSerializer):
            class Meta:
                model = Invite

            def update(self, instance, validated_data):
                self.answer(instance, validated_data["status"])
                return instance

            def answer(self, instance, status):
                answers = {"yes": instance.accepted, "no": instance.declined}
                answer = answers.get(status)
                if answer:
                    answer()

        class Invites(viewsets.ModelViewSet):
            serializer_class = InviteSerializer
        """,
        {"controller shop.api.Invites"},
    ),
    "a serializer that a method chooses": (
        """
        --- shop/api.py
        from rest_framework import mixins, serializers, viewsets
        from shop.models import Invite

        class InviteSerializer(serializers.Serializer):
            def create(self, validated_data):
                invite = Invite.objects.create(**validated_data)
                invite.accepted()
                return invite

        class Invites(mixins.CreateModelMixin, viewsets.GenericViewSet):
            def get_serializer_class(self):
                if self.action == "create":
                    return InviteSerializer
                return serializers.Serializer
        """,
        {"controller shop.api.Invites"},
    ),
    "a variable of an annotated class": (
        """
        --- shop/views.py
        from django.views import View
        from shop.models import Invite

        class Accept(View):
            def post(self, request):
                invite: Invite = request.found("invite")
                invite.accepted()
        """,
        {"controller shop.views.Accept.post"},
    ),
    "a class in quotes that is not imported": (
        """
        --- shop/services.py
        def accept(invite: "Invite"):
            invite.accepted()
        --- shop/views.py
        from django.views import View
        from shop.services import accept

        class Accept(View):
            def post(self, request):
                accept(request.found("invite"))
        """,
        {"controller shop.views.Accept.post"},
    ),
}


@pytest.mark.parametrize(("program", "expected"), SERIALIZERS.values(), ids=SERIALIZERS)
def test_triggers_of_what_rows_do(program: str, expected: set[str], tmp_path: Path) -> None:
    found = {one for one in triggers(MODELS + dedent(program), tmp_path) if not one.startswith("unknown shop.models")}
    assert found == expected


PYRAMID = """
--- shop/services.py
from .mail import receipt

class Mailer:
    def paid(self, order):
        receipt(order)

class IMailer:
    pass

def by_name(context, request):
    return Mailer()

def by_interface(context, request):
    return Mailer()

def includeme(config):
    config.register_service_factory("shop.services.by_name", name="mailer")
    config.register_service_factory(by_interface, iface=IMailer)
--- shop/events.py
from pyramid.events import subscriber
from .mail import receipt

class Paid:
    def __init__(self, order):
        self.order = order

class Shipped:
    def __init__(self, order):
        self.order = order

@subscriber(Paid)
def on_paid(event):
    receipt(event.order)
--- shop/routing.py
import venusian

def route(name):
    def decorator(wrapped):
        venusian.attach(wrapped, lambda context, name, view: context.config.add_view(view), category="pyramid")
        return wrapped

    return decorator
"""

VIEWS = {
    "a service by its name": (
        """
        --- shop/views.py
        from shop.routing import route

        @route("pay")
        def pay(request):
            request.find_service(name="mailer").paid(request.order)
        """,
        {"controller shop.views.pay"},
    ),
    "a service by its interface": (
        """
        --- shop/views.py
        from shop.routing import route
        from shop.services import IMailer

        @route("pay")
        def pay(request):
            mailer = request.find_service(IMailer)
            mailer.paid(request.order)
        """,
        {"controller shop.views.pay"},
    ),
    "a service whose factory nobody knows": (
        """
        --- shop/more.py
        from shop.services import Mailer

        def includeme(config):
            mailer = config.maybe_dotted(config.registry.settings["mailer"])
            config.register_service_factory(mailer.create, Mailer)
        --- shop/views.py
        from shop.routing import route
        from shop.services import Mailer

        @route("pay")
        def pay(request):
            request.find_service(Mailer).paid(request.order)
        """,
        {"controller shop.views.pay"},
    ),
    "a service that nobody registers": (
        """
        --- shop/views.py
        from shop.routing import route

        @route("pay")
        def pay(request):
            request.find_service(name="other").paid(request.order)
        """,
        set(),
    ),
    "an event that is handed to an own queue": (
        """
        --- shop/views.py
        from shop.events import Paid
        from shop.routing import route

        @route("pay")
        def pay(request):
            event = Paid(request.order)
            request.notify_after_commit(event)
        """,
        {"controller shop.views.pay"},
    ),
    "an event of another class": (
        """
        --- shop/views.py
        from shop.events import Paid, Shipped
        from shop.routing import route

        @route("ship")
        def ship(request):
            request.notify_after_commit(Shipped(request.order))
        """,
        set(),
    ),
    "an event that is only written to the log": (
        """
        --- shop/views.py
        import logging
        from shop.events import Paid
        from shop.routing import route

        @route("pay")
        def pay(request):
            logging.getLogger(__name__).info("made %s", Paid(request.order))
        """,
        set(),
    ),
}


@pytest.mark.parametrize(("program", "expected"), VIEWS.values(), ids=VIEWS)
def test_triggers_of_pyramid_views(program: str, expected: set[str], tmp_path: Path) -> None:
    found = {one for one in triggers(PYRAMID + dedent(program), tmp_path) if not one.startswith("unknown ")}
    assert found == expected


def test_the_object_of_a_method_that_nobody_calls_is_of_its_class(tmp_path: Path) -> None:
    program = """
        --- shop/base.py
        class CreateMixin:
            def create(self, data):
                self.saved(data)

        class View:
            def saved(self, data):
                pass
        --- shop/views.py
        from shop.base import CreateMixin, View
        from .mail import receipt

        class Status(CreateMixin, View):
            def create(self, data):
                return super().create(data)

        class Member(CreateMixin, View):
            def create(self, data):
                return super().create(data)

            def saved(self, data):
                receipt(data)
    """
    assert triggers(program, tmp_path) == {"unknown shop.views.Member.create"}


WEBHOOKS = {
    "a permission that compares signatures": (
        """
        --- shop/signing.py
        import hashlib
        import hmac
        from rest_framework.permissions import BasePermission

        def signature(data):
            return hmac.new(b"secret", data, hashlib.sha256).hexdigest()

        class IsSigned(BasePermission):
            def has_permission(self, request, view):
                return request.data["signature"] == signature(request.data)
        --- shop/views.py
        from rest_framework.views import APIView
        from shop.signing import IsSigned
        from .mail import receipt

        class Fulfil(APIView):
            permission_classes = (IsSigned,)

            def post(self, request):
                receipt(request.data)
        """,
        {"webhook shop.views.Fulfil.post"},
    ),
    "a decorator of the project that verifies": (
        """
        --- shop/signing.py
        import functools
        import hmac

        def signed(view):
            @functools.wraps(view)
            def wrapper(request):
                if not hmac.compare_digest(request.headers["Sign"], "x"):
                    return None
                return view(request)

            return wrapper
        --- shop/views.py
        from django.urls import path
        from shop.signing import signed
        from .mail import receipt

        @signed
        def paid(request):
            receipt(request)

        urlpatterns = [path("paid/", paid)]
        """,
        {"webhook shop.views.paid"},
    ),
    "a mixin's super() means what follows it in the class of the view": (
        """
        --- shop/views.py
        from django.urls import path
        from django.views.generic import FormView, UpdateView
        from .mail import receipt

        class Plain:
            def form_valid(self, form):
                return None

        class Mailing:
            def form_valid(self, form):
                receipt(form)

        class Checked:
            def form_valid(self, form):
                return super().form_valid(form)

        class Edit(Checked, Plain, UpdateView):
            pass

        class Create(Checked, Mailing, FormView):
            pass

        urlpatterns = [path("edit/", Edit.as_view()), path("create/", Create.as_view())]
        """,
        {"controller shop.views.Create.form_valid"},
    ),
    "super() in a mixin never means a method of a class below it": (
        """
        --- shop/views.py
        from django.urls import path
        from django.views.generic import FormView, UpdateView
        from .mail import receipt

        class Checked:
            def form_valid(self, form):
                return super().form_valid(form)

        class Edit(Checked, UpdateView):
            def form_valid(self, form):
                return super().form_valid(form)

        class Create(Checked, FormView):
            def form_valid(self, form):
                receipt(form)
                return super().form_valid(form)

        urlpatterns = [path("edit/", Edit.as_view()), path("create/", Create.as_view())]
        """,
        {"controller shop.views.Create.form_valid"},
    ),
    "a page of the admin with a route of its own": (
        """
        --- shop/admin.py
        from django.contrib import admin
        from django.urls import path
        from .mail import receipt
        from .models import Order

        @admin.register(Order)
        class OrderAdmin(admin.ModelAdmin):
            def get_urls(self):
                return [path("<int:pk>/again/", self.admin_site.admin_view(self.again)), *super().get_urls()]

            def again(self, request, pk):
                receipt(Order.objects.get(pk=pk))
        --- shop/models.py
        from django.db import models

        class Order(models.Model):
            email = models.EmailField()
        """,
        {"admin shop.admin.OrderAdmin.again"},
    ),
    "a comparison with a token or a file's digest": (
        """
        --- shop/views.py
        import hashlib
        import hmac
        from fastapi import FastAPI, Request
        from .mail import receipt

        app = FastAPI()

        @app.post("/upload")
        async def upload(request: Request, digest: str):
            content = await request.body()
            if not hmac.compare_digest(digest, hashlib.sha256(content).hexdigest()):
                return None
            receipt(digest)

        @app.post("/reset")
        def reset(token: str):
            if hmac.compare_digest(token, "x"):
                receipt(token)

        @app.post("/paid")
        def paid(request: Request, signature: str):
            if hmac.compare_digest(signature, hmac.new(b"secret", b"x", "sha256").hexdigest()):
                receipt(signature)
        """,
        {"controller shop.views.upload", "controller shop.views.reset", "webhook shop.views.paid"},
    ),
    "a header that a parameter names": (
        """
        --- shop/views.py
        from fastapi import FastAPI, Header
        from .mail import receipt

        app = FastAPI()

        @app.post("/leaks")
        def leaks(github_public_key_signature: str = Header()):
            receipt(github_public_key_signature)
        """,
        {"webhook shop.views.leaks"},
    ),
    "a view that signs what it sends on": (
        """
        --- shop/views.py
        import hmac
        from rest_framework.permissions import IsAuthenticated
        from rest_framework.views import APIView
        from .mail import receipt

        class Checkout(APIView):
            permission_classes = (IsAuthenticated,)

            def post(self, request):
                receipt(hmac.new(b"secret", request.data))
        """,
        {"controller shop.views.Checkout.post"},
    ),
    "pages on which people manage webhooks": (
        """
        --- shop/views.py
        from django.contrib.auth.decorators import login_required
        from django.contrib.auth.mixins import LoginRequiredMixin
        from django.urls import path
        from django.views import View
        from .mail import receipt

        @login_required
        def webhook_status(request):
            receipt(request)

        class Webhooks(LoginRequiredMixin, View):
            def post(self, request):
                receipt(request)

        def test_webhook(request):
            receipt(request)

        def stripe_webhook(request):
            receipt(request)

        def order_create_webhook(request):
            receipt(request)

        urlpatterns = [
            path("e/", order_create_webhook),
            path("a/", webhook_status),
            path("b/", Webhooks.as_view()),
            path("c/", test_webhook),
            path("d/", stripe_webhook),
        ]
        """,
        {
            "controller shop.views.webhook_status",
            "controller shop.views.Webhooks.post",
            "controller shop.views.test_webhook",
            "webhook shop.views.stripe_webhook",
            "webhook shop.views.order_create_webhook",
        },
    ),
    "functions of a pipeline that settings list": (
        """
        --- shop/settings.py
        SOCIAL_AUTH_PIPELINE = ("social_core.pipeline.social_auth.social_details", "shop.pipeline.welcome")
        SOCIAL_AUTH_EMAIL_VALIDATION_FUNCTION = "shop.pipeline.confirm"
        --- shop/pipeline.py
        from .mail import receipt

        def welcome(backend, user, **kwargs):
            receipt(user)

        def confirm(strategy, backend, code, partial_token):
            receipt(code)
        """,
        {"controller shop.pipeline.welcome", "controller shop.pipeline.confirm"},
    ),
}


@pytest.mark.parametrize(("program", "expected"), WEBHOOKS.values(), ids=WEBHOOKS)
def test_webhooks_and_controllers(program: str, expected: set[str], tmp_path: Path) -> None:
    assert triggers(program, tmp_path) == expected


def test_a_command_called_like_another_function(tmp_path: Path) -> None:
    program = """
        --- shop/service.py
        from .mail import receipt

        def remind(order):
            receipt(order)
        --- shop/commands.py
        import click
        from .service import remind

        @click.group(name="shop")
        def cli():
            pass

        @cli.command("remind")
        @click.option("--order", "order")
        def remind_command(order):
            remind(order)
    """
    assert triggers(program, tmp_path) == {"command shop.commands.remind_command"}


def test_what_a_file_does_if_it_is_run_itself(tmp_path: Path) -> None:
    program = """
        --- shop/nightly.py
        import sys
        from .mail import receipt

        def remind():
            receipt(sys.argv)

        if __name__ == "__main__":
            remind()
    """
    assert triggers(program, tmp_path) == {"command shop.nightly"}


def test_a_command_with_many_options(tmp_path: Path) -> None:
    options = "\n".join(f'        @click.option("--option-{number}", "o{number}")' for number in range(9))
    program = f"""
        --- shop/commands.py
        import click
        from .mail import receipt

        @click.command("remind")
{options}
        def remind_command(**options):
            receipt(options)
    """
    assert triggers(program, tmp_path) == {"command shop.commands.remind_command"}
