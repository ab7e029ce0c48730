"""Senders that are made by binding a template beforehand: where their send stands and what it is called."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from linking import analysis_of

HELPER = """
--- shop/post.py
from django.core.mail import send_mail
from django.template.loader import render_to_string

def post(name, to):
    send_mail("News", render_to_string(f"mails/{name}.txt"), None, [to])
"""

SENDERS = {
    "a decorator's argument": (
        """
        --- shop/senders.py
        import functools
        from shop.post import post

        def sender(name):
            def around(build):
                @functools.wraps(build)
                def wrapper(order):
                    build(order)
                    post(name, order.email)

                return wrapper

            return around

        @sender("paid")
        def paid(order):
            return {}

        @sender("sent")
        def sent(order):
            return {}
        --- shop/views.py
        from shop.senders import paid, sent

        def one(request):
            paid(request.order)

        def two(request):
            paid(request.order)
            sent(request.order)
        """,
        {("shop/senders.py", 15, "mails/paid.txt"), ("shop/senders.py", 19, "mails/sent.txt")},
    ),
    "a partial": (
        """
        --- shop/senders.py
        from functools import partial
        from shop.post import post

        paid = partial(post, "paid")
        --- shop/views.py
        from shop.senders import paid

        def one(request):
            paid(request.order)

        def two(request):
            paid(request.order)
        """,
        {("shop/senders.py", 4, "mails/paid.txt")},
    ),
    "a decorator that says nothing of the template": (
        """
        --- shop/senders.py
        from shop.post import post

        def audited(label):
            def around(inner):
                def wrapper(name, order):
                    print(label)
                    inner(name, order)

                return wrapper

            return around

        @audited("mail")
        def send(name, order):
            post(name, order.email)
        --- shop/views.py
        from shop.senders import send

        def one(request):
            send("paid", request.order)
        """,
        {("shop/views.py", 4, "mails/paid.txt")},
    ),
}


@pytest.mark.parametrize(("program", "expected"), SENDERS.values(), ids=SENDERS)
def test_where_the_send_stands(program: str, expected: set[tuple[str, int, str]], tmp_path: Path) -> None:
    sends = analysis_of(HELPER + dedent(program), tmp_path).inventory.sends
    found = {(one.place.path, one.place.line, one.template.value) for one in sends if one.place.path != "shop/mail.py"}
    assert found == expected


OWN_MAILER = """
--- shop/mailer.py
from django.core.mail import EmailMultiAlternatives, get_connection, send_mail
from django.template.loader import get_template


class Letter:
    def __init__(self, to, template, values):
        self.to = to
        self.text = get_template(template).render(values)

    def written(self):
        return EmailMultiAlternatives("News", self.text, None, [self.to])


class Mailer:
    @classmethod
    def send(cls, letters):
        if isinstance(letters, Letter):
            cls._one(letters)
        else:
            cls._many(letters)

    @staticmethod
    def _one(letter: Letter):
        send_mail("News", letter.text, None, [letter.to])

    @classmethod
    def _many(cls, letters: list[Letter]):
        messages = [letter.written() for letter in letters]
        with get_connection() as connection:
            connection.send_messages(messages)
"""

LETTERS = """
--- shop/views.py
from shop.mailer import Letter, Mailer

def pay(request):
    Mailer.send(Letter(request.email, "mails/paid.html", {}))

def remind(request):
    letters = []
    for order in request.orders:
        letters.append(Letter(order.email, "mails/late.html", {}))
    Mailer.send(letters)
"""


def test_a_mailer_that_takes_one_or_many(tmp_path: Path) -> None:
    sends = analysis_of(OWN_MAILER + LETTERS, tmp_path).inventory.sends
    found = {(one.place.path, one.place.line, one.template.value, one.call.api.rpartition(".")[2]) for one in sends}
    assert {
        ("shop/views.py", 4, "mails/paid.html", "send_mail"),
        ("shop/views.py", 10, "mails/late.html", "send_messages"),
    } == {one for one in found if one[0] != "shop/mail.py"}


UNNAMED = """
--- shop/post.py
from django.core.mail import send_mail

def post(subject, body, to):
    send_mail(subject, body, None, [to])
--- shop/models.py
from django.db import models

class Campaign(models.Model):
    title = models.TextField()
--- shop/views.py
from shop.models import Campaign
from shop.post import post

def now(request):
    campaign = Campaign.objects.get(pk=1)
    post(campaign.title, campaign.text, request.to)

def later(request):
    send_off(Campaign.objects.get(pk=2))

def again(request):
    send_off(Campaign.objects.get(pk=3))

def send_off(campaign: Campaign):
    post(campaign.title, written(campaign), campaign.to)

