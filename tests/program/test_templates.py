"""Templates: what a reader would say that a mail is, through any number of helpers."""

from __future__ import annotations

from pathlib import Path

import pytest

from linking import analysis_of
from sendonce.program.templates import identity

HELPER = """
        --- shop/post.py
        from django.core.mail import EmailMultiAlternatives
        from django.template.loader import render_to_string

        def deliver(template, to, context=None):
            context = {**(context or {}), "host": "example.org", "links": {"terms": "/terms", "help": "/help"}}
            subject = render_to_string(f"{template}/subject.txt", context).strip()
            message = EmailMultiAlternatives(subject, render_to_string(f"{template}/body.txt", context), to=[to])
            message.attach_alternative(render_to_string(f"{template}/body.html", context), "text/html")
            message.send()
"""

NAMED = {
    "a template's name": (
        """
        --- shop/mail.py
        from django.core.mail import send_mail
        from django.template.loader import render_to_string

        def paid(to):
            send_mail("Paid", render_to_string("mail/paid.txt", {}), None, [to])  # send
        """,
        "template mail/paid.txt",
    ),
    "the HTML body of a folder of parts, through a helper": (
        HELPER
        + """
        --- shop/mail.py
        from shop.post import deliver

        def paid(to):
            deliver("mail/paid", to)  # send
        """,
        "template mail/paid/body.html",
    ),
    "two helpers and a keyword": (
        HELPER
        + """
        --- shop/mail.py
        from shop.post import deliver

        def tell(what, **more):
            deliver(template=f"mail/{what}", **more)

        def paid(to):
            tell("paid", to=to)  # send
        """,
        "template mail/paid/body.html",
    ),
    "a constant of another module": (
        HELPER
        + """
        --- shop/names.py
        PAID = "mail/paid"
        --- shop/mail.py
        from shop import names
        from shop.post import deliver

        def paid(to):
            deliver(names.PAID, to)  # send
        """,
        "template mail/paid/body.html",
    ),
    "an enumeration's value": (
        HELPER
        + """
        --- shop/names.py
        from enum import Enum

        class Letter(Enum):
            PAID = "mail/paid"
        --- shop/mail.py
        from shop.names import Letter
        from shop.post import deliver

        def paid(to):
            deliver(Letter.PAID.value, to)  # send
        """,
        "template mail/paid/body.html",
    ),
    "an enumeration's member as a provider's template": (
        """
        --- shop/names.py
        from enum import Enum

        class Letter(Enum):
            PAID = 1
        --- shop/mail.py
        import requests
        from shop.names import Letter

        def paid(to):
            requests.post(  # send
                "https://api.postmarkapp.com/email/withTemplate", json={"To": to, "TemplateAlias": Letter.PAID}
            )
        """,
        "constant Letter.PAID",
    ),
    "a class attribute of an e-mail class": (
        """
        --- shop/letters.py
        from django.core.mail import send_mail
        from django.template.loader import render_to_string

        class Letter:
            name = None

            def __init__(self, to):
                self.to = to

            def send(self):
                send_mail("A letter", render_to_string(f"mail/{self.name}.html"), None, [self.to])

        class Paid(Letter):
            name = "paid"
        --- shop/mail.py
        from shop.letters import Paid

        def paid(to):
            Paid(to).send()  # send
        """,
        "template mail/paid.html",
    ),
    "a message class with a template of its own": (
        """
        --- shop/letters.py
        from anymail.message import AnymailMessage

        class Paid(AnymailMessage):
            template_id = "d-paid"
        --- shop/mail.py
        from shop.letters import Paid

        def paid(to):
            Paid(to=[to]).send()  # send
        """,
        "template_id d-paid",
    ),
    "the arguments that a message class hands up": (
        """
        --- shop/letters.py
        from django.core.mail import EmailMessage

        class Letter(EmailMessage):
            def __init__(self, title, to):
                super().__init__(subject=title, body="", to=[to])
        --- shop/mail.py
        from shop.letters import Letter

        def paid(to):
            Letter("You have paid", to).send()  # send
        """,
        "subject You have paid",
    ),
    "a message object that was given away": (
        """
        --- shop/post.py
        def deliver(messages):
            for message in messages:
                message.send()
        --- shop/mail.py
        from django.core.mail import EmailMessage
        from django.template.loader import render_to_string
        from shop.post import deliver

        def paid(to):
            deliver([EmailMessage("Paid", render_to_string("mail/paid.txt", {}), to=[to])])  # send
        """,
        "template mail/paid.txt",
    ),
    "fields that went through a dict": (
        """
        --- shop/letters.py
        from dataclasses import dataclass

        @dataclass
        class Letter:
            to: str
            text: str
        --- shop/post.py
        from django.core.mail import send_mail
        from shop.letters import Letter

        def deliver(data: dict):
            letter = Letter(**data)
            send_mail("A letter", letter.text, None, [letter.to])
        --- shop/mail.py
        from dataclasses import asdict
        from django.template.loader import render_to_string
        from shop.letters import Letter
        from shop.post import deliver

        def paid(to):
            deliver(asdict(Letter(to, render_to_string("mail/paid.txt", {}))))  # send
        """,
        "template mail/paid.txt",
    ),
    "an entry of a table of mails": (
        """
        --- shop/mail.py
        from django.core.mail import send_mail

        MAILS = {
            "paid": {"subject": "You have paid", "body": "Thank you, %s."},
            "late": {"subject": "You are late", "body": "Please pay, %s."},
        }

        def paid(user):
            mail = MAILS["paid"]
            send_mail(mail["subject"], mail["body"] % user.name, None, [user.email])  # send
        """,
        "constant paid",
    ),
    "the constant with the text": (
        """
        --- shop/texts.py
        PAID_TEXT = "Thank you, we have your money."
        --- shop/mail.py
        from django.core.mail import send_mail
        from shop.texts import PAID_TEXT

        def paid(to):
            send_mail("Shop", PAID_TEXT, None, [to])  # send
        """,
        "constant PAID_TEXT",
    ),
    "a subject with holes": (
        """
        --- shop/mail.py
        from django.core.mail import send_mail

        def paid(to, number):
            send_mail(f"Invoice {number} is paid", "Thank you.", None, [to])  # send
        """,
        "subject Invoice {} is paid",
    ),
    "a subject behind a prefix": (
        """
        --- shop/post.py
        from django.core.mail import send_mail

        def deliver(subject, to):
            send_mail(f"[Shop] {subject}", "Thank you.", None, [to])
        --- shop/mail.py
        from shop.post import deliver

        def paid(to):
            deliver("You have paid", to)  # send
        """,
        "subject [Shop] You have paid",
    ),
    "the argument of a decorator": (
        HELPER
        + """
        --- shop/letters.py
        from functools import wraps
        from shop.post import deliver

        def letter(template):
            def wrap(function):
                @wraps(function)
                def run(to):
                    deliver(template, to, function(to))
                return run
            return wrap
        --- shop/mail.py
        from shop.letters import letter

        @letter("mail/paid")
        def paid(to):
            return {"to": to}

        def pay(to):
            paid(to)
        """,
        "template mail/paid/body.html",
    ),
    "a file that is read": (
        """
        --- shop/mail.py
        import os
        from django.core.mail import send_mail

        HERE = os.path.dirname(__file__)

        def paid(to):
            with open(os.path.join(HERE, "texts", "paid.txt")) as file:
                send_mail("Paid", file.read(), None, [to])  # send
        """,
        "template texts/paid.txt",
    ),
    "a subject that a pattern cleans": (
        """
        --- shop/mail.py
        import re
        from django.core.mail import send_mail

        CONTROL = re.compile(r"[\\x00-\\x1fabc]+")

        def post(subject, to):
            clean = CONTROL.sub(" ", re.sub(r"[abc]{3}", "", str(subject)).strip())
            send_mail(clean, "Thank you.", None, [to])

        def paid(to):
            post("Your order is paid", to)  # send
        """,
        "subject Your order is paid",
    ),
    "a message that subclasses make": (
        """
        --- shop/notes.py
        class Note:
            def __init__(self, order):
                self.order = order

            def message(self):
                raise NotImplementedError

            def send(self):
                self.message().send()
        --- shop/mail.py
        from django.core.mail import EmailMessage
        from shop.notes import Note

        class PaidNote(Note):
            def message(self):
                return EmailMessage("Paid", "Thank you", to=[self.order.email])

        def paid(order):
            PaidNote(order).send()  # send
        """,
        "subject Paid",
    ),
    "messages in a list that subclasses yield": (
        """
        --- shop/notes.py
        from django.core.mail import get_connection

        def deliver(messages):
            if not messages:
                return
            good = [message for message in messages if message.to]
            get_connection().send_messages(good)

        class Note:
            def mails(self, people):
                raise NotImplementedError

            def send(self, people):
                deliver(self.mails(people))
        --- shop/mail.py
        from django.core.mail import EmailMessage
        from django.template.loader import render_to_string
        from shop.notes import Note

        class PaidNote(Note):
            def mails(self, people):
                for one in people:
                    yield EmailMessage("A note", render_to_string("mail/paid.txt", {"one": one}), to=[one])

        class LateNote(Note):
            def mails(self, people):
                return []

        def paid(people):
            PaidNote().send(people)  # send
        """,
        "template mail/paid.txt",
    ),
    "a message of a base class that a subclass makes otherwise": (
        """
        --- shop/notes.py
        from django.core.mail import EmailMessage

        class Note:
            @classmethod
            def message(cls, email):
                return EmailMessage("A note", "Hello", to=[email])

            @classmethod
            def send(cls, email):
                message = cls.message(email)
                message.send()
        --- shop/mail.py
        from django.core.mail import EmailMessage
        from django.template.loader import render_to_string
        from shop.notes import Note

        class PaidNote(Note):
            @classmethod
            def message(cls, email):
                return EmailMessage("Paid", render_to_string("mail/paid.txt"), to=[email])

        def paid(email):
            PaidNote.send(email)  # send
        """,
        "template mail/paid.txt",
    ),
    "a job that finds a class by the names that it was given": (
        """
        --- shop/notes.py
        from importlib import import_module
        from celery import shared_task

        class Note:
            def message(self):
                raise NotImplementedError

            def told(self):
                raise NotImplementedError

            def send_all(self):
                self.message().send()

            def fire(self):
                fire_note.delay(self.told())

        @shared_task
        def fire_note(told):
            note = getattr(import_module(told["module"]), told["name"])(told["id"])
            note.send_all()
        --- shop/mail.py
        from django.core.mail import EmailMessage
        from shop.notes import Note

        class PaidNote(Note):
            def __init__(self, id):
                self.id = id

            def told(self):
                return {"module": "shop.mail", "name": "PaidNote", "id": self.id}

            def message(self):
                return EmailMessage("Paid", "Thank you", to=["a@example.org"])

        def paid(order):
            PaidNote(order.id).fire()  # send
        """,
        "subject Paid",
    ),
    "a text that a base class leaves to its subclasses": (
        """
        --- shop/notes.py
        from django.core.mail import send_mail

        class Note:
            def subject(self):
                return "A note"

            def send(self, email):
                send_mail(self.subject(), "Hello", None, [email])
        --- shop/mail.py
        from shop.notes import Note

        class PaidNote(Note):
            def subject(self):
                return "Paid"

        def paid(email):
            PaidNote().send(email)  # send
        """,
        "subject Paid",
    ),
    "nothing that tells": (
        """
        --- shop/mail.py
        from django.core.mail import send_mail

        def forward(row):
            send_mail(row.subject, row.text, None, [row.to])  # send
        """,
        "function shop.mail.forward",
    ),
}


