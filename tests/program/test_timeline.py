"""Timelines: the steps of a way in the order of time, with retries and log lines, and which ways are meant."""

from __future__ import annotations

import pytest

from linking import analysis_of
from sendonce.checks import run_checks
from sendonce.program.timeline import Timelines, of_template, through

PROGRAM = """
--- shop/urls.py
from django.urls import path
from shop import views

urlpatterns = [path("pay/", views.pay), path("late/", views.late)]
--- shop/views.py
import logging
from django.db import transaction
from shop import tasks
from shop.mail import receipt

logger = logging.getLogger(__name__)


def pay(request):
    logger.info("paid %s", request.order)
    if request.quiet:
        logger.info("quiet")
    with transaction.atomic():
        logger.info(f"order {request.order} stored")
        tasks.thank.delay(request.order)
        logger.info("enqueued")
    return None


def late(request):
    try:
        receipt(request.order)
    except OSError:
        logger.error("no server")
    logger.info("told")
--- shop/tasks.py
import logging
from celery import shared_task
from django.core.mail import send_mail

logger = logging.getLogger(__name__)


@shared_task(autoretry_for=(Exception,), max_retries=3)
def thank(order):
    logger.info("job for %s", order)
    send_mail("Thanks", "", None, [order.email])
    logger.info("sent to %s", order)
    if order.big:
        logger.warning("big")
"""


@pytest.fixture
def analysis(tmp_path):
    return analysis_of(PROGRAM, tmp_path)


def steps(timeline):
    return [(step.hop, step.place.path.rpartition("/")[2], step.place.line) for step in timeline.steps]


def test_log_lines_and_retries_stand_where_they_come_in_time(analysis):
    (path,) = of_template(analysis.paths, "Thanks")
    assert steps(Timelines(analysis).of(path)) == [
        ("trigger", "views.py", 9),
        ("log", "views.py", 10),
        ("transaction", "views.py", 13),
        ("log", "views.py", 14),
        ("enqueue", "views.py", 15),
        ("retry", "tasks.py", 8),
        ("log", "tasks.py", 10),
        ("send", "tasks.py", 11),
        ("log", "tasks.py", 12),
    ]


def test_a_log_line_says_its_level_and_text(analysis):
    (path,) = of_template(analysis.paths, "Thanks")
    notes = [step.note for step in Timelines(analysis).of(path).steps if step.hop == "log"]
    assert notes == ['info "paid %s"', 'info "order {} stored"', 'info "job for %s"', 'info "sent to %s"']


def test_lines_that_only_some_runs_write_are_left_out(analysis):
    (path,) = of_template(analysis.paths, "Your receipt")
    logs = [step.note for step in Timelines(analysis).of(path).steps if step.hop == "log"]
    assert 'error "no server"' not in logs


def test_findings_are_those_of_the_mail_and_the_trigger(analysis):
    made = Timelines(analysis, run_checks(analysis))
    (thanks,) = of_template(analysis.paths, "Thanks")
    (receipt,) = of_template(analysis.paths, "Your receipt")
    assert "SO201" in {finding.code for finding in made.of(thanks).findings}
    assert all(finding.template == "Your receipt" for finding in made.of(receipt).findings)


@pytest.mark.parametrize(
    ("name", "count"), [("Thanks", 1), ("thank", 2), ("Your receipt", 1), ("RECEIPT", 1), ("refund", 0)]
)
def test_a_mail_is_meant_by_its_name_or_a_part_of_it(tmp_path, name, count):
    program = PROGRAM.replace(
        "    return None", '    from django.core.mail import send_mail\n    send_mail("Thank you", "", None, [])'
    )
    assert len(of_template(analysis_of(program, tmp_path).paths, name)) == count


@pytest.mark.parametrize(
    ("line", "functions"),
    [
        (15, {"shop.views.pay"}),  # a call on the way
        (9, {"shop.views.pay"}),  # the trigger itself
        (11, {"shop.views.pay"}),  # some other line of a function on the way
        (22, {"shop.views.late"}),
        (4, set()),
    ],
)
def test_a_line_means_the_ways_over_it(analysis, line, functions):
    assert {path.trigger.function for path in through(analysis, "shop/views.py", line)} == functions
