"""Things of the project that code names by a string: dotted paths, settings, classes by their bare name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    ModuleRef,
    Seq,
    Value,
    options,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator


class ByName:
    """Answers for the `returns` entries of packs that say `setting:`, `named:` or `library:`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program

    def result(self, call: Call) -> Value:
        """What a library's call gives, where a pack says that it is something of the project; else the call itself."""
        entries: tuple[tuple[object, v.Returns], ...] = self.evaluator.lookup(self.evaluator.packs.returns, call.func)
        for _, entry in entries:
            word, _, rest = entry.value.partition(":")
            if word in ("setting", "named", "library") and arguments.holds(self.evaluator, call, entry.when):
                found = self.found(word, rest, call)
                return call if found is None else found
        return call

    def found(self, word: str, rest: str, call: Call) -> Value | None:
        """What a call gives by a pack's word: the class of a setting, of a name that is given, or the library's own."""
        if word == "library":
            return External(self.evaluator.packs.canonical(rest))
        if word == "setting":
            return self.setting_class(rest, call.at[0])
        given = arguments.argument(self.evaluator, call, rest)
        if given is None:
            return None
        found = [one for option in options(self.evaluator.resolve(given)) for one in self._named(option, call.at[0])]
        return union(found) if found else None

    def _named(self, name: Value, path: str) -> Iterator[Value]:
        if isinstance(name, ClassRef | FunctionRef | ModuleRef):
            yield name
        elif isinstance(name, Const) and isinstance(name.value, str):
            found = self.dotted(name.value)
            if found is None:
                cls = self.evaluator.hierarchy.named(name.value.rpartition(".")[2], path)
                found = ClassRef(cls.id) if cls is not None else None
            if found is not None:
                yield found
        else:
            for value in self._in_settings(name):
                if value is not name:
                    yield from self._named(value, path)

    def _in_settings(self, value: Value) -> Iterator[Value]:
        """What a setting of the project says, or a part of one (`settings.BACKENDS["mail"]`, each of a list)."""
        match value:
            case External() if _is_setting(value):
                yield from self.settings(value.dotted.rpartition(".")[2])
            case Item(base=base, index=index):
                for inner in self._in_settings(self.evaluator.resolve(base)):
                    yield from options(self.evaluator.item(inner, index))
            case Element(base=base):
                for inner in self._in_settings(self.evaluator.resolve(base)):
                    yield from options(self.evaluator.resolve(Element(inner)))
            case _:
                pass

    def dotted(self, name: str) -> Value | None:
        """The module, class or function of the tree with a dotted path (`a.b.C.method`, `a.b:f`)."""
        parts = name.replace(":", ".").split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for end in range(len(parts), 0, -1):
            home = ".".join(parts[:end])
            if not self.program.sources.by_module(home):
                continue
            value: Value = ModuleRef(home)
            for part in parts[end:]:
                value = self.evaluator.resolve(Attr(value, part))
            return None if value is UNKNOWN or isinstance(value, Attr) else value
        return None

    def setting_class(self, setting: str, path: str) -> Value | None:
        """The class that a setting names (`AUTH_USER_MODEL = "accounts.User"`)."""
        for value in self.settings(setting):
            if isinstance(value, Const) and isinstance(value.value, str):
                found = self.dotted(value.value)
                if found is not None:
                    return found
                cls = self.evaluator.hierarchy.named(value.value.rpartition(".")[2], path)
                if cls is not None:
                    return ClassRef(cls.id)
        return None

    def settings(self, name: str) -> Iterator[Value]:
        """The values that a setting is given anywhere in the tree, by path."""
        for file in self.program.index.files_with(name):
            module = self.program.module_of(file)
            if module is not None and name in module.scope:
                value = self.evaluator.module_attr(module, name)
                if value is not None:
                    yield from options(self.evaluator.resolve(value))


def _is_setting(value: External) -> bool:
    """Whether something of a library is written like a setting: `django.conf.settings.MAILER`, `app.config.MAILER`."""
    home, _, name = value.dotted.rpartition(".")
    return name.isupper() and home.rpartition(".")[2] in ("settings", "config")


def split_text(evaluator: Evaluator, text: str, name: str, call: Call) -> Value:
    """A constant text taken apart by its own method (`path.rsplit(".", 1)`); the call where that cannot be told."""
    given = [evaluator.constant(arg) for arg in call.args]
    values = [one.value for one in given if one is not None]
    positional = [value for value, word in zip(values, call.names, strict=False) if word == ""]
    named = {word: value for value, word in zip(values, call.names, strict=False) if word}
    if len(values) != len(given) or not values:
        return call
    try:
        return Seq("tuple", tuple(Const(part) for part in getattr(text, name)(*positional, **named)))
    except (TypeError, ValueError):
        return call