def names(program: str, root: Path) -> list[str]:
    """Where the name of each mail was read and what it is."""
    return sorted({f"{one.template.source} {one.template.value}" for one in analysis_of(program, root).inventory.sends})


@pytest.mark.parametrize(("program", "name"), NAMED.values(), ids=NAMED)
def test_a_mail_is_named(program: str, name: str, tmp_path: Path) -> None:
    assert names(program, tmp_path) == [name]


@pytest.mark.parametrize(
    "program",
    [program for program, _ in NAMED.values() if "# send" in program],
    ids=[n for n in NAMED if "decorator" not in n],
)
def test_a_send_stands_where_its_template_is_known(program: str, tmp_path: Path) -> None:
    sends = analysis_of(program, tmp_path).inventory.sends
    lines = (tmp_path / "shop/mail.py").read_text().splitlines()
    assert [(send.place.path, lines[send.place.line - 1].endswith("# send")) for send in sends] == [
        ("shop/mail.py", True)
    ]


def test_alternatives_are_several_mails(tmp_path: Path) -> None:
    program = """
        --- shop/mail.py
        from django.core.mail import EmailMessage, get_connection
        from django.template.loader import render_to_string

        def build(name, to):
            return EmailMessage("A letter", render_to_string(f"mail/{name}.txt", {}), to=[to])

        def tell(people, late):
            messages = []
            for one in people:
                messages.append(build("paid", one))
            for one in late:
                messages.append(build("late", one))
            get_connection().send_messages(messages)
    """
    assert names(program, tmp_path) == ["template mail/late.txt", "template mail/paid.txt"]