def given(request, title):
    post(title, request.body, request.to)

def exported(name, pk):
    export = loaded(name).get(pk=pk)
    post(export.run().title, export.text, export.to)

def start(request):
    exported("orders", request.pk)

def start_again(request):
    exported("bills", request.pk)
"""


def test_a_mail_without_a_name_is_called_after_what_sends_it(tmp_path: Path) -> None:
    sends = analysis_of(UNNAMED, tmp_path).inventory.sends
    found = {(one.place.line, one.template.value) for one in sends if one.place.path == "shop/views.py"}
    assert found == {
        (6, "shop.views.now"),
        (15, "shop.views.send_off"),
        (18, "shop.views.given"),
        (22, "shop.views.exported"),
    }


HANDED_ON = """
--- shop/post.py
from django.core.mail import send_mail
from django.template.loader import render_to_string

def post(template, to, subject="Hello", **context):
    send_mail(subject, render_to_string(template, context), None, [to])

def by_name(**given):
    post(**given)

def more(to, *rest, **given):
    by_name(to=to, **given)

def counted(inner):
    def wrapper(*args, **kwargs):
        return inner(*args, **kwargs)
    return wrapper

@counted
def plain(template, to):
    post(template, to)

class Mailer:
    @counted
    def send(self, template, to):
        post(template, to)
--- shop/views.py
from shop.post import Mailer, by_name, more, plain

def one(request):
    by_name(template="mails/a.txt", to="x", name="n")

def two(request):
    more("x", template="mails/b.txt")

def three(request):
    plain("mails/c.txt", to="x")

def four(request):
    Mailer().send("mails/d.txt", "x")
"""


def test_a_template_in_arguments_that_are_handed_on(tmp_path: Path) -> None:
    sends = analysis_of(HANDED_ON, tmp_path).inventory.sends
    found = {(one.place.path, one.place.line, one.template.value) for one in sends if one.place.path != "shop/mail.py"}
    assert found == {
        ("shop/views.py", line, f"mails/{name}.txt") for line, name in ((4, "a"), (7, "b"), (10, "c"), (13, "d"))
    }


PLUGINS = """
--- shop/handlers.py
from django.core.mail import send_mail

def paid(order, plugin):
    send_mail("Paid", "Thank you", None, [order])

def sent(order, plugin):
    send_mail("Sent", "On its way", None, [order])
--- shop/plugins.py
from shop.handlers import paid, sent

class Plugin:
    def notify(self, event, order, previous):
        raise NotImplementedError

def handlers():
    return {"paid": paid, "sent": sent}

class MailPlugin(Plugin):
    def notify(self, event, order, previous):
        handler = handlers()[event]
        handler(order, self)

class Manager:
    def on_all(self, name, *args, **kwargs):
        for plugin in self.active():
            self.on_one(plugin, name, *args, **kwargs)

    def on_one(self, plugin: Plugin, name, *args, **kwargs):
        method = getattr(plugin, name, None)
        return method(*args, **kwargs, previous=None)

    def notify(self, event, order):
        self.on_all("notify", event=event, order=order)
--- shop/views.py
from django.views import View
from shop.plugins import Manager

class Pay(View):
    def post(self, request):
        Manager().notify("paid", request.order)

class Ship(View):
    def post(self, request):
        Manager().notify("sent", request.order)
"""


def test_plugins_that_a_manager_calls_by_name(tmp_path: Path) -> None:
    sends = analysis_of(PLUGINS, tmp_path).inventory.sends
    found = {(one.template.value, route.trigger.function) for one in sends for route in one.routes}
    assert {("Paid", "shop.views.Pay.post"), ("Sent", "shop.views.Ship.post")} == {
        one for one in found if one[0] in ("Paid", "Sent")
    }


def test_a_text_that_is_kept_where_there_is_one_says_itself_once(tmp_path: Path) -> None:
    program = """
        --- shop/post.py
        import boto3

        def deliver(subject, body, to, **more):
            client = boto3.client("ses")
            message = {"Subject": {"Data": subject}, "Body": {"Html": {"Data": body}}}
            given = {"Source": "a", "Destination": {"ToAddresses": to}, "Message": message}
            client.send_email(**given)

        class Title:
            def __init__(self):
                self.title = ""

            def handle_data(self, data):
                if self.match:
                    self.title = data

        class Mailer:
            def send(self, to, **more):
                parser = Title()
                if parser.title:
                    subject = parser.title
                if to:
                    deliver(subject, 1, to, **more)
    """
    assert [send.function for send in analysis_of(program, tmp_path).inventory.sends] == [
        "shop.mail.receipt",
        "shop.post.Mailer.send",
    ]
