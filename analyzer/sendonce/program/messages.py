"""What a message is made of: the places in a call or a message object that may name its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.mail import Hole, Source
from sendonce.program.values import (
    MAX_OPTIONS,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    FunctionRef,
    Seq,
    Super,
    Updated,
    Value,
    options,
    substitute,
    union,
)

MAX_PARENTS = 4
"""Through how many constructors of own message classes the library's is looked for."""


class Messages:
    """Finds the holes of calls and message objects, as packs describe them."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs

    def content(self, call: Call, content: v.Content) -> Iterator[Hole]:
        """The holes in the arguments of a call."""
        named = False
        for value in arguments.given(self.evaluator, call, content.template):
            named = True
            yield Hole("template", value)
        for value in arguments.given(self.evaluator, call, content.template_id):
            named = True
            yield Hole("template_id", value)
        if content.default_template and not named:
            method = call.func.name if isinstance(call.func, Attr) else ""
            yield Hole("template", Const(content.default_template.replace("{method}", method)))
        for value in arguments.given(self.evaluator, call, content.text):
            yield Hole("text", value)
        for value in arguments.given(self.evaluator, call, content.subject):
            yield Hole("text", value)
            yield Hole("subject", value)
        for value in arguments.given(self.evaluator, call, content.message):
            yield from self.each(value)

    def each(self, value: Value) -> Iterator[Hole]:
        """The holes of a message object, or of each in a list."""
        yield from merged([list(self._one(option)) for option in self.alternatives(value, kept=True)])

    def alternatives(self, value: Value, kept: bool = False) -> list[Value]:
        """The objects that a value may be or hold, each with what was set on it.

        They are not made one value on the way, which would often be too large. With `kept`, what subclasses may say
        otherwise stays as it is.
        """
        found: list[Value] = []
        if kept and self.evaluator.calls.is_told_below(value):
            return [value]
        for option in self._items(value) if isinstance(value, Element) else options(self.evaluator.resolve(value)):
            match option:
                case Seq(items=items):
                    found.extend(one for item in items for one in self.alternatives(item, kept))
                case Updated(base=base, field="append()" | "extend()", value=Call(args=args)):
                    found.extend(one for part in (base, *args) for one in self.alternatives(part, kept))
                case Updated(base=base, field=field, value=value):
                    found.extend(Updated(one, field, value) for one in self.alternatives(base, kept))
                case _:
                    found.append(option)
        return list(dict.fromkeys(found))[:MAX_OPTIONS]

    def _items(self, element: Element) -> Iterator[Value]:
        """What an item of lists may be."""
        bases = self._items(element.base) if isinstance(element.base, Element) else (element.base,)
        for base in bases:
            for option in options(self.evaluator.resolve(base)):
                known = isinstance(option, Seq) and not element.entered
                yield option if known else self.evaluator.resolve(Element(option, element.entered))

    def _one(self, option: Value) -> Iterator[Hole]:
        if isinstance(option, Super):
            option = option.receiver
        if option.free:
            yield Hole("text", option)
        if not self.evaluator.calls.is_told_below(option):
            yield from self.of(option)

    def of(self, value: Value) -> Iterator[Hole]:
        """The holes of one message object: what was set on it, its constructor's arguments, its class."""
        if isinstance(value, Super):
            value = value.receiver
        made = list(self.made(value))
        yield from self._updates(value, [entry for entry, _ in made])
        for entry, call in made:
            yield from self._attributes(value, entry)
            yield from self.content(call, entry)
        for cls in self.evaluator.types(value):
            if isinstance(cls, ClassRef):
                yield Hole("message_class", cls)

    def made(self, value: Value) -> Iterator[tuple[v.Message, Call]]:
        """What packs say of the library's constructor of a message object, and the call of it."""
        base = self.evaluator.resolve(value)
        while isinstance(base, Updated | Super):
            base = self.evaluator.resolve(base.base if isinstance(base, Updated) else base.receiver)
        if isinstance(base, Call):
            call = self._library_call(base)
            for _, entry in self.evaluator.lookup(self.packs.messages, base.func):
                yield entry, call

    def _library_call(self, made: Call) -> Call:
        """The arguments that a library's constructor gets from the constructor of an own message class."""
        cls = self.evaluator.resolve(made.func)
        method = self.evaluator.hierarchy.method_of(cls, "__init__")
        found = made
        for _ in range(MAX_PARENTS):
            if method is None:
                return found
            binding = arguments.bind(self.evaluator, FunctionRef(method.id, made), found.names, found.args)
            inner = next((site.call for site in self.evaluator.flow_of(method).sites if _is_parents(site.call)), None)
            if inner is None:
                return Call(found.func, (), (), found.at)
            own = 0 if isinstance(inner.func, Attr) and isinstance(inner.func.base, Super) else 1
            given = tuple(substitute(arg, binding) for arg in inner.args[own:])
            found = Call(inner.func, inner.names[own:], given, inner.at)
            parent = self.evaluator.resolve(inner.func)
            method = self.evaluator.program.function(parent.id) if isinstance(parent, FunctionRef) else None
        return found

    def _attributes(self, value: Value, entry: v.Message) -> Iterator[Hole]:
        """What an own message class sets as attributes that the library reads: `template_id = "d-1"`."""
        if not any(isinstance(cls, ClassRef) for cls in self.evaluator.types(value)):
            return
        for name, source in entry.fields.items():
            attribute = Attr(value, name)
            found = self.evaluator.resolve(attribute)
            if name.isidentifier() and found is not attribute and source != "recipient":
                # What it was made with says the same as the whole object, and is a small part of it.
                yield from _set(source, found if found.size < attribute.size and found.free else attribute)

    def _updates(self, value: Value, entries: list[v.Message]) -> Iterator[Hole]:
        """What was set on a message after it was made."""
        while isinstance(value, Updated):
            for entry in entries:
                source = entry.fields.get(value.field)
                if source is not None:
                    yield from _set(source, value.value)
                method = entry.methods.get(value.field.removesuffix("()"))
                if method is not None and value.field.endswith("()") and isinstance(value.value, Call):
                    yield from self.content(value.value, method)
            value = self.evaluator.resolve(value.base)


def merged(found: list[list[Hole]]) -> Iterator[Hole]:
    """The holes of alternatives, each with all values that it has in one of them."""
    values: dict[tuple[Source, int], list[Value]] = {}
    for holes in found:
        count: Counter[Source] = Counter()
        for hole in holes:
            values.setdefault((hole.source, count[hole.source]), []).append(hole.value)
            count[hole.source] += 1
    yield from (Hole(source, union(some)) for (source, _), some in values.items())


def _set(source: str, value: Value) -> Iterator[Hole]:
    """The holes of a field that was set."""
    if source == "template" or source == "template_id":
        yield Hole("template" if source == "template" else "template_id", value)
    elif source in ("subject", "text"):
        yield Hole("text", value)
        if source == "subject":
            yield Hole("subject", value)


def _is_parents(call: Call) -> bool:
    """Whether a call is `super().__init__(…)`, or a base's `__init__` by name."""
    return isinstance(call.func, Attr) and call.func.name == "__init__"
