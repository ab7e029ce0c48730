"""`sendonce trace --log`: real lines over the ways of a mail. What must stay apart comes first."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from sendonce.config import Settings
from sendonce.run import incident, timelines
from sendonce.target import target_of

FILES = {
    "urls.py": (
        "from django.urls import path\nimport views\n"
        "urlpatterns = [path('pay/', views.pay), path('hook/', views.hook), path('other/', views.other)]\n"
    ),
    "mailing.py": (
        "import logging\nfrom django.core.mail import send_mail\n"
        "logger = logging.getLogger(__name__)\n"
        "def receipt(order):\n"
        "    logger.info('receipt of order %s goes out', order.pk)\n"
        "    send_mail('Your receipt', '', None, [order.email])\n"
    ),
    "views.py": (
        "import logging\nimport stripe\nfrom django.views.decorators.csrf import csrf_exempt\n"
        "from mailing import receipt\n"
        "logger = logging.getLogger(__name__)\n"
        "def pay(request):\n"
        "    logger.info(f'paid by form {request.order.pk}')\n"
        "    receipt(request.order)\n"
        "@csrf_exempt\n"
        "def hook(request):\n"
        "    event = stripe.Webhook.construct_event(request.body, request.headers['Stripe-Signature'], 's')\n"
        "    logger.info('payment event %s came in', event['id'])\n"
        "    receipt(event['data']['object'])\n"
        "def other(request):\n"
        "    logger.info('nothing of concern here')\n"
    ),
}
OPTIONS = ("--isolated", "--no-cache")
FORM = {"message": "paid by form 7"}
HOOK = {"message": "payment event evt_1 came in"}
SENT = {"message": "receipt of order 7 goes out"}


@pytest.fixture
def root(tree):
    return tree(FILES)


@pytest.fixture
def laid(cli, root, tmp_path):
    """The JSON of an incident for lines of a log, given as values (JSON lines) or text."""

    def run(*lines):
        log = tmp_path / "app.log"
        log.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        result = cli("trace", "Your receipt", root, "--log", log, "--output-format", "json", *OPTIONS)
        assert result.code == 0, result.err
        return json.loads(result.out)

    return run


def line(base, run, to="ann@example.org", **more):
    return {"time": "2026-11-30T10:00:00Z", **base, "request_id": run, "recipient": to, **more}


def kinds(told, attempt):
    return [told["ways"][number]["kind"] for number in attempt["ways"]]


def test_one_attempt_is_no_event_to_tell(laid):
    told = laid(line(FORM, "r1", order_id=7), line(SENT, "r1", order_id=7))
    assert told["events"] == []
    assert told["stats"] == {"lines": 2, "known": 2, "unread": 0, "attempts": 1, "events": 0}


def test_two_orders_of_one_person_are_two_events(laid):
    assert laid(line(SENT, "r1", order_id=7), line(SENT, "r2", order_id=8))["events"] == []


def test_two_persons_are_two_events(laid):
    assert laid(line(SENT, "r1"), line(SENT, "r2", to="bob@example.org"))["events"] == []


def test_a_batch_in_one_run_is_an_event_for_each_person(laid):
    told = laid(line(SENT, "r1"), line(SENT, "r1", to="bob@example.org"), line(SENT, "r1", to="eve@example.org"))
    assert told["events"] == []
    assert told["stats"]["attempts"] == 3


def test_lines_of_one_run_are_one_attempt_without_any_id_of_the_run(laid):
    first = {"recipient": "ann@example.org", "order_id": 7, **FORM}
    assert laid(first, {"recipient": "ann@example.org", "order_id": 7, **SENT})["events"] == []


def test_lines_of_other_code_are_left_aside(laid):
    told = laid({"message": "nothing of concern here", "request_id": "r1"}, "", "not a record at all")
    assert (told["stats"]["known"], told["stats"]["unread"]) == (0, 1)


def test_two_triggers_for_one_event(laid):
    told = laid(
        line(FORM, "r1", order_id=7),
        line(SENT, "r1", order_id=7),
        line(HOOK, "r2", order_id=7),
        line(SENT, "r2", order_id=7),
    )
    (event,) = told["events"]
    assert event["sure"]
    assert [kinds(told, attempt) for attempt in event["attempts"]] == [["controller"], ["webhook"]]
    assert [one["line"] for one in event["attempts"][1]["lines"]] == [3, 4]


def test_a_line_on_every_way_does_not_tell_which(laid):
    told = laid(line(SENT, "r1", order_id=7), line(SENT, "r2", order_id=7))
    (event,) = told["events"]
    assert [kinds(told, attempt) for attempt in event["attempts"]] == [["controller", "webhook"]] * 2


def test_a_line_that_comes_again_in_one_run_is_a_second_attempt(laid):
    (event,) = laid(line(SENT, "t1", order_id=7), line(SENT, "t1", order_id=7))["events"]
    assert [attempt["run"] for attempt in event["attempts"]] == ["t1", "t1"]


def test_only_the_address_ties_them(laid):
    (event,) = laid(line(SENT, "r1"), line(SENT, "r2"))["events"]
    assert not event["sure"]


def test_pairs_in_text_are_read(laid):
    said = f"INFO mailing {SENT['message']}"
    told = laid(
        f'2026-11-30 10:00:01,123 {said} request_id=r1 email="ann@example.org" order_id=7',
        f"2026-11-30 10:00:09,456 {said} request_id=r2 email=ann@example.org, order_id=7",
    )
    (event,) = told["events"]
    assert event["attempts"][0]["lines"][0]["time"] == "2026-11-30 10:00:01,123"
    assert event["attempts"][1]["recipient"] == "ann@example.org"


def test_values_inside_other_objects_are_read(laid):
    told = laid(
        *({"extra": {"request_id": run, "order_id": 7, "to": ["a@b.c"]}, "msg": SENT["message"]} for run in "ab")
    )
    assert [attempt["run"] for attempt in told["events"][0]["attempts"]] == ["a", "b"]


def test_a_line_that_names_the_mail_counts(laid):
    told = laid(*({"event": "sent", "subject": "Your receipt", "to": "a@b.c", "task_id": run} for run in "ab"))
    assert len(told["events"]) == 1
    assert told["events"][0]["attempts"][0]["lines"][0]["written_at"] is None


def test_hostile_lines_do_no_harm(cli, root, tmp_path):
    log = tmp_path / "app.log"
    evil = "\x1b[31m\u202e::error::x"
    rows = [line(SENT, run + evil, to=evil + "@b.c", order_id=evil) for run in "ab"]
    log.write_bytes(b"\xff\xfe{\n" + b"[" * 50_000 + b"\n" + "\n".join(map(json.dumps, rows)).encode() + b"\n{'a'\n")
    result = cli("trace", "Your receipt", root, "--log", log, *OPTIONS)
    assert result.code == 0
    assert "2 attempts" in result.out
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert not [text for text in result.out.splitlines() if text.lstrip().startswith("::")]


def test_text_tells_where_the_second_came_from(cli, root, tmp_path):
    log = tmp_path / "app.log"
    rows = [line(HOOK, run, order_id=7) for run in "ab"]
    log.write_text("\n".join(map(json.dumps, rows)))
    result = cli("trace", "Your receipt", root, "--log", log, *OPTIONS)
    assert "the same webhook delivered again" in result.out
    assert "views.py:12" in result.out


def test_a_log_that_is_not_there_is_an_error(cli, root, tmp_path):
    result = cli("trace", "Your receipt", root, "--log", tmp_path / "none.log", *OPTIONS)
    assert result.code == 2
    assert "--log" in result.err


def test_a_long_log_takes_no_more_memory_than_a_short_one(root):
    traced = timelines(target_of([root]), Settings(), "Your receipt")

    def peak(lines):
        rows = (json.dumps(line(SENT, f"r{n}", to=f"u{n}@example.org", order_id=n)) for n in range(lines))
        tracemalloc.start()
        told = incident(traced, rows)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert told.attempts == lines
        return top

    assert peak(4_000) < 1.5 * peak(2_000)


def test_a_line_that_names_another_mail_is_left_aside(laid):
    rows = [line(SENT, run, order_id=7, template="mails/other.txt") for run in "ab"]
    assert laid(*rows)["stats"]["known"] == 0
