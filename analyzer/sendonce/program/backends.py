"""What a claim's store is worth: shared by all workers, or only one host's or one process's."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import Attr, Call, Const, Item, Value, options

Worth = tuple[str, tuple[str, ...], bool]
"""Scope, what that assumes, and whether it is sure."""


class Backends:
    """Answers for claims; settings are looked up once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self._settings: dict[str, Worth] = {}

    def scope(self, entry: v.Claim, call: Call) -> Worth:
        """What the store of a claim is worth; "none" if the claim cannot be won there."""
        if entry.scope != "cache":
            return entry.scope, (), True
        path = self._path(entry.setting, call)
        key = f"{path}|{id(entry)}"
        if key not in self._settings:
            self._settings[key] = self._worth(entry, path)
        return self._settings[key]

    def _path(self, setting: str, call: Call) -> str:
        """The setting's path, for `caches["other"]` with that name in place of the default."""
        base = call.func.base if isinstance(call.func, Attr) else None
        if isinstance(base, Item) and isinstance(base.index, Const):
            return setting.replace("/default/", f"/{base.index.value}/")
        return setting

    def _worth(self, entry: v.Claim, path: str) -> Worth:
        found = list(self._backends(path))
        scopes = [self._of(entry, value) for value in found]
        if not scopes:
            return self._without(entry)
        if "shared" in scopes:
            return "shared", (), True
        if "" in scopes:
            return "shared", (f"the backend of {path.partition('/')[0]} is shared by all processes",), False
        return min(scopes), (), True

    def _of(self, entry: v.Claim, value: Value | None) -> str:
        """The scope of one backend; empty if it is not known."""
        constant = None if value is None else self.evaluator.constant(value)
        if constant is None or not isinstance(constant.value, str):
            return ""
        return entry.scopes.get(self.evaluator.packs.canonical(constant.value), "")

    def _backends(self, path: str) -> Iterator[Value | None]:
        """The backends that settings modules name; None for one that cannot be told."""
        name, *keys = path.split("/")
        for file in self.program.index.files_with(name):
            module = self.program.module_of(file)
            if module is None or name not in module.scope:
                continue
            value = self.evaluator.module_attr(module, name)
            for option in options(value) if value is not None else ():
                call = Call(option, ("",), (option,), (file.path, 0, 0))
                yield arguments.argument(self.evaluator, call, "/".join(("|0", *keys)))

    def _without(self, entry: v.Claim) -> Worth:
        """The backend where nothing sets one: the library's default, if the settings are in the tree at all."""
        for word in ("INSTALLED_APPS", "ROOT_URLCONF", "SECRET_KEY"):
            for file in self.program.index.files_with(word):
                module = self.program.module_of(file)
                if module is not None and word in module.scope:
                    return entry.scopes.get("", "shared"), (), True
        name = entry.setting.partition("/")[0]
        return "shared", (f"the backend of {name} is shared by all processes",), False
