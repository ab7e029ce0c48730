"""A small Django project with a scheduled job, for the rules about marks."""

from __future__ import annotations

MODELS = """
from django.db import models
from django.utils import timezone


class Letter(models.Model):
    email = models.EmailField()
    phone = models.CharField(max_length=20)
    state = models.CharField(max_length=9, default="open")
    active = models.BooleanField(default=True)
    due_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)
    told_on = models.DateField(null=True)
    told = models.BooleanField(default=False)
    tries = models.IntegerField(default=0)

    def mark_told(self):
        self.told_at = timezone.now()
        self.save(update_fields=["told_at"])


class Note(models.Model):
    letter = models.ForeignKey(Letter, on_delete=models.CASCADE, related_name="notes")
    kind = models.CharField(max_length=9)

    class Meta:
        unique_together = ("letter", "kind")


class Visit(models.Model):
    letter = models.ForeignKey(Letter, on_delete=models.CASCADE)
    text = models.CharField(max_length=9)
"""
SETTINGS = """
CELERY_BEAT_SCHEDULE = {"run": {"task": "shop.tasks.job", "schedule": 60.0}}
"""
HEAD = """
import logging
import datetime
from datetime import timedelta
import redis
import requests
from celery import shared_task
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from .models import Letter, Note, Visit

log = logging.getLogger(__name__)
kv = redis.Redis()


def tell(letter):
    send_mail("Hello", "text", None, [letter.email])


def text(number):
    requests.post("https://text.example/send", json={"to": number}).raise_for_status()


@shared_task
def job():
"""
ONE = HEAD.replace("def job():", "def job(pk):\n    letter = Letter.objects.get(pk=pk)")
"""The head of a job for one letter, which is no scheduled one."""


LATER = """

@shared_task
def tell_later(pk):
    tell(Letter.objects.get(pk=pk))
"""
AGAIN = """

def tell_again(letter):
    send_mail("Hello again", "text", None, [letter.email])
"""


def scheduled(body: str) -> dict[str, str]:
    """A project whose job runs on a schedule."""
    return {**single(HEAD + body.removeprefix("\n")), "shop/settings.py": SETTINGS}


def single(text: str) -> dict[str, str]:
    """A project with the text of a module of jobs, and the helpers that it names."""
    text += LATER if "tell_later" in text else ""
    text += AGAIN if "tell_again" in text else ""
    return {"shop/__init__.py": "", "shop/models.py": MODELS, "shop/tasks.py": text}
