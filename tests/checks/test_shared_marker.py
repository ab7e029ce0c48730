"""SO311: one mark for more than one effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from checks.shop import ONE, single
from sendonce.checks import shared_marker

GUARD = "    if letter.told_at is not None:\n        return\n"
SILENT = {
    "the mail alone": "    tell(letter)\n    letter.mark_told()\n",
    "a counter and a log line": """
    tell(letter)
    Letter.objects.filter(pk=pk).update(tries=F("tries") + 1)
    log.info("told %s", pk)
    letter.mark_told()
""",
    "an effect behind the mark": "    tell(letter)\n    letter.mark_told()\n    text(letter.phone)\n",
    "an effect whose error is passed over": """
    tell(letter)
    try:
        text(letter.phone)
    except OSError:
        log.exception("no text")
    letter.mark_told()
""",
    "an effect on another way": """
    if letter.phone:
        text(letter.phone)
    else:
        tell(letter)
        letter.mark_told()
""",
    "each recipient has a mark": """
    for letter in (letter, letter):
        tell(letter)
        letter.mark_told()
""",
    "rows made in another loop": """
    for visit in Visit.objects.filter(letter=letter):
        Note.objects.create(letter=visit.letter, kind="told")
        tell(visit.letter)
    for number in PHONES:
        Note.objects.create(letter=letter, kind=number)
""",
}
FAULTY = {
    "a mail and a text": """
    tell(letter)
    text(letter.phone)
    letter.told_at = timezone.now()  # here
    letter.save()
""",
    "a text and a mail": """
    text(letter.phone)
    tell(letter)
    letter.told_at = timezone.now()  # here
    letter.save()
""",
    "two mails": """
    tell(letter)
    tell_again(letter)
    Letter.objects.filter(pk=pk).update(told_at=timezone.now())  # here
""",
    "all recipients": """
    for visit in Visit.objects.filter(letter=letter):
        tell(visit.letter)
    letter.told_at = timezone.now()  # here
    letter.save()
""",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(single(ONE + GUARD + body.removeprefix("\n")), tmp_path, "SO311") == []


@pytest.mark.parametrize("guard", ["", GUARD], ids=["unread", "read"])
@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_mark(body: str, guard: str, tmp_path: Path) -> None:
    text = ONE + guard + body.removeprefix("\n")
    found = findings(single(text), tmp_path, "SO301", "SO302", "SO303", "SO311")
    assert {(one.code, one.place.line) for one in found} == {("SO311", line_of(text, "# here"))}


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(shared_marker.RULE.doc)
    head = "import requests\nfrom celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Notice\n\nSMS_URL = 'https://x.example'\n\n"
    models = "from django.db import models\n\nclass Notice(models.Model):\n    email = models.EmailField()\n"
    for name in ("delivered_at", "mailed_at", "texted_at"):
        models += f"    {name} = models.DateTimeField(null=True)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO311")) == wanted, name
