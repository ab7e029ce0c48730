"""What names a mail: the template of a message, through any number of helpers.

`holes` finds the places of a message that may decide its template, best first; `settle` says which
of them is decided once parameters have been bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.findings import Confidence, TemplateName
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.mail import Hole, Source
from sendonce.program.messages import Messages, merged
from sendonce.program.texts import TextNames
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

MAX_WRITTEN = 4
"""Through how many calls that write a message out (encode, decode) the message is looked for."""

_ORDER: tuple[Source, ...] = ("template", "template_id", "text", "constant", "subject", "message_class")
_LETTERS = re.compile(r"[^\W\d_]{3}")
_SUBJECT = re.compile(r"^Subject:[ \t]*", re.MULTILINE | re.IGNORECASE)
_SUFFIX = re.compile(
    r"(?:[_./-](?:subject|body|message|text|html|txt|plain|content|mail_body|mail_subject))+$", re.IGNORECASE
)
KEEPS_TEXT = frozenset(
    ["capitalize", "format", "join", "lstrip", "replace", "rstrip", "splitlines", "strip", "title", "upper"]
)
"""Methods of a text that leave what it says."""
_HOLDS_SUBJECT = re.compile(r"subject|title|headline", re.IGNORECASE)


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
        self.messages = Messages(evaluator)
        self.texts = TextNames(evaluator)
        self._settled: dict[tuple[tuple[Hole, ...], TemplateName | None, bool], list[Settled]] = {}

    # ------------------------------------------------------------------ finding

    def holes(self, call: Call, content: v.Content) -> tuple[Hole, ...]:
        """The places that may name the mail of a provider send, in the order of trust."""
        return _by_trust(self.messages.content(call, content))

    def recipient(self, call: Call, content: v.Content) -> Value | None:
        """Who gets the mail, as far as the call or its message says."""
        found = arguments.first_argument(self.evaluator, call, content.recipient)
        if found is not None:
            return found
        for message in arguments.given(self.evaluator, call, content.message):
            for entry, made in self.messages.made(message):
                found = arguments.first_argument(self.evaluator, made, entry.recipient)
                found = self._addressed(message, entry) if found is None else found
                if found is not None:
                    return found
        return None

    def _addressed(self, message: Value, entry: v.Message) -> Value | None:
        """The recipients that were set on a message after it was made: `message["To"] = …`."""
        found = self.evaluator.resolve(message)
        given: list[Value] = []
        while isinstance(found, Updated):
            if entry.fields.get(found.field) == "recipient":
                given.append(found.value)
            found = self.evaluator.resolve(found.base)
        return Seq("list", tuple(given)) if given else None

    # ------------------------------------------------------------------ settling

    def settle(self, holes: tuple[Hole, ...], second: TemplateName | None, last: bool = False) -> list[Settled]:
        """What the holes say now; several answers where one hole has several known values.

        `last`: no caller can tell more, so a text with holes is named by what is known of it.
        """
        key = (holes, second, last)
        if key not in self._settled:
            self._settled[key] = self._found(holes, second, last)
        return self._settled[key]

    def _found(self, holes: tuple[Hole, ...], second: TemplateName | None, last: bool) -> list[Settled]:
        still_open: list[Hole] = []
        best: list[TemplateName] = []
        for part in _by_trust(part for hole in holes for part in self._renders(hole, last)):
            if best and best[0].source != part.source:
                break
            names = self._names(part, last)
            if names is None:
                still_open.append(part)
            elif names and still_open and (part.source in ("text", "subject", "message_class")):
                second = second or names[0]
            elif names and second and part.source in ("subject", "message_class"):
                continue
            elif names and (not best or _rank(names[0]) < _rank(best[0])):
                best = names
        if best:
            return [Settled(name, (), second) for name in best]
        if still_open:
            return [Settled(None, tuple(dict.fromkeys(still_open)), second)]
        return [Settled(second, (), second)]

    def _renders(self, hole: Hole, last: bool) -> tuple[Hole, ...]:
        """What a text stands for: the templates rendered into it, the message object that it was made from.

        While it depends on parameters it stays a text as well.
        """
        if hole.source != "text" or (not last and self.evaluator.calls.is_told_below(hole.value)):
            return (hole,)
        texts = options(self.evaluator.resolve(hole.value))
        found = [*merged([list(self._rendered(text)) for text in texts]), *self._inside_text(hole.value, last)]
        subject = _header(self.evaluator.resolve(hole.value))
        if subject is not None:
            found.append(Hole("subject", subject))
        return _by_trust(found) if found else (hole,)

    def _inside_text(self, value: Value, last: bool) -> Iterator[Hole]:
        """The holes of a message object that a text is (`message`), or was made from (`message.as_string()`)."""
        options = self.messages.alternatives(value)
        found = [list(self.messages.of(one)) for option in options for one in self._written_out(option)]
        for hole in merged(found):
            if hole.source != "text":
                yield hole
            elif hole.value is not value:
                yield from self._renders(hole, last)

    def _written_out(self, value: Value) -> list[Value]:
        """The messages that a text was made from (`b64encode(message.as_bytes()).decode()`, `bytes(message)`)."""
        inner = value
        for _ in range(MAX_WRITTEN):
            if not isinstance(inner, Call):
                break
            if isinstance(inner.func, Attr):
                inner = self.evaluator.resolve(inner.func.base)
            elif isinstance(inner.func, External) and inner.args:
                inner = self.evaluator.resolve(inner.args[0])
            else:
                break
            messages = self.messages.alternatives(inner)
            if any(True for one in messages for _ in self.messages.made(one)):
                return messages
        return [value]

    def _rendered(self, value: Value) -> Iterator[Hole]:
        """The templates of all renderings inside a value; a rendered text is one of its own."""
        todo: list[Value] = [value]
        seen: set[Value] = set()
        while todo and len(seen) < 200:
            one = self.evaluator.resolve(todo.pop(0))
            if one in seen:
                continue
            seen.add(one)
            if isinstance(one, Call):
                given = [*self._render_arguments(one)]
                yield from given
                todo.extend(() if given else (*one.args, one.func))
            elif isinstance(one, Attr):
                todo.append(one.base)
            elif not isinstance(one, Param | Const):
                todo.extend(one.parts())

    def _render_arguments(self, call: Call) -> Iterator[Hole]:
        for _, entry in self.evaluator.lookup(self.packs.renders, call.func):
            for source, notations in (("template", entry.template), ("text", entry.source)):
                given = arguments.first_argument(self.evaluator, call, notations)
                if given is not None:
                    yield Hole("template" if source == "template" else "text", given)

    def _names(self, hole: Hole, last: bool) -> list[TemplateName] | None:
        """The names that a hole's value gives: none if it says nothing, None if a caller may still decide."""
        if not last and self.evaluator.calls.is_told_below(hole.value):
            return None
        value = self.evaluator.resolve(hole.value)
        key = self.texts.key(hole.value) if hole.source in ("text", "subject") else None
        if key is not None:
            return [TemplateName(key, "constant", "high")]
        if len(options(value)) > MAX_TEMPLATES:
            return []
        sure: Confidence = "medium" if len(options(value)) > 1 else "high"
        found: list[TemplateName] = []
        for option in options(value):
            name = self._name(hole.source, option, sure, last)
            if name is not None:
                found.append(name)
            elif option.free and _is_decided_by_caller(hole.source, option):
                return None
            elif isinstance(option, Some) and self._is_own_field(hole.value):
                return None  # so far only its type is known
        return _distinct(found)

    def _is_own_field(self, value: Value) -> bool:
        """Whether a value is an attribute of a parameter with an object of the project's own, no library's row."""
        if not (isinstance(value, Attr) and value.free and _is_decided_by_caller("template", value)):
            return False
        ids = [cls.id for cls in self.evaluator.types(value.base) if isinstance(cls, ClassRef)]
        return bool(ids) and not any(self.evaluator.hierarchy.external_bases(id) for id in ids)

    def _is_own(self, id: str) -> bool:
        """Whether a class is the application's: a vendored library's message class names no mail."""
        return self.evaluator.program.cls(id).module.file.role == "application"

    def _name(self, source: Source, value: Value, sure: Confidence, last: bool) -> TemplateName | None:
        match value:
            case Const(value=str() as name) if name.strip() and source in ("text", "subject"):
                constant = self.texts.constant(name)
                if constant is not None:
                    return TemplateName(constant, "constant", sure)
                return None if source == "text" else TemplateName(name.strip(), "subject", sure)
            case Const(value=str() as name) if name.strip() and source != "text":
                return TemplateName(name.strip(), source, sure)
            case Const(value=int() as number) if source == "template_id" and not isinstance(number, bool):
                return TemplateName(str(number), source, sure)
            case Attr(base=ClassRef(id=id), name=name) if self.evaluator.hierarchy.is_enum(id):
                return TemplateName(f"{self.evaluator.program.cls(id).name}.{name}", "constant", sure)
            case ClassRef(id=id) if source == "message_class" and self._is_own(id):
                return TemplateName(self.evaluator.program.cls(id).name, "message_class", sure)
            case Text():
                return self._pattern(source, value, last)
            case Op(op="/", operands=parts) | Call(func=External(dotted="os.path.join"), args=parts) if (
                source != "text"
            ):
                return self._file(source, parts)
            case Call():
                return self._wrapped(source, value, sure, last)
            case Op(op="%" | "+", operands=operands):
                return self._name(source, self.evaluator.resolve(operands[0]), sure, last)
            case Seq(items=items) if items and source == "template":
                return self._name(source, self.evaluator.resolve(items[0]), sure, last)
            case _:
                return None

    def _file(self, source: Source, parts: tuple[Value, ...]) -> TemplateName | None:
        """A path made of several parts: those at its end that are known name the file."""
        known: list[str] = []
        for part in reversed(parts):
            constant = self.evaluator.constant(part)
            if constant is None or not isinstance(constant.value, str):
                break
            known.insert(0, constant.value.strip("/"))
        return TemplateName("/".join(known), source, "medium") if known and source != "text" else None

    def _wrapped(self, source: Source, call: Call, sure: Confidence, last: bool) -> TemplateName | None:
        """A text inside a call that keeps it: a translation, `str`, `strip`, `" ".join(…)`, a rendered subject."""
        func, args = call.func, call.args
        if isinstance(func, Attr) and func.name in KEEPS_TEXT:
            inner = args[0] if func.name == "join" and args else func.base
            return self._name(source, self.evaluator.resolve(inner), sure, last)
        is_lookup = isinstance(func, Attr) and func.name == "get"
        if source not in ("text", "subject") or is_lookup:
            return None
        rendered = next((hole for hole in self._rendered(call) if hole.source == "text"), None)
        kept = self.evaluator.seen_through(call)
        if rendered is None and kept is not call:
            return self._name(source, kept, sure, last)
        given = rendered.value if rendered is not None else args[0] if args else call
        found = self.evaluator.resolve(given)
        is_text = isinstance(found, Const | Text) and isinstance(func, External | Attr)
        return self._name(source, found, sure, last) if is_text else None

    def _pattern(self, source: Source, value: Text, last: bool) -> TemplateName | None:
        """A text with unknown parts names a mail by its constant parts, if those say something."""
        if source == "text" or (not last and any(_may_say_more(source, piece) for piece in value.pieces)):
            return None
        pieces = (str(p.value) if isinstance(p, Const) else "{}" for p in value.pieces)
        name = "".join(pieces).strip()
        return TemplateName(name, source, "medium") if _LETTERS.search(name.replace("{}", "")) else None


