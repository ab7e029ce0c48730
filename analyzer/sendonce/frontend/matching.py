"""`match` statements → the chain of `If` that they mean.

Where a part of a pattern says what an expression would say (a value, a class, a keyword of a class
pattern, a key of a mapping pattern), that expression is the test; any other part is an `Opaque`
around the subject, so that a guard is never read into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sendonce import facts
from sendonce.facts import Expr, Span, Stmt


@dataclass
class Bound:
    """The names that a pattern binds, in their order."""

    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)


@dataclass(frozen=True)
class Case:
    """One `case`: where its pattern stands, its test (None: always true) and its body."""

    at: Span
    test: Expr | None
    body: tuple[Stmt, ...]


def repeatable(subject: Expr) -> bool:
    """Whether reading the subject again does nothing, so that each test may hold it."""
    if isinstance(subject, facts.Attribute):
        return repeatable(subject.value)
    if isinstance(subject, facts.Subscript):
        return repeatable(subject.value) and repeatable(subject.index)
    if isinstance(subject, facts.Sequence):
        return all(repeatable(item) for item in subject.items)
    return isinstance(subject, (facts.Name, facts.Constant))


def kept(subject: Expr) -> tuple[list[Stmt], Expr]:
    """A subject that is evaluated once: an assignment to a name no program can have, and that name."""
    if repeatable(subject):
        return [], subject
    name = facts.Name(subject.at, f"<match {subject.at[0]}:{subject.at[1]}>")
    return [facts.Assign(subject.at, (name,), subject)], name


def case(
    at: Span, test: Expr | None, guard: Expr | None, bound: Bound, text: str, subject: Expr, body: tuple[Stmt, ...]
) -> Case:
    """A case whose guard is part of the test and whose names are assigned at the head of the body."""
    if guard is not None:
        test = guard if test is None else facts.BoolOp(at, "and", (test, guard))
    value = facts.Opaque(at, text, (subject,))
    heads: list[Stmt] = [facts.Assign(at, (facts.Name(at, name),), value) for name in bound.names]
    return Case(at, test, (*heads, *body))


def chain(at: Span, cases: list[Case]) -> Stmt:
    """The cases as one `If`; like an `elif`, each stands from its pattern to the end of the whole."""
    orelse: tuple[Stmt, ...] = ()
    for one in reversed(cases[1:]):
        test = one.test
        orelse = one.body if test is None else (facts.If(one.at[:2] + at[2:], test, one.body, orelse),)
    first = cases[0]
    return facts.If(at, first.test or facts.Constant(first.at, True), first.body, orelse)


def all_of(at: Span, tests: list[Expr]) -> Expr | None:
    """The tests joined by `and`; None for none."""
    if len(tests) < 2:
        return tests[0] if tests else None
    return facts.BoolOp(at, "and", tuple(tests))


def any_of(at: Span, tests: list[Expr | None]) -> Expr | None:
    """The alternatives joined by `or`; None if one of them always matches."""
    found = [test for test in tests if test is not None]
    return facts.BoolOp(at, "or", tuple(found)) if len(found) == len(tests) else None


def is_instance(at: Span, subject: Expr, kind: Expr) -> Expr:
    """`isinstance(subject, kind)`."""
    return facts.Call(at, facts.Name(at, "isinstance"), (facts.Arg(subject), facts.Arg(kind)))
