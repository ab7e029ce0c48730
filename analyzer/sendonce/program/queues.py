"""What the settings of a queue say of its enqueues: jobs kept in the application's database, or sent on commit."""

from __future__ import annotations

from sendonce import vocabulary as v
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import Const, Table, Value


class Queues:
    """Reads the settings that packs name for their queues, each once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self._known: dict[tuple[str, str], bool] = {}

    def has(self, entry: v.Enqueue | None, effect: str) -> bool:
        """Whether a setting of the pack that describes an enqueue has an effect in this project."""
        for pack in self.packs.packs:
            if entry is not None and any(one is entry for one in pack.enqueue):
                key = (pack.name, effect)
                if key not in self._known:
                    self._known[key] = any(self._holds(one) for one in pack.setting if one.effect == effect)
                return self._known[key]
        return False

    def _holds(self, setting: v.Setting) -> bool:
        return any(self._is_set(path, setting.value) for path in setting.names)

    def _is_set(self, path: str, wanted: v.Scalar) -> bool:
        name, *keys = path.split("/")
        for file in self.program.index.files_with(name) if name.isidentifier() else ():
            module = self.program.module_of(file)
            value = self.evaluator.module_attr(module, name) if module is not None else None
            for key in keys:
                value = self._inside(value, key) if value is not None else None
            if value is not None and self._fits(value, wanted):
                return True
        return False

    def _inside(self, value: Value, key: str) -> Value | None:
        """The item of a dict under a key; None where the dict has none."""
        found = self.evaluator.resolve(value)
        if not isinstance(found, Table):
            return None
        items = zip(found.keys, found.values, strict=True)
        return next((item for name, item in items if name is Const(key)), None)

    def _fits(self, value: Value, wanted: v.Scalar) -> bool:
        """Whether a setting has a value; `"*"` is any but None and False."""
        constant = self.evaluator.constant(value)
        if wanted == "*":
            return constant is None or constant.value not in (None, False)
        return constant is not None and constant.value == wanted
