"""Provider sends: every spelling that hands a mail to a provider (its line ends in `# hit`), and look-alikes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from linking import analysis_of

SENDS = {
    "a client whose service a helper is told": """
        --- shop/clients.py
        import boto3
        import googleapiclient.discovery

        def aws(name, region="eu-west-1"):
            return boto3.client(name, region_name=region)

        def google(config, service: str, version: str) -> googleapiclient.discovery.Resource:
            credentials = config.credentials
            return googleapiclient.discovery.build(service, version, credentials=credentials)
        --- shop/mail.py
        from shop.clients import aws, google

        def receipt(to):
            aws("ses").send_email(Source="a@b.c", Destination={"ToAddresses": [to]}, Message={})  # hit

        def stored(data):
            aws("s3").put_object(Bucket="b", Key="k", Body=data)
            google(None, "drive", "v3").files().create(body=data).execute()

        def deliver(service, message):
            service.users().messages().send(userId="me", body=message).execute()  # hit

        def news(config, message):
            deliver(google(config, "gmail", "v1"), message)
    """,
    "a function under another name": """
        --- shop/mail.py
        from django.core.mail import send_mail as deliver

        def receipt(to):
            deliver("Paid", "Thank you.", None, [to])  # hit
    """,
    "a message that was made by a helper": """
        --- shop/make.py
        from django.core.mail import EmailMultiAlternatives

        def build(subject, to):
            return EmailMultiAlternatives(subject, "Thank you.", to=[to])
        --- shop/mail.py
        from shop.make import build

        def receipt(to):
            build("Paid", to).send()  # hit
    """,
    "a message that was given to a helper": """
        --- shop/deliver.py
        def deliver(messages):
            for message in messages:
                message.send()  # hit
        --- shop/mail.py
        from django.core.mail import EmailMessage
        from shop.deliver import deliver

        def receipt(to):
            deliver([EmailMessage("Paid", "Thank you.", to=[to])])
    """,
    "messages that a generator makes": """
        --- shop/mail.py
        from django.core.mail import EmailMessage

        def messages(people):
            for one in people:
                yield EmailMessage("News", "All of it.", to=[one])

        def deliver(batch):
            for message in batch:
                message.send()  # hit

        def news(people):
            deliver(messages(people))
    """,
    "a project's message class": """
        --- shop/messages.py
        from django.core.mail import EmailMessage

        class Letter(EmailMessage):
            def send(self, fail_silently=False):
                self.extra_headers["X-Shop"] = "1"
                return super().send(fail_silently)  # hit
        --- shop/mail.py
        from shop.messages import Letter

        def receipt(to):
            Letter("Paid", "Thank you.", to=[to]).send()
    """,
    "a row's method that gives a message": """
        --- shop/models.py
        from django.core.mail import EmailMessage
        from django.db import models

        class Letter(models.Model):
            subject = models.TextField()

            def message(self):
                return EmailMessage(self.subject, "Thank you.")

        class Failure(models.Model):
            letter = models.ForeignKey(Letter, on_delete=models.CASCADE)
        --- shop/mail.py
        from shop.models import Failure

        def again():
            for failure in Failure.objects.filter(done=False):
                failure.letter.message().send()  # hit
    """,
    "a connection that sends a list": """
        --- shop/mail.py
        from django.core import mail

        def news(people):
            messages = []
            for one in people:
                messages.append(mail.EmailMessage("News", "All of it.", to=[one]))
            with mail.get_connection() as connection:
                connection.send_messages(messages)  # hit
    """,
    "a project's mail backend": """
        --- shop/backend.py
        from django.core.mail.backends.base import BaseEmailBackend

        class Backend(BaseEmailBackend):
            def send_messages(self, email_messages):
                for message in email_messages:
                    message.send()  # hit
    """,
    "an SMTP connection that a factory gives": """
        --- shop/smtp.py
        import smtplib

        def connect(tls):
            server = smtplib.SMTP_SSL("mail.example.org") if tls else smtplib.SMTP("mail.example.org")
            server.login("shop", "secret")
            return server
        --- shop/mail.py
        from shop.smtp import connect

        def receipt(to, message):
            server = connect(True)
            server.sendmail("shop@example.org", [to], message.as_string())  # hit
            server.quit()
    """,
    "an SMTP connection that a context manager gives": """
        --- shop/mail.py
        import smtplib
        from contextlib import contextmanager

        @contextmanager
        def server():
            connection = smtplib.SMTP("mail.example.org")
            try:
                yield connection
            finally:
                connection.quit()

        def receipt(message):
            with server() as smtp:
                smtp.send_message(message)  # hit
    """,
    "a client that is kept on the object": """
        --- shop/mail.py
        import boto3

        class Mailer:
            def __init__(self, region):
                self.client = boto3.client("ses", region_name=region)

            def receipt(self, to):
                self.client.send_email(  # hit
                    Source="shop@example.org",
                    Destination={"ToAddresses": [to]},
                    Message={"Subject": {"Data": "Paid"}, "Body": {"Text": {"Data": "Thank you."}}},
                )
    """,
    "a client that the constructor is given": """
        --- shop/mailer.py
        class Mailer:
            def __init__(self, connection):
                self.connection = connection

            def receipt(self, message):
                self.connection.send_messages([message])  # hit
        --- shop/mail.py
        from django.core.mail import EmailMessage, get_connection
        from shop.mailer import Mailer

        def receipt(to):
            Mailer(get_connection()).receipt(EmailMessage("Paid", "Thank you.", to=[to]))
    """,
    "a client of a session that nobody knows": """
        --- shop/mail.py
        class Mailer:
            def __init__(self, client):
                self._client = client

            @classmethod
            def create(cls, context, request):
                return cls(request.find_service(name="aws").client("ses", region_name="eu-west-1"))

            def receipt(self, raw):
                self._client.send_raw_email(RawMessage={"Data": raw})  # hit
    """,
    "a client in a variable that a function fills": """
        --- shop/mail.py
        import boto3

        _client = None

        def client():
            global _client
            if _client is None:
                _client = boto3.client("sesv2")
            return _client

        def receipt(to):
            client().send_email(  # hit
                FromEmailAddress="shop@example.org",
                Destination={"ToAddresses": [to]},
                Content={"Template": {"TemplateName": "paid"}},
            )
    """,
    "an extension of the application": """
        --- shop/extensions.py
        from flask_mail import Mail

        mail = Mail()
        --- shop/mail.py
        from flask_mail import Message
        from shop.extensions import mail

        def receipt(to):
            mail.send(Message("Paid", recipients=[to]))  # hit
    """,
    "a partial": """
        --- shop/mail.py
        from functools import partial
        from django.core.mail import send_mail

        deliver = partial(send_mail, from_email="shop@example.org")

        def receipt(to):
            deliver("Paid", "Thank you.", recipient_list=[to])  # hit
    """,
    "a post to a provider's host": """
        --- shop/mail.py
        import requests

        API = "https://api.postmarkapp.com"

        def receipt(to):
            requests.post(f"{API}/email", json={"To": to, "Subject": "Paid"})  # hit
    """,
    "a post below a client's base": """
        --- shop/settings.py
        RESEND_URL = "https://api.resend.com"
        --- shop/mail.py
        import httpx
        from shop.settings import RESEND_URL

        class Sender:
            def __init__(self):
                self.client = httpx.AsyncClient(base_url=RESEND_URL)

            async def receipt(self, to):
                await self.client.post("/emails", json={"to": to, "subject": "Paid"})  # hit
    """,
    "a post to a host that only a setting's name tells": """
        --- shop/mail.py
        import requests
        from django.conf import settings

        def receipt(to):
            requests.post(settings.MAILGUN_BASE_URL + "/messages", data={"to": [to], "subject": "Paid"})  # hit
    """,
    "a request that is made first": """
        --- shop/mail.py
        import json
        from urllib.request import Request, urlopen

        def receipt(to):
            body = json.dumps({"to": [to], "subject": "Paid"}).encode()
            request = Request("https://api.resend.com/emails", data=body, method="POST")
            urlopen(request)  # hit
    """,
}

OTHERS = {
    "signals, sockets and actors": """
        --- shop/other.py
        import socket
        from django.core.mail import EmailMessage
        from django.dispatch import Signal

        paid = Signal()

        def tell(order, actor):
            paid.send(sender=None, order=order)
            paid.send_robust(sender=None)
            actor.send(order.pk)
            with socket.create_connection(("example.org", 25)) as connection:
                connection.send(b"order")
    """,
    "a project's class with a mail library's words": """
        --- shop/other.py
        import smtplib

        class SMTP:
            def send_message(self, message):
                print(message)

        class Mailer:
            def sendmail(self, to, text):
                SMTP().send_message(text)

        def tell(to):
            Mailer().sendmail(to, "paid")
    """,
    "a helper above the provider send": """
        --- shop/other.py
        from shop.post import send_mail

        def tell(to):
            send_mail("Paid", to)
        --- shop/post.py
        def send_mail(subject, to):
            print(subject, to)
    """,
    "a connection that is only opened": """
        --- shop/other.py
        import smtplib
        from django.core.mail import get_connection

        def check():
            smtplib.SMTP("mail.example.org").noop()
            connection = get_connection()
            connection.open()
            connection.close()
    """,
    "posts to other hosts": """
        --- shop/other.py
        import requests

        MAILGUN_KEY = "key"

        def tell(text):
            requests.post("https://hooks.example.org/services/mailgun", json={"text": text})
            requests.get("https://api.mailgun.net/v3/example.org/messages")
    """,
    "another service of the same client": """
        --- shop/other.py
        import boto3

        def tell(text):
            boto3.client("sns").publish(Message=text)
            boto3.client("sqs").send_message(QueueUrl="q", MessageBody=text)
    """,
    "notifications to a chat": """
        --- shop/other.py
        import apprise

        def tell(url, text):
            sender = apprise.Apprise()
            sender.add(url)
            sender.notify(body=text, title="Paid")
    """,
}


def found(program: str, root: Path) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """The provider calls of a program, by file and line, and the lines that are marked."""
    text = textwrap.dedent(program)
    text = text if "--- shop/mail.py" in text else f"--- shop/mail.py\n\n{text.lstrip()}"
    calls = analysis_of(text, root).inventory.calls
    marked = {
        (path.relative_to(root).as_posix(), number)
        for path in root.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith("# hit")
    }
    return {(call.place.path, call.place.line) for call in calls if not call.marked}, marked


@pytest.mark.parametrize("program", SENDS.values(), ids=SENDS)
def test_a_send_is_found(program: str, tmp_path: Path) -> None:
    calls, marked = found(program, tmp_path)
    assert marked
    assert calls == marked


@pytest.mark.parametrize("program", OTHERS.values(), ids=OTHERS)
def test_nothing_else_is_taken_for_mail(program: str, tmp_path: Path) -> None:
    calls, _ = found(program, tmp_path)
    assert calls == set()


def test_sends_of_tests_and_copies_of_libraries_are_listed_and_marked(tmp_path: Path) -> None:
    program = """
        --- shop/mail.py
        from shop.vendor.django_mail.message import EmailMessage

        def receipt(to):
            EmailMessage("Paid", to).send()
        --- shop/vendor/django_mail/message.py
        import smtplib

        class EmailMessage:
            def __init__(self, subject, to):
                self.subject = subject
                self.to = to

            def send(self):
                smtplib.SMTP("mail.example.org").sendmail("shop@example.org", [self.to], self.subject)
        --- tests/test_mail.py
        from django.core.mail import send_mail

        def test_mail():
            send_mail("Paid", "Thank you.", None, ["you@example.org"])
    """
    calls = analysis_of(program, tmp_path).inventory.calls
    assert [(call.place.path, call.marked) for call in calls] == [
        ("shop/mail.py", ""),
        ("shop/vendor/django_mail/message.py", "vendored"),
        ("tests/test_mail.py", "test"),
    ]


def test_a_key_that_the_provider_honours_is_seen(tmp_path: Path) -> None:
    program = """
        --- shop/mail.py
        import requests
        import resend

        def receipt(to, key):
            resend.Emails.send({"to": to, "subject": "Paid"}, {"idempotency_key": key})
            requests.post(
                "https://api.resend.com/emails",
                json={"to": to, "subject": "Paid"},
                headers={"Idempotency-Key": key},
            )
            requests.post("https://api.resend.com/emails", json={"to": to, "subject": "Paid"})
    """
    seeds = analysis_of(program, tmp_path).summaries.providers.found()
    assert [seed.send.key for seed in seeds] == [True, True, False]
