"""What functions call on what they are given: by that one may lead to a function that it does not name."""

from __future__ import annotations

import re

from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker, is_by_given_name
from sendonce.program.mentions import mentions
from sendonce.program.symbols import Class, Function
from sendonce.program.values import Attr, Call, ClassRef, Const, Text, Value, options


class OnGiven:
    """Answers for pairs of functions, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.hierarchy = evaluator.hierarchy
        self.flows = flows
        self.linker = linker
        self._callees: dict[tuple[str, str], tuple[Value, ...]] = {}

    def may_call(self, caller: Function, function: Function) -> bool:
        """Whether a function calls a method of a name, or of a name that it is given, that may be this function."""
        key = (caller.id, function.name)
        known = self._callees.get(key)
        if known is None:
            known = self._callees[key] = self._called(caller, function.name)
        return any(self._may_be(callee, function) for callee in known)

    def registers(self, caller: Function, function: Function) -> bool:
        """Whether a function may register another on what it is given: `def set_up(clock): clock.add_job(digest)`."""
        return any(
            site.call.free and function.name in mentions(site.call) and self._is_registration(site)
            for site in self.flows.of(caller).sites
        )

    def _is_registration(self, site: Site) -> bool:
        names = self.linker.registrations.names
        opens = self.linker.reached(site).opens
        return any(isinstance(one.callee, Attr) and one.callee.name in names and not one.outer for one in opens)

    def _called(self, caller: Function, name: str) -> tuple[Value, ...]:
        """The callees of a function that hang on what it is given, in calls that mention a name or look one up.

        Other calls are not linked for it: with all that they are given that leads through half of a program.
        """
        words = frozenset((name, "getattr"))
        free = [site for site in self.flows.of(caller).sites if site.call.free]
        sites = [site for site in free if not words.isdisjoint(mentions(site.call))]
        opens = [one for site in sites for one in self.linker.reached(site).opens]
        return tuple(
            dict.fromkeys(
                one.callee
                for one in opens
                if (is_by_given_name(one.callee) and one.register is None)
                or (isinstance(one.callee, Attr) and not one.outer)
            )
        )

    def _may_be(self, callee: Value, function: Function) -> bool:
        if isinstance(callee, Attr):
            return callee.name == function.name and self._may_have(callee.base, function)
        assert isinstance(callee, Call)
        owner, name, *_ = callee.args
        return _may_name(name, function.name) and self._may_have(owner, function)

    def _may_have(self, owner: Value, function: Function) -> bool:
        """Whether a function may be an attribute of an object, as far as the object's type tells."""
        types = self.evaluator.types(owner)
        classes = [self.evaluator.program.cls(one.id) for one in types if isinstance(one, ClassRef)]
        return not classes or len(classes) < len(types) or any(self._may_bind(cls, function) for cls in classes)

    def _may_bind(self, cls: Class, function: Function) -> bool:
        """Whether instances of a class, or of one below it, may have a function as an attribute."""
        if self.hierarchy.writers(cls.id, function.name):
            return True
        if function.cls is None:
            below = self.evaluator.program.index.below(cls.name)
            return self.hierarchy.find(cls.id, function.name) is not None or below.binds(function.name)
        home = function.cls
        if home in self.hierarchy.mro(cls.id) or cls in self.hierarchy.mro(home.id):
            return True
        return any(home in self.hierarchy.mro(mixed.id) for mixed in self.hierarchy.mixing(cls.id))


def _may_name(value: Value, name: str) -> bool:
    """Whether a text, parts of which may be unknown, may be a name."""
    for option in options(value):
        pieces = option.pieces if isinstance(option, Text) else (option,)
        pattern = "".join(re.escape(str(one.value)) if isinstance(one, Const) else ".*" for one in pieces)
        if re.fullmatch(pattern, name):
            return True
    return False
