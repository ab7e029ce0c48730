"""Where the ways of a mail meet: the place of the one reservation that guards them all."""

from __future__ import annotations

from pathlib import Path

from auditing import SHOP
from linking import analysis_of
from sendonce.audit.meeting import meeting
from sendonce.audit.ways import paths_by_mail


def places(program: str, root: Path, mail: str, in_job: bool = False) -> list[str]:
    """The functions of the calls at which the ways of a mail meet, as `function:line`."""
    analysis = analysis_of(program, root)
    found = meeting(paths_by_mail(analysis)[mail], in_job)
    return [f"{analysis.program.function(site.function).dotted}:{site.at[0]}" for site in found]


def test_ways_through_one_helper_meet_where_it_sends(tmp_path: Path) -> None:
    assert places(SHOP, tmp_path, "mails/receipt.txt")[0] == "shop.mailing.send_receipt:10"


def test_all_that_follows_on_every_way_is_told(tmp_path: Path) -> None:
    found = places(SHOP, tmp_path, "mails/receipt.txt")
    assert found == ["shop.mailing.send_receipt:10", "shop.mailing.deliver:6"]


def test_two_sends_of_a_mail_meet_in_the_helper_behind_them(tmp_path: Path) -> None:
    program = SHOP + (
        "--- shop/signals.py\n"
        "from django.db.models.signals import post_save\n"
        "from django.dispatch import receiver\n"
        "from shop.mailing import deliver\n"
        "from shop.models import Order\n"
        "@receiver(post_save, sender=Order)\n"
        "def saved(sender, instance, created, **kw):\n"
        "    if created:\n"
        "        deliver('mails/receipt.txt', instance.email)\n"
    )
    assert places(program, tmp_path, "mails/receipt.txt") == ["shop.mailing.deliver:6"]


def test_two_sends_by_two_provider_calls_meet_nowhere(tmp_path: Path) -> None:
    program = """
--- shop/views.py
from django.core.mail import send_mail
from django.http import HttpRequest
def ask(request: HttpRequest):
    send_mail("Welcome", "b", None, ["a@b.c"])
def ask_again(request: HttpRequest):
    send_mail("Welcome", "b", None, ["a@b.c"])
"""
    assert places(program, tmp_path, "Welcome") == []


def test_what_a_queue_runs_again_is_guarded_in_the_job(tmp_path: Path) -> None:
    program = """
--- shop/tasks.py
from celery import shared_task
from django.core.mail import send_mail
@shared_task(autoretry_for=(Exception,))
def mail(subject, to):
    send_mail(subject, "b", None, [to])
--- shop/views.py
from django.http import HttpRequest
from shop.tasks import mail
def ask(request: HttpRequest):
    mail.delay("Welcome", request.user.email)
"""
    assert places(program, tmp_path / "a", "Welcome")[0] == "shop.views.ask:4"
    assert places(program, tmp_path / "b", "Welcome", in_job=True)[0] == "shop.tasks.mail:5"
