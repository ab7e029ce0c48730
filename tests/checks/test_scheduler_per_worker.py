"""SO406: a scheduler in every worker process of a web application."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import scheduler_per_worker

JOBS = """
import smtplib
from datetime import date
from redis import Redis

kv = Redis(host="redis")


def remind():
    smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Soon")


def remind_once():
    if kv.set(f"remind:{date.today()}", 1, nx=True, ex=172800):
        remind()


def remind_alone():
    with kv.lock("remind", timeout=3600, blocking=False):
        remind()


def sweep():
    kv.delete("old")
"""
FLASK = """
import fcntl
import os
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.schedulers.blocking import BlockingScheduler
from flask import Flask
from .jobs import kv, remind, remind_alone, remind_once, sweep

"""
SILENT = {
    "a script": """
def main():
    scheduler = BlockingScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    scheduler.start()


if __name__ == "__main__":
    main()
""",
    "a module of its own": """
scheduler = BlockingScheduler()
scheduler.add_job(remind, "cron", hour=7)
scheduler.start()
""",
    "a command of the app": """
app = Flask(__name__)


@app.cli.command("clock")
def clock():
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    scheduler.start()
""",
    "no mail": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(sweep, "cron", hour=7)
    scheduler.start()
    return app
""",
    "another scheduler mails": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(sweep, "cron", hour=7)
    scheduler.start()
    return app


def main():
    scheduler = BlockingScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    scheduler.start()
""",
    "each run claims its day": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind_once, "cron", hour=7)
    scheduler.start()
    return app
""",
    "each run is alone": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind_alone, "cron", hour=7)
    scheduler.start()
    return app
""",
    "one process is told to": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    if os.environ.get("CLOCK") == "1":
        scheduler.start()
    return app
""",
    "one process holds a lock for its life": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    fcntl.flock(open("/run/clock", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    scheduler.start()
    return app
""",
}
FAULTY = {
    "in the factory": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    scheduler.start()  # here
    return app
""",
    "at import": """
app = Flask(__name__)
scheduler = BackgroundScheduler()


@scheduler.scheduled_job("interval", hours=1)
def job():
    remind()


scheduler.start()  # here
""",
    "in a helper": """
scheduler = BackgroundScheduler()


def begin():
    scheduler.add_job(remind, "cron", hour=7)
    scheduler.start()  # here


def make():
    app = Flask(__name__)
    begin()
    return app
""",
    "guarded from the reloader alone": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    if os.environ.get("WERKZEUG_RUN_MAIN") == "true":
        scheduler.start()  # here
    return app
""",
    "a lock that runs out": """
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(remind, "cron", hour=7)
    if kv.set("clock", 1, nx=True, ex=60):
        scheduler.start()  # here
    return app
""",
}


def project(body: str) -> dict[str, str]:
    return {"gym/__init__.py": "", "gym/jobs.py": JOBS, "gym/app.py": FLASK + body.lstrip("\n")}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO406") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_start_of_the_scheduler(body: str, tmp_path: Path) -> None:
    files = project(body)
    (found,) = findings(files, tmp_path, "SO406")
    assert (found.place.path, found.place.line) == ("gym/app.py", line_of(files["gym/app.py"], "# here"))
    assert (found.severity, found.assumes) == ("error", ("more than one worker process",))
    assert ("gym/jobs.py", line_of(JOBS, "sendmail(")) in lines(found)


STARTED = """
import asyncio
import threading
import time
from contextlib import asynccontextmanager
from fastapi import FastAPI
from fastapi_utils.tasks import repeat_every
from .jobs import remind, sweep


async def often():
    while True:
        remind()
        await asyncio.sleep(60)


def often_in_a_thread():
    while True:
        remind()
        time.sleep(60)


async def once():
    remind()


@asynccontextmanager
async def lifespan(app):
    {}
    yield


app = FastAPI(lifespan=lifespan)
"""


@pytest.mark.parametrize(
    "call", ["asyncio.create_task(often())", "threading.Thread(target=often_in_a_thread, daemon=True).start()"]
)
def test_a_loop_by_hand_is_a_scheduler(call: str, tmp_path: Path) -> None:
    text = STARTED.format(call)
    (found,) = findings({**project(""), "gym/app.py": text}, tmp_path, "SO406")
    assert found.place.line == line_of(text, call)


def test_work_done_once_at_the_start_is_none(tmp_path: Path) -> None:
    text = STARTED.format("asyncio.create_task(once())")
    assert findings({**project(""), "gym/app.py": text}, tmp_path, "SO406") == []


def test_what_repeats_itself_from_a_start_up_hook(tmp_path: Path) -> None:
    hook = '\n\n@app.on_event("startup")\n@repeat_every(seconds=60)\nasync def minutely():\n    remind()\n'
    text = STARTED.format("pass") + hook
    (found,) = findings({**project(""), "gym/app.py": text}, tmp_path, "SO406")
    assert found.place.line == line_of(text, "@repeat_every")


def test_the_scheduler_of_another_module(tmp_path: Path) -> None:
    clock = "from apscheduler.schedulers.asyncio import AsyncIOScheduler\nfrom .jobs import remind\n\n"
    clock += 'scheduler = AsyncIOScheduler()\nscheduler.add_job(remind, "interval", minutes=5)\n'
    text = STARTED.format("scheduler.start()").replace("from .jobs", "from .clock import scheduler\nfrom .jobs")
    (found,) = findings({**project(""), "gym/app.py": text, "gym/clock.py": clock}, tmp_path, "SO406")
    assert (found.place.path, found.place.line) == ("gym/app.py", line_of(text, "scheduler.start()"))


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(scheduler_per_worker.RULE.doc)
    for name, wanted in (("Bad", 1), ("Good", 0)):
        text = FLASK.replace("remind,", "remind as send_reminders,") + given[name]
        assert len(findings({**project(""), "gym/app.py": text}, tmp_path / name, "SO406")) == wanted, name
