"""Texts that have a name of their own: constants, and entries of tables of texts."""

from __future__ import annotations

from sendonce import facts
from sendonce.program.evaluate import Evaluator
from sendonce.program.symbols import Class, Module, Scope
from sendonce.program.values import Item, Table, Value


class TextNames:
    """Finds the names of texts."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._constants: dict[str, tuple[str, str]] = {}
        self._read = 0
        """How many of the modules were looked through."""

    def constant(self, text: str) -> str | None:
        """The name of the constant (in capitals) that holds this text; by path where there are several."""
        new = self.evaluator.program.parsed_after(self._read)
        self._read += len(new)
        for module in new:
            self._collect(module)
        found = self._constants.get(text)
        return None if found is None else found[1]

    def _collect(self, module: Module) -> None:
        classes: list[Class] = list(module.classes.values())
        scopes: list[Scope] = [module.scope, *(cls.scope for cls in classes)]
        for scope in scopes:
            for name, bindings in scope.items():
                node = bindings[-1].node
                if name.isupper() and isinstance(node, facts.Constant) and isinstance(node.value, str):
                    here = (module.path, name)
                    self._constants[node.value] = min(here, self._constants.get(node.value, here))

    def key(self, value: Value) -> str | None:
        """The key of a table of mails that a text was taken from: `paid` of `MAILS["paid"]["subject"]`."""
        if not (isinstance(value, Item) and isinstance(value.base, Item)):
            return None
        key = self.evaluator.constant(value.base.index)
        table = self.evaluator.resolve(value.base.base)
        if isinstance(table, Table) and key is not None and isinstance(key.value, str) and _is_of_mails(table):
            return key.value
        return None


def _is_of_mails(table: Table) -> bool:
    return len(table.values) > 0 and all(isinstance(value, Table) for value in table.values)
