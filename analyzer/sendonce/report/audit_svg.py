"""The picture of a mail as inline SVG: lanes from top to bottom, time from left to right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from sendonce.audit.model import LANES, Arrow, Lane, Picture, Stop
from sendonce.report.text import visible

BOX_WIDTH, BOX_HEIGHT = 190, 44
GAP_X, GAP_Y = 54, 14
LANE_LABEL, LANE_PAD = 76, 12
_LONGEST_TITLE, _LONGEST_NOTE = 23, 27
_SMALLEST = 0.7
"""How much the picture may shrink before it is scrolled."""
_MARKS = {
    "guard": ("✓", "reserved here"),
    "transaction": ("T", "a transaction is open"),
    "retry": ("↻", "may run again"),
}


@dataclass(frozen=True)
class _Frame:
    """Where the lanes begin, how high each is, and the whole size."""

    tops: dict[Lane, int]
    heights: dict[Lane, int]
    width: int
    height: int


def drawn(picture: Picture, label: str) -> Markup:
    """The picture as an `svg` element; `label` says what it shows."""
    frame = _frame(picture)
    at = {stop.number: _corner(stop, frame) for stop in picture.stops}
    stops = {stop.number: stop for stop in picture.stops}
    parts = [*_lanes(frame)]
    parts += [_arrow(arrow, at, stops) for arrow in picture.arrows]
    parts += [_stop(stop, *at[stop.number]) for stop in picture.stops]
    # The parts are escaped where they are made.
    return Markup(  # noqa: S704
        f'<svg class="picture" role="img" aria-label="{escape(visible(label))}" width="{frame.width}"'
        f' style="min-width:{round(frame.width * _SMALLEST)}px" viewBox="0 0 {frame.width} {frame.height}">'
        f"{''.join(parts)}</svg>"
    )


def _frame(picture: Picture) -> _Frame:
    columns = 1 + max(stop.column for stop in picture.stops)
    tops: dict[Lane, int] = {}
    heights: dict[Lane, int] = {}
    top = 0
    for lane in LANES:
        rows = [stop.row for stop in picture.stops if stop.lane == lane]
        if rows:
            tops[lane] = top
            heights[lane] = (max(rows) + 1) * (BOX_HEIGHT + GAP_Y) - GAP_Y + 2 * LANE_PAD
            top += heights[lane]
    return _Frame(tops, heights, LANE_LABEL + columns * (BOX_WIDTH + GAP_X) - GAP_X + LANE_PAD, top)


def _corner(stop: Stop, frame: _Frame) -> tuple[int, int]:
    x = LANE_LABEL + stop.column * (BOX_WIDTH + GAP_X)
    return x, frame.tops[stop.lane] + LANE_PAD + stop.row * (BOX_HEIGHT + GAP_Y)


def _lanes(frame: _Frame) -> Iterator[str]:
    for number, (lane, top) in enumerate(frame.tops.items()):
        height = frame.heights[lane]
        yield f'<rect class="lane l{number % 2}" y="{top}" width="{frame.width}" height="{height}"/>'
        yield f'<text class="lane-name" x="8" y="{top + height // 2 + 4}">{lane}</text>'


def _arrow(arrow: Arrow, at: dict[int, tuple[int, int]], stops: dict[int, Stop]) -> str:
    left, top = at[arrow.source]
    right, bottom = at[arrow.target]
    x1, y1 = left + BOX_WIDTH, top + BOX_HEIGHT // 2
    x2, y2 = right - 5, bottom + BOX_HEIGHT // 2
    bend = max(24, (x2 - x1) // 2)
    word = arrow.hop if arrow.hop not in ("call", "send") else f"{arrow.calls} calls" if arrow.calls > 1 else ""
    said = f"{stops[arrow.source].title} → {stops[arrow.target].title}: {arrow.hop}"
    path = (
        f'<path class="arrow {arrow.hop}" d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}">'
        f"<title>{_text(said, 300)}</title></path>"
        f'<path class="head" d="M{x2 + 4} {y2}l-7 -4v8z"/>'
    )
    label = f'<text class="hop" x="{x2 - 4}" y="{y2 - 6}">{word}</text>' if word else ""
    return path + label


def _stop(stop: Stop, x: int, y: int) -> str:
    kind = "send" if stop.lane == "mail" and stop.what and not stop.count > 1 else ""
    bad = " bad" if stop.codes else ""
    trigger = " trigger" if stop.column == 0 else ""
    place = f"{stop.place.path}:{stop.place.line}"
    title = f"{stop.count} × {stop.what.partition(' ')[0] or 'function'}" if stop.count > 1 else _short(stop.title)
    below = f"{_short(stop.title)} …" if stop.count > 1 else stop.what or place
    marks = "".join(_mark(mark, x, y, number) for number, mark in enumerate(stop.marks))
    codes = _codes(stop, x, y)
    return (
        f'<g class="stop {kind}{trigger}{bad}"><title>{_text(f"{stop.title} ({place}) {stop.what}", 300)}</title>'
        f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>'
        f'<text x="{x + 9}" y="{y + 19}">{_text(title, _LONGEST_TITLE)}</text>'
        f'<text class="small" x="{x + 9}" y="{y + 35}">{_text(below, _LONGEST_NOTE)}</text>{marks}{codes}</g>'
    )


def _mark(mark: str, x: int, y: int, number: int) -> str:
    sign, said = _MARKS[mark]
    cx = x + BOX_WIDTH - 12 - 20 * number
    return (
        f'<g class="mark {mark}"><title>{said}</title><circle cx="{cx}" cy="{y + BOX_HEIGHT - 2}" r="9"/>'
        f'<text x="{cx}" y="{y + BOX_HEIGHT + 2}">{sign}</text></g>'
    )


def _codes(stop: Stop, x: int, y: int) -> str:
    if not stop.codes:
        return ""
    words = " ".join(stop.codes[:2]) + (f" +{len(stop.codes) - 2}" if len(stop.codes) > 2 else "")
    width = 7 * len(words) + 8
    return (
        f'<g class="code"><rect x="{x + 6}" y="{y - 8}" width="{width}" height="15" rx="3"/>'
        f'<text x="{x + 10}" y="{y + 3}">{words}</text></g>'
    )


def _short(dotted: str) -> str:
    """The end of a dotted name: the class and the function."""
    parts = dotted.split(".")
    kept = [part for part in parts[-2:] if part]
    short = ".".join(kept)
    return short if len(short) <= _LONGEST_TITLE else parts[-1]


def _text(text: str, most: int) -> Markup:
    text = visible(text)
    return escape(text if len(text) <= most else text[: most - 1] + "…")
