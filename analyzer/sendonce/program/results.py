"""What the run that lost a claim reads from its result: a count, a row, an attribute of an answer."""

from __future__ import annotations

from sendonce import vocabulary as v
from sendonce.program import held as h
from sendonce.program.matching import Matched
from sendonce.program.possible import EMPTY, OBJECT
from sendonce.program.reservations import Reservations
from sendonce.program.scene import ANYTHING, Lost, Scene
from sendonce.program.values import FALSE, NONE, TRUE, UNKNOWN, Attr, Call, Const, External, Item, Updated, Value

_PASSES = frozenset(["mappings", "unique", "tuples", "returning", "execution_options", "result", "get"])
"""Methods of a result that give the same rows again."""
_ROWS = frozenset(["all", "fetchall", "scalars"])
_LISTS = frozenset(["builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.iter"])
_SAMPLES: dict[str, Value] = {
    "truthy": FALSE,
    "falsy": TRUE,
    "not_none": NONE,
    "is_none": OBJECT,
    "rows": Const(0),
    "first": Const(2),
}
"""What the run that lost gets, by the way in which the winner is told."""


class Results:
    """Answers for expressions."""

    def __init__(self, reservations: Reservations) -> None:
        self.reservations = reservations

    def of(self, value: Value, scene: Scene) -> Lost | None:
        """The values of a claim's result in the run that lost; None if the value is no such result."""
        matched, names = self._peeled(value, scene)
        if matched is None:
            return None
        claim = self.reservations.reservation(matched)
        if matched.entry.win == "no_exception":
            # Who has the new row has made the insert.
            unsure = claim is None or claim.assumes or claim.flaw == "not_unique"
            return ANYTHING if claim is None or unsure else Lost(frozenset(), (claim,))
        sample = self._sample(matched, names)
        if claim is None or sample is None:
            return ANYTHING if not names or names[0] in matched.entry.results or claim is None else None
        return Lost(frozenset((sample,)), (claim,))

    def _peeled(self, value: Value, scene: Scene) -> tuple[Matched | None, tuple[str, ...]]:
        """The claim that a value comes from and the names read from its result, innermost first."""
        names: tuple[str, ...] = ()
        while True:
            match value:
                case Call() if (found := self.reservations.matched(value)) is not None:
                    return found, names
                case Call(func=External(dotted=dotted), args=(first, *_)) if dotted in _LISTS:
                    value = first
                case Call(func=Attr(base=base, name=name)):
                    value, names = base, (name, *names)
                case Attr(base=base, name=name):
                    value, names = base, (name, *names)
                case Item(base=base, index=index):
                    value, names = base, (f"[{index.value if isinstance(index, Const) else ''}]", *names)
                case Updated(base=base, value=Call() as call):
                    found = self.reservations.matched(call)
                    if found is not None and found.entry.results:  # a cursor that has run a statement
                        return found, names
                    value = base
                case _:
                    return self._on_cursor(value, names, scene), names

    def _on_cursor(self, value: Value, names: tuple[str, ...], scene: Scene) -> Matched | None:
        """`cursor.rowcount` after `cursor.execute(…)`: the last statement that this cursor ran."""
        if not names:
            return None
        for fact in reversed(scene.facts):
            if isinstance(fact, h.Done) and isinstance(fact.site.call.func, Attr):
                base = fact.site.call.func.base
                while isinstance(base, Updated):
                    base = base.base
                if base is value or scene.put(base) is value:
                    found = self.reservations.matched(_as_call(scene.put(fact.site.call), fact.site.call))
                    if found is not None:
                        return found if names[0] in found.entry.results else None
        return None

    def _sample(self, matched: Matched, names: tuple[str, ...]) -> Value | None:
        """What the run that lost reads; None if that is not known."""
        entry = matched.entry
        win: v.Win | None = entry.win
        if entry.win == "created":
            return FALSE if names == ("[1]",) else None
        run = matched.run.func.name if isinstance(matched.run.func, Attr) else ""
        if entry.results:
            win = entry.results.get(run) if run in entry.results else None
            if win is None and not names:
                return self._status(matched)
            last = run
            for name in names:
                found = entry.results.get(name) or (entry.results.get("[]") if name.startswith("[") else None)
                if found is None and name not in _PASSES:
                    return None
                win, last = found or win, name
            return EMPTY if last in _ROWS else (None if win is None else _SAMPLES.get(win))
        return None if names else _SAMPLES.get(entry.win)

    @staticmethod
    def _status(matched: Matched) -> Value | None:
        """asyncpg answers with a text: "INSERT 0 0" is no row."""
        verbs = {"insert": "INSERT 0 0", "update": "UPDATE 0", "delete": "DELETE 0"}
        first = matched.call.args[0] if matched.call.args else UNKNOWN
        text = first.value.split() if isinstance(first, Const) and isinstance(first.value, str) else []
        return Const(verbs[text[0].lower()]) if text and text[0].lower() in verbs else None


def _as_call(value: Value, otherwise: Call) -> Call:
    return value if isinstance(value, Call) else otherwise
