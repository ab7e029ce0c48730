"""Programs that machines write: twice the branches, callers or triggers may not cost eight times as much."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from linking import analysis_of

HEAD = "from celery import shared_task\nfrom django.core.mail import send_mail\n"


def _branches(count: int) -> str:
    ifs = (f"    if order.flag{i}:\n        send_mail('news {i}', 'b', None, [order.email])\n" for i in range(count))
    return f"{HEAD}@shared_task\ndef run(order):\n{''.join(ifs)}"


def _leaving(count: int) -> str:
    ifs = (
        f"    if order.flag{i}:\n        return\n    send_mail('news {i}', 'b', None, [order.email])\n"
        for i in range(count)
    )
    return f"{HEAD}@shared_task\ndef run(order):\n{''.join(ifs)}"


def _dispatcher(count: int) -> str:
    ways = (f"    elif kind == {i}:\n        send_mail('news {i}', 'b', None, ['x@y.z'])\n" for i in range(count))
    return f"{HEAD}@shared_task\ndef run(kind):\n    if kind is None:\n        pass\n{''.join(ways)}"


def _two_ways_a_step(count: int) -> str:
    ways = "    if order.flag{0}:\n        step{1}(order)\n    else:\n        step{1}(order)\n"
    steps = (f"def step{i}(order):\n{ways.format(i, i + 1)}" for i in range(count))
    last = f"def step{count}(order):\n    send_mail('news', 'b', None, [order.email])\n"
    return f"{HEAD}{''.join(steps)}{last}@shared_task\ndef run(order):\n    step0(order)\n"


def _calls_of_one_helper(count: int) -> str:
    calls = "".join(f"    tell({i})\n" for i in range(count))
    helper = "def tell(kind):\n    send_mail('news', 'b', None, ['x@y.z'])\n"
    return f"{HEAD}{helper}@shared_task\ndef run(order):\n{calls}"


def _all_call_all(count: int) -> str:
    calls = "".join(f"    step{i}(order)\n" for i in range(count))
    steps = (f"def step{i}(order):\n{calls}    send_mail('news {i}', 'b', None, [order.email])\n" for i in range(count))
    return f"{HEAD}{''.join(steps)}@shared_task\ndef run(order):\n    step0(order)\n"


def _jobs_of_one_helper(count: int) -> str:
    helper = "def tell(order):\n    send_mail('news', 'b', None, [order.email])\n"
    jobs = (f"@shared_task\ndef run{i}(order):\n    tell(order)\n" for i in range(count))
    return f"{HEAD}{helper}{''.join(jobs)}"


def _chain(count: int) -> str:
    steps = (f"def step{i}(order):\n    step{i + 1}(order)\n" for i in range(count))
    last = f"def step{count}(order):\n    send_mail('news', 'b', None, [order.email])\n"
    return f"{HEAD}{''.join(steps)}{last}@shared_task\ndef run(order):\n    step0(order)\n"


Program = Callable[[int], str]

GROWING: dict[str, tuple[Program, int, int, int]] = {
    "branches": (_branches, 100, 200, 1),
    "branches that leave": (_leaving, 60, 120, 1),
    "a dispatcher": (_dispatcher, 100, 200, 1),
    "two ways a step": (_two_ways_a_step, 40, 1, 1),
    "calls of one helper": (_calls_of_one_helper, 200, 1, 1),
    "functions that all call each other": (_all_call_all, 12, 24, 1),
    "jobs of one helper": (_jobs_of_one_helper, 200, 1, 400),
    "a chain": (_chain, 150, 1, 1),
}
"""The program, its small size, and how many mails and triggers it has at twice that size."""


@pytest.mark.parametrize("name", GROWING)
def test_cost_grows_with_the_program(name: str, tmp_path: Path) -> None:
    program, size, mails, triggers = GROWING[name]
    small = _cost(program(size), tmp_path / "small")[0]
    large, found = _cost(program(2 * size), tmp_path / "large")
    assert found == (mails, triggers)
    assert large < 6 * small + 0.5


def _cost(text: str, root: Path) -> tuple[float, tuple[int, int]]:
    """The processor time of an analysis, and how many mails and triggers it found."""
    started = time.process_time()
    inventory = analysis_of(f"--- shop/jobs.py\n{text}", root).inventory
    cost = time.process_time() - started
    mails = {send.template.value for send in inventory.sends if send.routes and send.place.path == "shop/jobs.py"}
    return cost, (len(mails), sum(trigger.place.path == "shop/jobs.py" for trigger in inventory.triggers))
