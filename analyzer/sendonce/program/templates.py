"""What names a mail: the template of a message, through any number of helpers.

`holes` finds the places of a message that may decide its template, best first; `settle` says which
of them is decided once parameters have been bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.findings import Confidence, TemplateName
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.mail import Hole, Source
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Op,
    Param,
    Seq,
    Some,
    Table,
    Text,
    Updated,
    Value,
    options,
    text,
    walk,
)

MAX_TEMPLATES = 6
"""A hole with more alternatives than this names no template."""

_ORDER: tuple[Source, ...] = ("template", "template_id", "text", "constant", "subject", "message_class")
_LETTERS = re.compile(r"[^\W\d_]{3}")
_SUBJECT = re.compile(r"^Subject:[ \t]*", re.MULTILINE | re.IGNORECASE)
_SUFFIX = re.compile(
    r"(?:[_./-](?:subject|body|message|text|html|txt|plain|content|mail_body|mail_subject))+$", re.IGNORECASE
)


@dataclass(frozen=True)
class Settled:
    """The outcome for one list of holes: a name, or the holes that are still open and the second choice."""

    template: TemplateName | None
    holes: tuple[Hole, ...]
    second: TemplateName | None


def identity(name: str) -> str:
    """What two template names must share to be one mail: the name without its extension and part suffix."""
    stem = re.sub(r"\.(?:html?|txt|md|mjml|jinja2?|j2|tpl|mako|eml|pt)(?:\.(?:jinja2?|j2))?$", "", name)
    return _SUFFIX.sub("", stem) or stem


class Templates:
    """Finds and settles holes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs

    # ------------------------------------------------------------------ finding

    def holes(self, call: Call, content: v.Content) -> tuple[Hole, ...]:
        """The places that may name the mail of a provider send, in the order of trust."""
        found = [*self._content(call, content)]
        return tuple(sorted(dict.fromkeys(found), key=lambda hole: _ORDER.index(hole.source)))

    def recipient(self, call: Call, content: v.Content) -> Value | None:
        """Who gets the mail, as far as the call or its message says."""
        found = arguments.first_argument(self.evaluator, call, content.recipient)
        if found is not None:
            return found
        for message in arguments.given(self.evaluator, call, content.message):
            for _, entry, made in self._messages(message):
                found = arguments.first_argument(self.evaluator, made, entry.recipient)
                if found is not None:
                    return found
        return None

    def _content(self, call: Call, content: v.Content) -> Iterator[Hole]:
        for value in arguments.given(self.evaluator, call, content.template):
            yield Hole("template", value)
        for value in arguments.given(self.evaluator, call, content.template_id):
            yield Hole("template_id", value)
        for value in arguments.given(self.evaluator, call, content.text):
            yield Hole("text", value)
        for value in arguments.given(self.evaluator, call, content.subject):
            yield Hole("text", value)
            yield Hole("subject", value)
        for value in arguments.given(self.evaluator, call, content.message):
            yield from self.message_holes(value)

    def message_holes(self, value: Value) -> Iterator[Hole]:
        """The holes of a message object (or of each in a list)."""
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, Seq):
                for item in option.items:
                    yield from self.message_holes(item)
                continue
            if option.free:
                yield Hole("text", option)
            yield from self._of_object(option)

    def _of_object(self, value: Value) -> Iterator[Hole]:
        """The holes of one message object: what was set on it, its constructor's arguments, its class."""
        yield from self._updates(value)
        for _, entry, made in self._messages(value):
            yield from self._content(made, entry)
        yield from self._class_name(value)

    def _messages(self, value: Value) -> Iterator[tuple[object, v.Message, Call]]:
        """The constructor call of a message object, and what packs say of its arguments."""
        base = self.evaluator.resolve(value)
        while isinstance(base, Updated):
            base = self.evaluator.resolve(base.base)
        if isinstance(base, Call):
            for pack, entry in self.evaluator.lookup(self.packs.messages, base.func):
                assert isinstance(entry, v.Message)
                yield pack, entry, base

    def _updates(self, value: Value) -> Iterator[Hole]:
        """What was set on a message after it was made."""
        entries = [entry for _, entry, _ in self._messages(value)]
        while isinstance(value, Updated):
            for entry in entries:
                source = entry.fields.get(value.field)
                if source in ("template", "template_id"):
                    yield Hole(source, value.value)
                elif source in ("subject", "text"):
                    yield Hole("text", value.value)
                    if source == "subject":
                        yield Hole("subject", value.value)
                method = entry.methods.get(value.field.removesuffix("()"))
                if method is not None and value.field.endswith("()") and isinstance(value.value, Call):
                    yield from self._content(value.value, method)
            value = self.evaluator.resolve(value.base)

    def _class_name(self, value: Value) -> Iterator[Hole]:
        """An own message class names its mail."""
        for cls in self.evaluator.types(value):
            if isinstance(cls, ClassRef):
                yield Hole("message_class", cls)

    # ------------------------------------------------------------------ settling

    def settle(self, holes: tuple[Hole, ...], second: TemplateName | None) -> list[Settled]:
        """What the holes say now; several answers where one hole has several known values."""
        still_open: list[Hole] = []
        for hole in holes:
            expanded = self._renders(hole)
            for part in expanded:
                names = self._names(part)
                if names is None:
                    still_open.append(part)
                    continue
                if not names:
                    continue
                if part.source == "subject" and still_open:
                    second = second or names[0]
                    continue
                if part.source == "message_class" and (still_open or second):
                    second = second or names[0]
                    continue
                return [Settled(name, (), second) for name in names]
        if still_open:
            return [Settled(None, tuple(dict.fromkeys(still_open)), second)]
        return [Settled(second, (), second)]

    def _renders(self, hole: Hole) -> tuple[Hole, ...]:
        """What a text stands for: the templates rendered into it, the message object that it was made from.

        While it depends on parameters it stays a text as well.
        """
        if hole.source != "text":
            return (hole,)
        found = [Hole("template", value) for value in self._rendered(hole.value)]
        found += self._inside_text(hole.value)
        subject = _header(self.evaluator.resolve(hole.value))
        if subject is not None:
            found.append(Hole("subject", subject))
        if found:
            return tuple(sorted(dict.fromkeys(found), key=lambda one: _ORDER.index(one.source)))
        return (hole,) if hole.value.free else ()

    def _inside_text(self, value: Value) -> Iterator[Hole]:
        """The holes of a message object that a text is (`message`), or was made from (`message.as_string()`)."""
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, Call) and isinstance(option.func, Attr):
                inner = self.evaluator.resolve(option.func.base)
                if any(True for _ in self._messages(inner)):
                    option = inner
            for hole in self._of_object(option):
                if hole.source == "text" and hole.value is value:
                    continue
                yield from self._renders(hole) if hole.source == "text" else (hole,)

    def _rendered(self, value: Value) -> Iterator[Value]:
        """The template arguments of all renderings inside a value."""
        todo: list[Value] = [value]
        seen: set[Value] = set()
        while todo and len(seen) < 200:
            one = self.evaluator.resolve(todo.pop(0))
            if one in seen:
                continue
            seen.add(one)
            if isinstance(one, Call):
                hit = False
                for _, entry in self.evaluator.lookup(self.packs.renders, one.func):
                    assert isinstance(entry, v.Render)
                    given = arguments.first_argument(self.evaluator, one, entry.template)
                    if given is not None:
                        hit = True
                        yield given
                if not hit:
                    todo.extend(one.args)
                    todo.append(one.func)
            elif isinstance(one, Attr):
                todo.append(one.base)
            elif not isinstance(one, Param | Const):
                todo.extend(one.parts())

    def _names(self, hole: Hole) -> list[TemplateName] | None:
        """The names that a hole's value gives: none if it says nothing, None if a caller may still decide."""
        value = self.evaluator.resolve(hole.value)
        found: list[TemplateName] = []
        several = len(options(value)) > 1
        if len(options(value)) > MAX_TEMPLATES:
            return []
        for option in options(value):
            name = self._name(hole.source, option, "medium" if several else "high")
            if name is not None:
                found.append(name)
            elif option.free and _is_decided_by_caller(option):
                return None
            elif isinstance(option, Some) and self._is_own_field(hole.value):
                return None  # so far only its type is known
        return list(dict.fromkeys(found))

    def _is_own_field(self, value: Value) -> bool:
        """Whether a value is an attribute of a parameter that holds an object of the project's own, no library's row."""
        if not (isinstance(value, Attr) and value.free and _is_decided_by_caller(value)):
            return False
        ids = [cls.id for cls in self.evaluator.types(value.base) if isinstance(cls, ClassRef)]
        return bool(ids) and not any(self.evaluator.hierarchy.external_bases(id) for id in ids)

    def _name(self, source: Source, value: Value, sure: Confidence) -> TemplateName | None:
        if source == "text":
            return None
        match value:
            case Const(value=str() as name) if name.strip():
                return TemplateName(name.strip(), source, sure)
            case Const(value=int() as number) if source == "template_id" and not isinstance(number, bool):
                return TemplateName(str(number), source, sure)
            case Attr(base=ClassRef(id=id), name=name) if self.evaluator.hierarchy.is_enum(id):
                return TemplateName(f"{self.evaluator.program.cls(id).name}.{name}", "constant", sure)
            case ClassRef(id=id) if source == "message_class":
                return TemplateName(self.evaluator.program.cls(id).name, "message_class", sure)
            case Text():
                return self._pattern(source, value)
            case Call(func=func, args=args) if args:
                return self._wrapped(source, func, args, sure)
            case Op(op="%" | "+", operands=operands):
                return self._name(source, self.evaluator.resolve(operands[0]), sure)
            case Seq(items=items) if items and source == "template":
                return self._name(source, self.evaluator.resolve(items[0]), sure)
            case _:
                return None

    def _wrapped(self, source: Source, func: Value, args: tuple[Value, ...], sure: Confidence) -> TemplateName | None:
        """A text inside a call that keeps it: a translation, `str`, `strip`, `format`."""
        if isinstance(func, Attr):
            inner = self.evaluator.resolve(func.base)
            if isinstance(inner, Const | Text) or (isinstance(inner, Call) and inner.args):
                return self._name(source, inner, sure)
        first = self.evaluator.resolve(args[0])
        if isinstance(first, Const) and isinstance(func, External | Attr) and source == "subject":
            return self._name(source, first, sure)
        return None

    def _pattern(self, source: Source, value: Text) -> TemplateName | None:
        """A text with unknown parts names a mail by its constant parts, if those say something."""
        if source == "text" or (source != "subject" and value.free):
            return None
        pieces = (str(p.value) if isinstance(p, Const) else "{}" for p in value.pieces)
        name = "".join(pieces).strip()
        return TemplateName(name, source, "medium") if _LETTERS.search(name.replace("{}", "")) else None


def _is_decided_by_caller(value: Value) -> bool:
    """Whether binding parameters can turn a value into a name: it depends on one in more than data read from it."""
    return any(isinstance(part, Param) for part in walk(value)) and not isinstance(value, Element | Table)


def _header(message: Value) -> Value | None:
    """The subject in a message that is written out as text (`f"Subject: {subject}\\n\\n{body}"`)."""
    pieces = message.pieces if isinstance(message, Text) else (message,)
    found: list[Value] | None = None
    for piece in pieces:
        words = piece.value if isinstance(piece, Const) and isinstance(piece.value, str) else None
        if found is None:
            start = _SUBJECT.search(words) if words is not None else None
            if words is None or start is None:
                continue
            found, words = [], words[start.end() :]
        line, ended, _ = words.partition("\n") if words is not None else ("", "", "")
        found.append(piece if words is None else Const(line))
        if ended:
            break
    return None if found is None else text(tuple(found))
