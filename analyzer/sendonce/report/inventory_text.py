"""The inventory for people: the sends of each mail with what triggers them, then mail by trigger kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import get_args

from sendonce.findings import Inventory, Report, Route, Send, TriggerKind
from sendonce.report import View
from sendonce.report.text import Paint, cut, plural

_KINDS: tuple[TriggerKind, ...] = get_args(TriggerKind)
_WIDEST_NAME = 48


def render(report: Report, view: View) -> str:
    """Sends grouped by mail, the matrix, and the counts."""
    inventory = report.inventory
    by_mail: dict[str, list[Send]] = defaultdict(list)
    for send in inventory.sends:
        by_mail[_mail(send)].append(send)
    paint = Paint(view.color)
    blocks = ["\n".join(_mail_block(mail, by_mail[mail], paint)) for mail in sorted(by_mail)]
    if by_mail:
        blocks.append("\n".join(_matrix(by_mail)))
    return "\n\n".join([*blocks, _counts(inventory)]) + "\n"


def _mail(send: Send) -> str:
    return cut(send.template.value) if send.template.value else "(no template known)"


def _mail_block(mail: str, sends: Sequence[Send], paint: Paint) -> Iterator[str]:
    yield paint(mail, bold=True)
    for send in sends:
        yield f"  {cut(send.place.path)}:{send.place.line}  {cut(send.function)}  by {cut(send.call.api)}"
        if not send.routes:
            yield "    nothing known leads here"
        yield from (f"    {_route(route)}" for route in send.routes)


def _route(route: Route) -> str:
    trigger = route.trigger
    words = [f"{trigger.kind:<14}", f"{cut(trigger.place.path)}:{trigger.place.line} ", cut(trigger.function)]
    if trigger.detail:
        words.append(f" {cut(trigger.detail)}")
    states = (("in a transaction", route.in_transaction), ("guarded", route.guarded))
    marks = [text for text, holds in states if holds]
    return " ".join([*words, f" ({', '.join(marks)})"] if marks else words)


def _matrix(by_mail: dict[str, list[Send]]) -> Iterator[str]:
    """How many trigger routes of each kind lead to each mail; kinds that never occur have no column."""
    counts = {mail: Counter(r.trigger.kind for s in sends for r in s.routes) for mail, sends in by_mail.items()}
    kinds = [kind for kind in _KINDS if any(count[kind] for count in counts.values())]
    width = min(_WIDEST_NAME, max(map(len, by_mail)))
    yield " ".join([" " * width, *(f"{kind:>{len(kind) + 1}}" for kind in kinds)]).rstrip()
    for mail in sorted(by_mail):
        name = mail if len(mail) <= width else "…" + mail[1 - width :]
        cells = (f"{counts[mail][kind] or '·':>{len(kind) + 1}}" for kind in kinds)
        yield " ".join([f"{name:<{width}}", *cells])


def _counts(inventory: Inventory) -> str:
    mails = len({send.template.value for send in inventory.sends})
    parts = (
        plural(len(inventory.sends), "send"),
        plural(mails, "mail"),
        plural(len(inventory.calls), "provider call"),
        plural(len(inventory.triggers), "trigger"),
    )
    return ", ".join(parts) + "."