def test_the_entry_of_a_constant_key_decides(tmp_path: Path) -> None:
    program = """
        --- shop/mail.py
        from django.core.mail import send_mail

        class Events:
            PAID = "paid"
            LATE = "late"

        def tell_paid(to):
            send_mail("Paid", "Thank you", None, [to])

        def tell_late(to):
            send_mail("Late", "Please pay", None, [to])

        def handlers():
            return {Events.PAID: tell_paid, Events.LATE: tell_late}

        def notify(event, to):
            if event not in handlers():
                return
            handler = handlers()[event]
            handler(to)

        def paid(to):
            notify(Events.PAID, to)

        def late(to):
            notify("late", to)
    """
    sends = analysis_of(program, tmp_path).inventory.sends
    told = {(send.template.value, route.trigger.function) for send in sends for route in send.routes}
    assert told == {("Paid", "shop.mail.paid"), ("Late", "shop.mail.late")}


def test_the_branch_that_a_constant_takes_decides(tmp_path: Path) -> None:
    program = """
        --- shop/post.py
        from django.core.mail import send_mail
        from django.template.loader import render_to_string

        def deliver(to, formal=False):
            if formal:
                send_mail("Paid", render_to_string("mail/formal.txt", {}), None, [to])
            else:
                send_mail("Paid", render_to_string("mail/plain.txt", {}), None, [to])
        --- shop/mail.py
        from shop.post import deliver

        def paid(to):
            deliver(to, formal=True)
    """
    routes = {
        send.template.value: [route.trigger.function for route in send.routes]
        for send in analysis_of(program, tmp_path).inventory.sends
    }
    assert routes == {"mail/formal.txt": ["shop.mail.paid"], "mail/plain.txt": []}


