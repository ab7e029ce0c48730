"""The arguments that a call of a library hands on to the function that it runs."""

from __future__ import annotations

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import Call, Value

Given = tuple[tuple[str, ...], tuple[Value, ...]]
"""Names ("" for positional ones) and values."""


def job_arguments(evaluator: Evaluator, call: Call, entry: v.Enqueue) -> Given:
    """The arguments of the job in an enqueueing call."""
    if entry.args or entry.kwargs:
        return _packed(evaluator, call, entry)
    taken = {one.partition("|")[0] for one in (*entry.job, *entry.options)}
    skip = 0 if "receiver" in entry.job else 1
    kept: list[tuple[str, Value]] = []
    for name, value in zip(call.names, call.args, strict=True):
        if name == "" and skip:
            skip -= 1
        elif name not in taken or name in ("", "*", "**"):
            kept.append((name, value))
    return _given(kept)


def invoke_arguments(evaluator: Evaluator, call: Call, entry: v.Invoke) -> Given:
    """The arguments of the function in a call that calls it."""
    if entry.args or entry.kwargs:
        return _packed(evaluator, call, entry)
    position = next((int(p) for p in (one.partition("|")[2] for one in entry.function) if p.isdigit()), -1)
    keyword = {one.partition("|")[0] for one in entry.function}
    kept: list[tuple[str, Value]] = []
    seen = -1
    for name, value in zip(call.names, call.args, strict=True):
        seen += name == ""
        if not ((name == "" and seen <= position) or name in keyword - {""}):
            kept.append((name, value))
    return _given(kept)


def _packed(evaluator: Evaluator, call: Call, entry: v.Enqueue | v.Invoke) -> Given:
    """Arguments that stand in a tuple and a dict of their own."""
    packed = arguments.first_argument(evaluator, call, entry.args)
    named = arguments.first_argument(evaluator, call, entry.kwargs)
    return _given([(name, value) for name, value in (("*", packed), ("**", named)) if value is not None])


def _given(pairs: list[tuple[str, Value]]) -> Given:
    return tuple(name for name, _ in pairs), tuple(value for _, value in pairs)
