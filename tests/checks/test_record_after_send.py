"""SO302: what says that a mail was sent is written when it has gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from checks.shop import ONE, single
from sendonce.checks import record_after_send

SILENT = {
    "nothing behind the mail": "    tell(letter)\n",
    "a claim before the mail": """
    if Letter.objects.filter(pk=pk, told=False).update(told=True):
        tell(letter)
        letter.mark_told()
""",
    "a counter": "    tell(letter)\n    Letter.objects.filter(pk=pk).update(tries=F('tries') + 1)\n",
    "another counter": "    tell(letter)\n    letter.tries += 1\n    letter.save()\n",
    "a log line": "    tell(letter)\n    log.info('told %s', pk)\n",
    "a row that may be there often": "    tell(letter)\n    Visit.objects.create(letter=letter, text='x')\n",
    "another row": "    other = Letter.objects.first()\n    tell(letter)\n    cache.set('now', 1)\n",
    "what another call that mails remembers": """
    tell(letter)
    tell_again(letter)
    nudge(letter)
""",
    "a row of another matter": """
    tell(letter)
    Visit.objects.filter(letter=letter).update(text="told")
""",
    "what the mail failed with": """
    try:
        tell(letter)
    except OSError:
        letter.state = "failed"
        letter.save()
""",
    "a write before the mail": "    letter.mark_told()\n    tell(letter)\n",
}
NUDGE = """

def nudge(letter):
    letter.mark_told()
    tell(letter)
"""
FAULTY = {
    "a time": "    tell(letter)\n    letter.mark_told()\n",
    "a state": "    tell(letter)\n    letter.state = 'told'\n    letter.save()\n",
    "an update": "    tell(letter)\n    Letter.objects.filter(pk=pk).update(told=True)\n",
    "a row that can be there once": "    tell(letter)\n    Note.objects.create(letter=letter, kind='told')\n",
    "a key": "    tell(letter)\n    kv.set(f'told:{pk}', 1)\n",
    "SQL text": """
    tell(letter)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE shop_letter SET told_at = now() WHERE id = %s", [pk])
""",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    text = ONE + body.removeprefix("\n") + (NUDGE if "nudge" in body else "")
    assert findings(single(text), tmp_path, "SO302") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_call_that_leads_to_the_mail(body: str, tmp_path: Path) -> None:
    text = ONE + body.removeprefix("\n").replace("tell(letter)", "tell(letter)  # here")
    found = findings(single(text), tmp_path, "SO301", "SO302", "SO303")
    assert [(one.code, one.place.line) for one in found] == [("SO302", line_of(text, "# here"))]


def test_the_innermost_function_from_which_both_are_reached(tmp_path: Path) -> None:
    text = ONE + "    deliver(letter)\n\n\ndef deliver(letter):\n    tell(letter)  # here\n    letter.mark_told()\n"
    found = findings(single(text), tmp_path, "SO301", "SO302", "SO303")
    assert [(one.code, one.place.line) for one in found] == [("SO302", line_of(text, "# here"))]
    assert any(path == "shop/models.py" for path, _ in lines(found[0]))


def test_a_repository_that_the_job_makes(tmp_path: Path) -> None:
    text = """
    import smtplib
    from flask import Flask

    app = Flask(__name__)


    class Rows:
        def __init__(self, connection):
            self.connection = connection

        def mark(self, number):
            self.connection.execute("UPDATE orders SET told = true WHERE id = %s", (number,))


    class Teller:
        def __init__(self, rows, to):
            self.rows = rows
            self.to = to

        def run(self, number):
            smtplib.SMTP("localhost").sendmail("a@x.example", self.to, f"Subject: Order {number}")  # here
            self.rows.mark(number)


    @app.post("/<int:number>")
    def tell(number):
        Teller(Rows(app.connection), "b@x.example").run(number)
    """
    found = findings({"app.py": text}, tmp_path, "SO301", "SO302", "SO303")
    assert [(one.code, one.place.line) for one in found] == [("SO302", line_of(text, "# here"))]


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(record_after_send.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Parcel\n\ndef text(parcel):\n    return 'x'\n\n"
    models = "from django.db import models\n\nclass Parcel(models.Model):\n    email = models.EmailField()\n"
    models += "    announced_at = models.DateTimeField(null=True)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO302")) == wanted, name
