"""SO408: a scheduled run whose rows stay in its selection."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from checks.shop import MODELS, scheduled
from sendonce.checks import selection_not_consumed

SILENT = {
    "a mark that the loop looks at": """
    for letter in Letter.objects.filter(active=True, due_at__lte=timezone.now()):
        if letter.told_on is not None and timezone.now().date() - letter.told_on < timedelta(days=7):
            continue
        tell(letter)
        letter.told_on = timezone.now().date()
        letter.save()
""",
    "the mark that is read": """
    for letter in Letter.objects.filter(told_at=None):
        tell(letter)
        letter.mark_told()
""",
    "marks on both ways": """
    for letter in Letter.objects.filter(state__in=["open", "late"]):
        tell(letter)
        if letter.state == "open":
            letter.state = "told"
        else:
            letter.state = "warned"
        letter.save()
""",
    "a mark where the mail went out": """
    for letter in Letter.objects.filter(told_at=None):
        try:
            tell(letter)
        except OSError:
            log.exception("not sent")
            continue
        letter.mark_told()
""",
    "a digest of what is pending": """
    for state in Letter.objects.filter(told_at=None).values_list("state", flat=True).distinct():
        for letter in Letter.objects.filter(active=True):
            tell(letter)
""",
    "an audience by intent": "    for letter in Letter.objects.filter(active=True):\n        tell(letter)\n",
    "a period that passes": """
    for letter in Letter.objects.filter(due_at__date=timezone.localdate() + timedelta(days=3)):
        tell(letter)
""",
    "a window that passes": """
    now = timezone.now()
    for letter in Letter.objects.filter(due_at__gte=now, due_at__lt=now + timedelta(hours=1)):
        tell(letter)
""",
    "rows that are counted": """
    for letter in Letter.objects.filter(active=True):
        tell(letter)
        Letter.objects.filter(pk=letter.pk).update(tries=F("tries") + 1)
""",
}
FAULTY = {
    "a mark nobody sets": """
    for letter in Letter.objects.filter(told_at__isnull=True):  # here
        tell(letter)
""",
    "another column": """
    for letter in Letter.objects.filter(told=False):  # here
        tell(letter)
        letter.mark_told()
""",
    "one state of two": """
    for letter in Letter.objects.filter(state__in=["open", "late"]):  # here
        tell(letter)
        if letter.state == "open":
            letter.state = "told"
            letter.save()
""",
    "a date that has come": """
    for letter in Letter.objects.filter(due_at__lte=timezone.now()):  # here
        tell(letter)
""",
    "a state that stays in the selection": """
    for letter in Letter.objects.filter(told_on__isnull=True, state__in=["open", "late"]):  # here
        letter.state = "late"
        letter.save()
        tell(letter)
""",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(scheduled(body), tmp_path, "SO408") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_selection(body: str, tmp_path: Path) -> None:
    files = scheduled(body)
    found = findings(files, tmp_path, "SO301", "SO302", "SO303", "SO404", "SO408")
    assert [one.code for one in found] == ["SO408"]
    assert ("shop/tasks.py", line_of(files["shop/tasks.py"], "# here")) in lines(found[0])


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(selection_not_consumed.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Domain\n\ndef soon():\n    return now()\n\n"
    models = MODELS.replace("Letter", "Domain").replace("told_at", "warned_at").replace("due_at", "expires_on")
    models = models.replace(
        "state =", "name = models.TextField()\n    noticed_at = models.DateTimeField()\n    state ="
    )
    settings = 'CELERY_BEAT_SCHEDULE = {"run": {"task": "shop.tasks.warn", "schedule": 60.0}}\n'
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/settings.py": settings}
        files["shop/tasks.py"] = head + given[name]
        assert len(findings(files, tmp_path / name, "SO408")) == wanted, name
