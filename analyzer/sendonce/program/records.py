"""Records of a mail: writes behind it that say it was sent, told by what they are about and not by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce.program import sql
from sendonce.program.about import About
from sendonce.program.constraints import plain
from sendonce.program.fields import text_of
from sendonce.program.held import Site
from sendonce.program.memory import Memory
from sendonce.program.paths import Path
from sendonce.program.selections import Selections
from sendonce.program.spots import Written
from sendonce.program.values import FALSE, Call, ClassRef, Const, Updated, Value, options
from sendonce.program.writes import Mark

if TYPE_CHECKING:
    from sendonce.program.uniques import Uniques


class Records:
    """Answers for paths."""

    def __init__(self, memory: Memory, selections: Selections, uniques: Uniques, paths: tuple[Path, ...]) -> None:
        self.memory = memory
        self.evaluator = memory.evaluator
        self.selections = selections
        self.uniques = uniques
        self.about = About(memory)
        self._mailing = frozenset(site.function for path in paths for site in path.sites())
        self.fields = memory.spots.fields

    def after(self, path: Path) -> Iterator[tuple[Site, Mark]]:
        """The records behind the mail, each with the call that leads to the mail in the same function; innermost first.

        A record is a state or a time on a row that the mail is about, a row that can be there only once,
        or a key, made from what the mail is made from. What a call writes that leads to another mail is not looked at.
        """
        about = self.about.models(path)
        inside = _behind_queue(path)
        for site, mark in self.memory.after(path):
            if site.function in inside and not self._mails(mark) and self._records(mark.written, site, about, path):
                yield site, mark

    def _mails(self, mark: Mark) -> bool:
        """Whether a mark is made in a call that leads to a mail itself: then it speaks of that one."""
        if mark.asked is None:
            return False
        return any(ref.id in self._mailing for ref, *_ in self.memory.writes.linker.callables(mark.asked.func))

    def _records(self, written: Written, site: Site, about: frozenset[str], path: Path) -> bool:
        if written.how == "delete":
            return False
        shares = bool(self.about.roots(self._given(written.row)) & self.about.roots((site.call,)))
        match written.spot.kind:
            case "field":
                known = bool(about) and bool(written.spot.owner)
                related = written.spot.owner in about if known else shares
                return related and self.selections.is_mark(written.value) and written.value is not FALSE
            case "row":
                made = self._made(written.row)
                return made is not None and shares and (self._is_once(made, written) or self._names_mail(made, path))
            case "key":
                return shares and self.selections.is_mark(written.value)
            case _:
                return False

    def _given(self, row: Value) -> tuple[Value, ...]:
        """What a row or statement is told by: the row itself, the arguments of a query, the fields of a new row."""
        if not isinstance(row, Call):
            return (row,)
        return tuple(arg for call in (row, *self.fields.chain(row)) for arg in call.args)

    def _made(self, row: Value) -> Call | None:
        for option in options(row):
            while isinstance(option, Updated):
                option = option.base
            if isinstance(option, Call):
                return option
        return None

    def _is_once(self, made: Call, written: Written) -> bool:
        """Whether a unique constraint lets a row with these fields be made only once."""
        text = text_of(self.evaluator, made.args[0]) if made.args else None
        insert = sql.inserted(text) if text is not None else None
        given = frozenset(name for name in made.names if name not in ("", "*", "**"))
        if insert is not None and self.uniques.constraints(insert.table) is None:
            return True  # the table is made elsewhere: a row of this event's own is taken for its record
        if insert is not None:
            given = frozenset(insert.columns or ())
        model: Value | str = written.spot.owner
        if isinstance(self.evaluator.resolve(made.func), ClassRef):
            model = self.evaluator.resolve(made.func)
        elif self.memory.spots.fields.model(made) is not None:
            model = self.memory.spots.fields.model(made) or ""
        cover = self.uniques.cover(model, given or None)
        return (
            cover.answer == "yes"
            and cover.fields != frozenset(("id",))
            and bool(cover.fields <= set(map(plain, given)))
        )

    def _names_mail(self, made: Call, path: Path) -> bool:
        """Whether a row holds the mail's template or its recipient."""
        template = path.mail.template.value if path.mail.template is not None else None
        for arg in made.args:
            constant = self.evaluator.constant(arg)
            if isinstance(constant, Const) and template and constant.value == template:
                return True
        return False


def _behind_queue(path: Path) -> frozenset[str]:
    """The functions of a path that run with the mail: those behind the last enqueue."""
    found: set[str] = set()
    for crossing in path.crossings():
        if crossing.hop == "enqueue":
            found.clear()
        else:
            found.add(crossing.site.function)
    return frozenset({*found, path.mail.provider.site.function})
