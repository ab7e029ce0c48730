"""Two faults that lose a mail: what keeps the second mail away keeps away the first of the next event too."""

from __future__ import annotations

import sqlite3
import threading

import paper
import pytest
from flask.testing import FlaskClient
from newsroom.db import engine
from paper import ANNA
from smtp_server import Mailbox
from steps import deliver, work


@pytest.mark.loses("SO305 newsroom/jobs/subscribers.py::mail_purchase")
def test_two_articles_bought_by_one_reader(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    reader = paper.reader()
    for slug in ("tide", "storm"):
        article = paper.article(slug)
        browser.post("/purchases", json={"reader": reader, "article": article})
    work()
    assert mailbox.to(ANNA) == ["You have bought The tide"] * (3 - times)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.loses("SO503 newsroom/views/hooks.py::printers")
def test_print_run_while_the_database_is_locked(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    event = {"id": "evt_1", "type": "print.ordered", "printer": ANNA, "copies": 9000}
    lock = sqlite3.connect(str(engine.url.database))
    lock.execute("BEGIN IMMEDIATE")
    answer = deliver(browser, "/hooks/printers", event)
    wait_for_threads()
    lock.rollback()
    lock.close()
    if answer.status_code != 200:  # else the provider believes that it has arrived
        deliver(browser, "/hooks/printers", event)
    work()
    assert mailbox.to(ANNA) == ["Print run: 9000"] * (2 - times)


def wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name.endswith("(print_run)"):
            thread.join(20)
