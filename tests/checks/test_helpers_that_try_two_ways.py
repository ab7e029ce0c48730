"""SO301: a helper that hands a mail to one of several servers sends it once for those who call it."""

from __future__ import annotations

from pathlib import Path

from checks.project import findings, line_of, lines

MAIL = """
import smtplib

def deliver(to, answer):
    text = load(to)
    if answer:
        primary(to, text)  # first
    else:
        secondary(to, text)  # second


def load(to):
    with open(to) as file:
        return file.read()


def primary(to, text):
    try:
        smtplib.SMTP("a").sendmail("me@x.example", to, text)
    except OSError:
        smtplib.SMTP("b").sendmail("me@x.example", to, text)


def secondary(to, text):
    smtplib.SMTP("c").sendmail("me@x.example", to, text)
"""
VIEWS = """
from flask import Flask, request
from .mail import deliver

app = Flask(__name__)


@app.post("/answers")
def answer():
    deliver(request.form["to"], request.form["text"])
    return ""
"""


def test_one_mail_is_told_of_once(tmp_path: Path) -> None:
    files = {"shop/__init__.py": "", "shop/mail.py": MAIL, "shop/views.py": VIEWS}
    (found,) = findings(files, tmp_path, "SO301")
    assert found.place.line == line_of(MAIL, "# first")
    assert ("shop/mail.py", line_of(MAIL, "# second")) in lines(found)
