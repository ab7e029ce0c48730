"""The place that the plan proposes for a reservation is where the repaired sample has it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sendonce.config import Settings
from sendonce.run import audit
from sendonce.target import target_of

SAMPLES = Path(__file__).parents[2] / "sample_repos"
NAMES = sorted(path.name.removesuffix("-repaired") for path in SAMPLES.glob("*-repaired"))
CLAIMS = ("send_once", "claim", "reserve", "update(", "key=", "Idempotency-Key")
"""What the repaired trees claim with."""
ELSEWHERE = {
    "orders.tasks.send_order_confirmation": "the order itself is unique by the key of its form",
    "newsroom.jobs.subscribers.mail_started": "the subscription itself is unique by the key of its form",
}


def code_of(root: Path, dotted: str) -> str:
    """The source of a function of a tree; of a module, if nothing nearer is found."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        file = root.joinpath(*parts[:count]).with_suffix(".py")
        if file.is_file():
            node: ast.AST = ast.parse(file.read_text(encoding="utf-8"))
            for name in parts[count:]:
                inside = (one for one in ast.walk(node) if getattr(one, "name", "") == name)
                node = next(inside, node)
            return ast.unparse(node)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_reserves_where_the_repaired_tree_does(name: str) -> None:
    plan = audit(target_of([SAMPLES / name]), Settings()).plan
    proposed = [one.function for one in plan if one.reserves and one.risk != "note" and one.function not in ELSEWHERE]
    assert proposed
    missing = [
        function
        for function in proposed
        if not any(word in code_of(SAMPLES / f"{name}-repaired", function) for word in CLAIMS)
    ]
    assert missing == []


def test_there_are_samples() -> None:
    assert "storefront" in NAMES
