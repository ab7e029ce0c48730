"""The picture of a mail: what is drawn, in which lane and column."""

from __future__ import annotations

from pathlib import Path

from auditing import SHOP, audit_of
from sendonce.audit.model import Picture
from sendonce.audit.picture import MOST_STOPS


def picture_of(program: str, root: Path, mail: str) -> Picture:
    found = next(one.picture for one in audit_of(program, root).mails if one.name == mail)
    assert found is not None
    return found


def test_triggers_stand_left_and_the_provider_right(tmp_path: Path) -> None:
    picture = picture_of(SHOP, tmp_path, "mails/receipt.txt")
    first = sorted(stop.title for stop in picture.stops if stop.column == 0)
    assert first == ["shop.views.checkout", "shop.views.paid"]
    last = max(stop.column for stop in picture.stops)
    assert [stop.title for stop in picture.stops if stop.column == last] == ["django.core.mail.send_mail"]


def test_what_a_job_does_is_in_the_lane_of_the_queue(tmp_path: Path) -> None:
    lanes = {stop.title: stop.lane for stop in picture_of(SHOP, tmp_path, "mails/reminder.txt").stops}
    assert lanes["shop.views.checkout"] == "web"
    assert lanes["shop.tasks.remind"] == "queue"


def test_findings_and_retries_are_marked_where_they_stand(tmp_path: Path) -> None:
    stops = {stop.title: stop for stop in picture_of(SHOP, tmp_path, "mails/reminder.txt").stops}
    assert "SO401" in stops["shop.tasks.remind"].codes
    assert "retry" in stops["shop.tasks.remind"].marks
    assert "transaction" in stops["shop.views.checkout"].marks


def test_functions_that_only_hand_on_are_part_of_an_arrow(tmp_path: Path) -> None:
    program = """
--- shop/views.py
from django.http import HttpRequest
from shop.mail import receipt
def a(order):
    receipt(order)
def b(order):
    a(order)
def ask(request: HttpRequest):
    b(request.user)
"""
    picture = picture_of(program, tmp_path, "Your receipt")
    assert [arrow.calls for arrow in picture.arrows if arrow.hop == "call"] == [3]


def test_many_triggers_alike_are_drawn_as_one(tmp_path: Path) -> None:
    views = "".join(f"def v{number}(request: HttpRequest):\n    receipt(request.user)\n" for number in range(60))
    program = f"--- shop/views.py\nfrom django.http import HttpRequest\nfrom shop.mail import receipt\n{views}"
    picture = picture_of(program, tmp_path, "Your receipt")
    assert len(picture.stops) <= MOST_STOPS
    assert max(stop.count for stop in picture.stops) == 60


def test_functions_that_call_each_other_are_drawn(tmp_path: Path) -> None:
    program = """
--- shop/views.py
from django.http import HttpRequest
from shop.mail import receipt
def even(n, order):
    if n:
        odd(n - 1, order)
    receipt(order)
def odd(n, order):
    even(n - 1, order)
def ask(request: HttpRequest):
    even(4, request.user)
"""
    titles = [stop.title for stop in picture_of(program, tmp_path, "Your receipt").stops]
    assert "shop.views.even" in titles


def test_stops_of_one_lane_and_column_do_not_lie_on_each_other(tmp_path: Path) -> None:
    for mail in audit_of(SHOP, tmp_path).mails:
        assert mail.picture is not None
        cells = [(stop.lane, stop.column, stop.row) for stop in mail.picture.stops]
        assert len(cells) == len(set(cells))