def test_a_librarys_own_template_names_its_mail(tmp_path: Path) -> None:
    program = """
        --- shop/mail.py
        from djmail.template_mail import MagicMailBuilder

        mails = MagicMailBuilder()

        def paid(user):
            email = mails.invoice_paid(user, {"user": user})
            email.send()
    """
    assert names(program, tmp_path) == ["template invoice_paid"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("mail/paid/subject.txt", "mail/paid/body.html", True),
        ("mail/paid_subject.txt", "mail/paid_body.txt", True),
        ("mail/paid.html", "mail/paid.txt", True),
        ("mail/paid.html.j2", "mail/paid.mjml", True),
        ("mail/paid/subject.txt", "mail/late/subject.txt", False),
        ("mail/paid.html", "news/paid.html", False),
        ("subject.txt", "body.txt", False),
    ],
)
def test_parts_of_one_mail_are_one(one: str, other: str, same: bool) -> None:
    assert (identity(one) == identity(other)) is same


EVENTS = """
        --- shop/mail.py
        from django.core.mail import send_mail

        class Events:
            PAID = "paid"
            LATE = "late"
            GONE = "gone"

        KNOWN = [Events.PAID, Events.LATE]

        def tell(kind, to):
            send_mail(kind, "Hello", None, [to])

        def notify(event, to):
            if event not in KNOWN:
                return
            if event == Events.PAID:
                send_mail("Paid", "Thank you", None, [to])
            elif event == Events.LATE:
                send_mail("Late", "Please pay", None, [to])
            else:
                send_mail("Gone", "Farewell", None, [to])

        def pay(to, soon):
            notify(%s, to)
"""


@pytest.mark.parametrize(
    ("event", "mails"),
    [
        ("Events.PAID", {"Paid"}),
        ("Events.PAID if soon else Events.LATE", {"Paid", "Late"}),
        ("Events.GONE if soon else 'moved'", set()),
    ],
)
def test_one_of_two_constants_decides(event: str, mails: set[str], tmp_path: Path) -> None:
    sends = analysis_of(EVENTS % event, tmp_path).inventory.sends
    assert {s.template.value for s in sends if any(r.trigger.function == "shop.mail.pay" for r in s.routes)} == mails
