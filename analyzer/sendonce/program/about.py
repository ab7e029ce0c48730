"""What a mail is about: the rows, parameters and loop items that it is made from."""

from __future__ import annotations

from sendonce.program.held import Site
from sendonce.program.memory import Guarding, Memory, levels
from sendonce.program.paths import Path
from sendonce.program.values import Attr, Call, ClassRef, Element, Item, Param, Some, Value, substitute, walk


class About:
    """Answers for paths."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.evaluator = memory.evaluator
        self._known: dict[Path, frozenset[str]] = {}

    def is_about(self, path: Path, guarding: Guarding) -> bool:
        """Whether a check asks for something that the mail is made from; a mail of constants is about anything."""
        known = self.models(path)
        if any(read.spot.owner in known for read in guarding.check.reads if read.spot.owner):
            return True
        return self._shares(guarding.checked, guarding.check.value) or not self.roots((path.mail.provider.site.call,))

    def _shares(self, site: Site, value: Value) -> bool:
        mail = self.roots((site.call,))
        given = all(isinstance(one, Param) for one in mail) and self._is_given(value)
        return not mail or given or bool(mail & self.roots((value, self.evaluator.resolve(value))))

    def _is_given(self, value: Value) -> bool:
        """Whether a value is made from an argument of the function as it was given: what names the event."""
        return any(
            isinstance(part, Param) and not self._is_self(part)
            for holder in walk(value)
            if not isinstance(holder, Attr)
            for part in (holder.parts() or (holder,))
        )

    def models(self, path: Path) -> frozenset[str]:
        """The models of the rows that a mail is made from."""
        if path not in self._known:
            known = dict(self.memory.known(path))
            calls = [substitute(site.call, known) for site in levels(path)]
            parts = {part for call in calls for part in walk(call)}
            types = [one for part in parts if isinstance(part, _ROWS) for one in self.evaluator.types(part)]
            is_model = self.memory.spots.fields.is_model
            self._known[path] = frozenset(one.id for one in types if isinstance(one, ClassRef) and is_model(one))
        return self._known[path]

    def roots(self, values: tuple[Value, ...]) -> frozenset[Value]:
        """The parameters, loaded rows and loop items that values are made from; the object of a method is none."""
        found: set[Value] = set()
        for value in values:
            for part in walk(value):
                if self._is_root(part):
                    found.add(part)
        return frozenset(found)

    def _is_root(self, part: Value) -> bool:
        match part:
            case Param():
                return not self._is_self(part)
            case Attr():
                return self._is_own(part)
            case Call(func=func, args=args):
                return isinstance(func, Attr) and bool(args)
            case _:
                return isinstance(part, Element)

    def _is_own(self, part: Attr) -> bool:
        return isinstance(part.base, Param) and self._is_self(part.base)

    def _is_self(self, param: Param) -> bool:
        function = self.evaluator.program.function(param.function)
        return function.is_method and bool(function.params) and function.params[0].name == param.name


_ROWS = (Attr, Param, Element, Item, Some, Call)
