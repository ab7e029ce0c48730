"""SO503: a webhook that says "received" before anything was kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.hooks import HEAD, site
from checks.project import examples, findings, line_of
from sendonce.checks import webhook_acks_before_record

SILENT = {
    "errors come out": """
    keep(event["id"])
    queue.enqueue(mail, event["to"])
    return "", 200
""",
    "kept before the thread": """
    keep(event["id"])
    threading.Thread(target=mail, args=(event["to"],)).start()
    return "", 200
""",
    "claimed before the thread": """
    if redis.set("event:" + event["id"], 1, nx=True, ex=604800):
        threading.Thread(target=mail, args=(event["to"],)).start()
    return "", 200
""",
    "a queue keeps it": """
    queue.enqueue(work, event)
    return "", 200
""",
    "an error is answered": """
    try:
        work(event)
    except Exception:
        log.exception("event")
        return "", 500
    return "", 200
""",
    "an error aborts": """
    try:
        work(event)
    except Exception:
        log.exception("event")
        abort(503)
    return "", 200
""",
    "an error is told by a flag": """
    status = 200
    try:
        work(event)
    except Exception:
        status = 500
    return "", status
""",
    "a repeat": """
    try:
        keep(event["id"])
    except IntegrityError:
        return "", 200
    queue.enqueue(mail, event["to"])
    return "", 200
""",
    "kept before what may fail": """
    keep(event["id"])
    try:
        mail(event["to"])
    except Exception:
        log.exception("event")
    return "", 200
""",
    "the handler keeps it": """
    try:
        work(event)
    except Exception:
        redis.rpush("failed", event["id"])
    return "", 200
""",
    "what cannot be read": """
    try:
        to = event["to"]
    except (KeyError, ValueError):
        return "", 200
    queue.enqueue(mail, to)
    return "", 200
""",
    "only the log may fail": """
    keep(event["id"])
    try:
        log.info("event %s", event["id"])
    except Exception:
        pass
    queue.enqueue(mail, event["to"])
    return "", 200
""",
}
THREAD = {
    "thread": """
    threading.Thread(target=work, args=(event,)).start()
    return "", 200
""",
    "pool": """
    pool.submit(work, event)
    return "", 200
""",
}
SWALLOWED = {
    "answered in the handler": """
    try:
        keep(event["id"])
        queue.enqueue(mail, event["to"])
    except Exception:
        log.exception("event")
        return "", 200  # here
    return "", 200
""",
    "answered behind it": """
    try:
        work(event)
    except Exception:
        log.exception("event")
    return {"ok": True}  # here
""",
    "bare": """
    try:
        work(event)
    except:
        pass
    return "", 204  # here
""",
    "the store's own error": """
    try:
        keep(event["id"])
        queue.enqueue(mail, event["to"])
    except OperationalError:
        return "later"  # here
    return "", 200
""",
    "in a helper": """
    quietly(event)
    return "", 200  # here
""",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(site(body), tmp_path, "SO503") == []


def test_silent_where_the_answer_tells_the_helpers_verdict(tmp_path: Path) -> None:
    text = HEAD.replace('log.exception("event %s", event["id"])', "return False\n    return True")
    text += '    if not quietly(event):\n        return "", 500\n    return "", 200\n'
    assert findings({**site(""), "site/web.py": text}, tmp_path, "SO503") == []


@pytest.mark.parametrize("body", THREAD.values(), ids=THREAD)
def test_work_that_dies_with_the_process(body: str, tmp_path: Path) -> None:
    (found,) = findings(site(body), tmp_path, "SO503")
    assert found.place.line == len(HEAD.strip("\n").splitlines()) + 1
    assert found.severity == "warning"


@pytest.mark.parametrize("body", SWALLOWED.values(), ids=SWALLOWED)
def test_errors_that_become_success(body: str, tmp_path: Path) -> None:
    (found,) = findings(site(body), tmp_path, "SO503")
    assert found.place.line == len(HEAD.strip("\n").splitlines()) + line_of(body, "# here")


ASYNC = """
import smtplib
from fastapi import BackgroundTasks, FastAPI, HTTPException, Request
from .store import keep

app = FastAPI()


def mail(to):
    smtplib.SMTP("localhost").sendmail("a@x.example", to, "Subject: Paid")


@app.post("/webhooks/pay")
async def paid(request: Request, tasks: BackgroundTasks):
    event = await request.json()
    {}tasks.add_task(mail, event["to"])
    return {{"ok": True}}
"""


def test_background_tasks(tmp_path: Path) -> None:
    for kept, wanted in (('keep(event["id"])\n    ', 0), ("", 1)):
        text = ASYNC.format(kept)
        files = {**site(""), "site/web.py": text}
        found = findings(files, tmp_path / str(wanted), "SO503")
        assert [one.place.line for one in found] == [line_of(text, "add_task")] * wanted


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(webhook_acks_before_record.RULE.doc)
    head = "import logging\nfrom flask import Flask\nfrom .jobs import send_payout\n"
    head += "from .store import keep as store_event\n\n"
    head += "app = Flask(__name__)\nlog = logging.getLogger()\n\n\ndef verified_json():\n    return {}\n\n\n"
    jobs = "import smtplib\nfrom celery import shared_task\n\n\n@shared_task\ndef send_payout(id):\n"
    jobs += "    smtplib.SMTP('localhost').sendmail('a@x.example', 'b@x.example', 'Subject: Paid')\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {**site(""), "site/jobs.py": jobs, "site/web.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO503")) == wanted, name