def _by_trust(holes: Iterable[Hole]) -> tuple[Hole, ...]:
    return tuple(sorted(dict.fromkeys(holes), key=lambda hole: _ORDER.index(hole.source)))


def _distinct(names: list[TemplateName]) -> list[TemplateName]:
    """The names of different mails: of the parts of one mail the one that names it best."""
    best: dict[str, TemplateName] = {}
    for name in names:
        key = identity(name.value or "")
        if key not in best or _rank(name) < _rank(best[key]):
            best[key] = name
    return list(best.values())


def _rank(name: TemplateName) -> int:
    """Of the parts of one mail the HTML body names it, a subject only where there is nothing else."""
    base = (name.value or "").rpartition("/")[2].lower()
    if name.source != "template":
        return 0
    return 2 if "subject" in base else 0 if re.search(r"html?\b|mjml", base) else 1


def _may_say_more(source: Source, piece: Value) -> bool:
    """Whether a caller may decide what a text says by a piece of it: in a subject only another subject does."""
    if source != "subject":
        return bool(piece.free)
    return isinstance(piece, Param) and _HOLDS_SUBJECT.search(piece.name) is not None


def _is_decided_by_caller(source: Source, value: Value) -> bool:
    """Whether binding parameters can turn a value into a name: it depends on one in more than data read from it."""
    return any(isinstance(part, Param) for part in walk(value)) and (
        source == "text" or not isinstance(value, Element | Table)
    )


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
