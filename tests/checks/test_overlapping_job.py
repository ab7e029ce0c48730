"""SO404: two runs of a schedule that take the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from checks.shop import HEAD, MODELS, scheduled, single
from sendonce.checks import overlapping_job

SILENT = {
    "each row is claimed": """
    for letter in Letter.objects.filter(told_at=None):
        if Letter.objects.filter(pk=letter.pk, told_at=None).update(told_at=timezone.now()):
            tell(letter)
""",
    "rows are locked until they are marked": """
    with transaction.atomic():
        for letter in Letter.objects.select_for_update(skip_locked=True).filter(told_at=None):
            tell(letter)
            letter.mark_told()
""",
    "a lock of the run": """
    with kv.lock("letters", timeout=600):
        for letter in Letter.objects.filter(told_at=None):
            tell(letter)
            letter.mark_told()
""",
    "a lock of the run that is given back": """
    if not kv.set("letters", 1, nx=True, ex=600):
        return
    try:
        for letter in Letter.objects.filter(told_at=None):
            tell(letter)
            letter.mark_told()
    finally:
        kv.delete("letters")
""",
    "rows that nobody is mailed about": """
    for letter in Letter.objects.filter(told_at=None):
        letter.mark_told()
""",
    "an audience": """
    for letter in Letter.objects.filter(active=True):
        tell(letter)
""",
}
FAULTY = {
    "a flag": """
    for letter in Letter.objects.filter(told_at__isnull=True):  # here
        tell(letter)
        letter.mark_told()
""",
    "a query in steps": """
    letters = Letter.objects.exclude(told=True).order_by("due_at")[:50]  # here
    for letter in letters.iterator():
        tell(letter)
        Letter.objects.filter(pk=letter.pk).update(told=True)
""",
    "jobs for the rows": """
    due = Letter.objects.filter(Q(told_at=None), due_at__lte=timezone.now()).values_list("pk", flat=True)  # here
    for pk in due:
        tell_later.delay(pk)
    Letter.objects.filter(pk__in=list(due)).update(told_at=timezone.now())
""",
    "a mark before the mail": """
    for letter in list(Letter.objects.filter(state="open")):  # here
        letter.state = "told"
        letter.save()
        tell(letter)
""",
    "rows that are deleted": """
    for letter in Letter.objects.filter(state="open"):  # here
        tell(letter)
        letter.delete()
""",
    "a row that excludes": """
    for letter in Letter.objects.exclude(notes__kind="told"):  # here
        tell(letter)
        Note.objects.create(letter=letter, kind="told")
""",
    "rows of rows, asked for one by one": """
    for visit in Visit.objects.filter(text="open"):
        letters = Letter.objects.filter(visit=visit, told_at=None).order_by("pk")  # here
        for letter in letters.iterator():
            tell(letter)
            letter.mark_told()
""",
    "SQL text": """
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, email FROM shop_letter WHERE told = false")  # here
        for id, email in cursor.fetchall():
            send_mail("Hello", "text", None, [email])
            cursor.execute("UPDATE shop_letter SET told = true WHERE id = %s", [id])
""",
    "a lock of one process": """
    with LOCK:
        for letter in Letter.objects.filter(told_at=None):  # here
            tell(letter)
            letter.mark_told()
""",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(scheduled(body), tmp_path, "SO404", "SO408") == []


TAKEN = """
from contextlib import contextmanager


@contextmanager
def taken(name, seconds=600):
    got = kv.set(name, 1, nx=True, ex=seconds)
    try:
        yield got
    finally:
        if got:
            kv.delete(name)


"""
UNDER = {
    "a selection": """
    with taken("letters") as got:
        if got:
            for letter in Letter.objects.filter(told_at=None):
                tell(letter)
                letter.mark_told()
""",
    "a test in the loop": """
    with taken("letters") as got:
        if not got:
            return
        for letter in Letter.objects.filter(active=True):
            if letter.told_at is None:
                tell(letter)
                letter.told_at = timezone.now()
                letter.save()
""",
}


@pytest.mark.parametrize("body", UNDER.values(), ids=UNDER)
def test_a_context_manager_that_tells_whether_it_holds_the_lock(body: str, tmp_path: Path) -> None:
    files = scheduled(body)
    files["shop/tasks.py"] = files["shop/tasks.py"].replace("@shared_task\ndef job", f"{TAKEN}@shared_task\ndef job")
    assert findings(files, tmp_path, "SO302", "SO303", "SO404", "SO408") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_selection(body: str, tmp_path: Path) -> None:
    files = scheduled(body)
    text = files["shop/tasks.py"].replace(
        "@shared_task\ndef job", "import threading\nLOCK = threading.Lock()\n\n\n@shared_task\ndef job"
    )
    files["shop/tasks.py"] = text
    found = findings(files, tmp_path, "SO301", "SO302", "SO303", "SO404", "SO408", "SO311")
    assert [one.code for one in found if "shop.tasks.job" in {t.function for t in one.triggers}] == ["SO404"]
    assert ("shop/tasks.py", line_of(text, "# here")) in lines(found[-1])
    assert found[-1].severity == "error"


def test_a_job_that_no_schedule_starts_is_another_fault(tmp_path: Path) -> None:
    body = "    for letter in Letter.objects.filter(told_at=None):\n        tell(letter)\n        letter.mark_told()\n"
    assert findings(single(HEAD + body), tmp_path, "SO404") == []


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(overlapping_job.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Letter\n\n"
    models = MODELS.replace("told_at", "sent_at").replace(
        "state =", "subject = models.TextField()\n    text = models.TextField()\n    state ="
    )
    settings = 'CELERY_BEAT_SCHEDULE = {"run": {"task": "shop.tasks.send_due", "schedule": 60.0}}\n'
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/settings.py": settings}
        files["shop/tasks.py"] = head + given[name]
        assert len(findings(files, tmp_path / name, "SO404")) == wanted, name
