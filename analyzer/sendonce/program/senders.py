"""Senders that the project makes by giving a helper its template beforehand: a `partial`, or a decorator's argument.

`receipt = partial(send_templated, "receipt.html")` and `@mail("receipt")` above a function stand where the
mail becomes concrete: that is the send, however often the sender is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sendonce import facts
from sendonce.findings import Place, TemplateName
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.mail import Bound, Hole, Source
from sendonce.program.symbols import Function, own_nodes
from sendonce.program.templates import KEEPS_TEXT, Templates
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    Op,
    Param,
    Text,
    Union,
    Updated,
    Value,
    options,
)

_NAMING: tuple[Source, ...] = ("template", "template_id", "subject")
MAX_WRAPPERS = 6
"""Through how many decorators the function is looked for that the user wrote."""


class Senders:
    """Finds where the template was given, for calls of such senders."""

    def __init__(self, evaluator: Evaluator, templates: Templates) -> None:
        self.evaluator = evaluator
        self.templates = templates

    def bound(self, site: Site, template: TemplateName | None) -> Bound | None:
        """Where the template of a mail was given before `site` was reached; None if the call gives it."""
        if template is None or not template.value:
            return None
        for option in options(self.evaluator.resolve(site.call.func)):
            found = next(self._at(option, template.value), None)
            if found is not None:
                return found
        return None

    def is_handed_on(self, value: Value) -> bool:
        """Whether a value is something that the function was given, or part of a message that it was given.

        What is read from a row of a library's model is data: the message is made here.
        """
        asked: set[Value] = set()  # what a loop makes from itself is asked once
        pending = [value]
        while pending:
            one = pending.pop()
            if one in asked:
                continue
            asked.add(one)
            if isinstance(one, Param):
                classes = [cls.id for cls in self.evaluator.types(one) if isinstance(cls, ClassRef)]
                if not any(self.evaluator.hierarchy.external_bases(id) for id in classes):
                    return True
            pending.extend(self._told_by(one))
        return False

    def _told_by(self, value: Value) -> Iterable[Value]:
        """The values that say what a value says."""
        match value:
            case Attr() if (found := self.evaluator.resolve(value)) is not value:
                return (found,)
            case Attr(base=base) | Item(base=base) | Element(base=base) | Updated(base=base):
                return (base,)
            case Call(func=ClassRef(), args=args):
                return args
            case Call(func=Attr(base=base, name=name)) if name in KEEPS_TEXT:
                return (base,)
            case Call(func=External(dotted="builtins.str" | "builtins.bytes"), args=args) if args:
                return args[:1]
            case Call():
                kept = self.evaluator.seen_through(value)
                return (kept,) if kept is not value else ()
            case Union() | Text() | Op():
                return value.parts()
            case _:
                return ()

    def _at(self, option: Value, template: str) -> Iterator[Bound]:
        if isinstance(option, Call) and "functools.partial" in self.evaluator.shapes(option.func):
            if self._names(option.args[1:], template):
                yield Bound(Place(*option.at), self._module_at(option.at[0]))
            return
        while isinstance(option, Call) and option.args:
            option = self.evaluator.resolve(option.args[-1])  # a library's decorator around a wrapper
        if isinstance(option, FunctionRef) and self._names(tuple(v for p, v in option.closure if v is not p), template):
            inner = self._decorated(option)
            if inner is not None and isinstance(inner.node, facts.Def):
                yield Bound(Place(inner.module.path, *_decorator(inner.node, template)), inner.dotted)

    def _module_at(self, path: str) -> str:
        file = self.evaluator.program.sources.by_path(path)
        return file.module if file is not None else ""

    def _names(self, given: tuple[Value, ...], template: str) -> bool:
        """Whether one of several values names the mail, or is a text that its name is made with."""
        texts = [one.value for one in map(self.evaluator.resolve, given) if isinstance(one, Const)]
        if any(isinstance(text, str) and _is_part(text, template) for text in texts):
            return True
        holes = [Hole(source, arg) for arg in given for source in _NAMING]
        outcomes = (one for hole in holes for one in self.templates.settle((hole,), None))
        return any(one.template is not None and one.template.value == template for one in outcomes)

    def _decorated(self, ref: FunctionRef) -> Function | None:
        """The function that decorators put their wrappers around."""
        found: Function | None = None
        for _ in range(MAX_WRAPPERS):
            inner = [value for _, value in ref.closure if isinstance(value, FunctionRef)]
            if not inner:
                return found
            ref = inner[0]
            found = self.evaluator.program.function(ref.id)
        return found


def _decorator(node: facts.Def, template: str) -> facts.Span:
    """The decorator that names the mail; the function's name if none does by a text of its own."""
    for decorator in node.decorators:
        for part in own_nodes(decorator):
            if isinstance(part, facts.Constant) and isinstance(part.value, str) and _is_part(part.value, template):
                return decorator.at
    return node.name_at


def _is_part(text: str, template: str) -> bool:
    """Whether a text is a whole part of a template's name: `paid` of `mails/paid.txt`."""
    return bool(text) and re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", template) is not None
