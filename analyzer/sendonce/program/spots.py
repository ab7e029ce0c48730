"""What an application remembers, as places that a check reads and a mark writes: fields, rows, keys, collections.

A `Spot` is such a place. Two spots meet when writing one can change what reading the other gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sendonce import facts
from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import Fields, Model
from sendonce.program.reservations import Reservations, as_text
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Seq,
    Table,
    Text,
    Updated,
    Value,
    options,
)

MAX_DEPTH = 8
EMPTY = "an empty display"
"""The place of a collection that is written as `{}` or `[]`: two of them cannot be told apart."""
SpotKind = Literal["field", "row", "key", "items", "entry", "file"]


@dataclass(frozen=True)
class Spot:
    """A field (`name`) of a model (`owner`), the rows of a model, a key of a store, items or one entry of a mapping.

    `owner` is empty where the model is not known.
    """

    kind: SpotKind
    name: str
    owner: str = ""

    def meets(self, other: Spot) -> bool:
        """Whether both are, or may be, the same place."""
        if self.kind != other.kind or self.name != other.name:
            return False
        return not self.owner or not other.owner or self.owner == other.owner

    @property
    def shown(self) -> str:
        """The place in words."""
        owner = self.owner.rpartition(".")[2]
        match self.kind:
            case "field":
                return f"{owner}.{self.name}" if owner else self.name
            case "row":
                return f"a row of {owner or self.name}"
            case "key":
                return f"the key {self.name}"
            case "file":
                return "a marker file"
            case "entry":
                return f"[{self.name}]"
            case _:
                return "a collection in memory"


@dataclass(frozen=True, eq=False)
class Read:
    """A spot that a value reads, the part that reads it, and for a test of a query what it compares with."""

    spot: Spot
    part: Value


@dataclass(frozen=True, eq=False)
class Written:
    """A spot that is written and with what; `row` is the row (for an insert: the call that makes it)."""

    spot: Spot
    value: Value
    row: Value = UNKNOWN
    how: Literal["set", "insert", "delete"] = "set"


class Spots:
    """Names for what values and calls are about."""

    def __init__(self, evaluator: Evaluator, reservations: Reservations) -> None:
        self.evaluator = evaluator
        self.reservations = reservations
        self.fields: Fields = reservations.fields
        self._owners: dict[str, str] = {}

    def owners(self, base: Value) -> tuple[str, ...]:
        """The models that a row may be of; an empty name if none is known; nothing for a library's own object."""
        types = self.evaluator.types(base)
        found = [one.id for one in types if isinstance(one, ClassRef)]
        if not found and types:
            return ()
        return tuple(dict.fromkeys(found)) or ("",)

    def related(self, relation: Attr) -> Iterator[str]:
        """The models of a library that have this relation: a public attribute that no method of theirs sets."""
        for one in () if relation.name.startswith("_") else self.evaluator.types(relation.base):
            is_model = isinstance(one, ClassRef) and self.fields.is_model(one)
            if isinstance(one, ClassRef) and is_model and not self.evaluator.hierarchy.writers(one.id, relation.name):
                yield one.id

    def owner_of(self, model: Model | None) -> str:
        """The name of a model or table that no other has."""
        if isinstance(model, str):
            if model not in self._owners:
                cls = self.reservations.uniques.class_of_table(model)
                self._owners[model] = cls.id if cls is not None else model
            return self._owners[model]
        return self.fields.id_of(model) if model is not None else ""

    def key(self, key: Value) -> Spot:
        """A key of a store: its text, what is not constant as a hole."""
        resolved = self.evaluator.resolve(key)
        for option in options(resolved):
            while isinstance(option, Updated):
                option = option.base
            if isinstance(option, Const | Text):
                return Spot("key", as_text(option).strip("'\""))
        return Spot("key", "{}", str(id(resolved)))

    def collection(self, value: Value) -> str | None:
        """Where a set, dict or list that outlives the function was made; None for anything else."""
        for option in options(self.evaluator.resolve(value)):
            while isinstance(option, Updated):
                option = self.evaluator.resolve(option.base)
            if isinstance(option, Call) and self.evaluator.shapes(option.func) & _COLLECTIONS:
                return self._outlives(option)
            if isinstance(option, Table | Seq) and not option.parts():
                return EMPTY
        return None

    def is_collection(self, value: Value) -> bool:
        """Whether a value is a set, dict or list that was made empty."""
        if isinstance(value, Call):
            return not self.evaluator.shapes(value.func).isdisjoint(_COLLECTIONS)
        return isinstance(value, Table | Seq) and not value.parts()

    def _outlives(self, made: Call) -> str | None:
        """The place of a collection that no function makes for itself; a constructor makes it for its object."""
        path, line, _ = made.at
        file = self.evaluator.program.sources.by_path(path)
        module = self.evaluator.program.module_of(file) if file is not None else None
        for function in module.functions.values() if module is not None else ():
            node = function.node
            if isinstance(node, facts.Def) and node.name != "__init__" and node.at[0] <= line <= node.at[2]:
                return None
        return f"{path}:{line}"

    def model_of(self, call: Call) -> Model | None:
        """The model of a query, or of the statement that a session is given to run."""
        found = self.fields.model(call)
        if found is not None:
            return found
        for inner in self.fields.chain(call):
            for arg in inner.args[:1]:
                statement = self.evaluator.resolve(arg)
                found = self.fields.model(statement) if isinstance(statement, Call) else None
                if found is not None:
                    return found
        return None

    def path(self, call: Call, names: frozenset[str], functions: str) -> Spot | None:
        """The file that a method of a path, or a function that is given one, is about."""
        shapes = self.evaluator.shapes(call.func)
        if isinstance(call.func, Attr) and call.func.name in names and not call.args[1:]:
            known = any(shape.startswith("pathlib.") for shape in shapes)
            if known or (not shapes and not self.evaluator.types(call.func.base) and self.model_of(call) is None):
                return Spot("file", "a file", str(id(self.evaluator.resolve(call.func.base))))
        if call.args and any(shape.startswith(functions) and shape.rpartition(".")[2] in names for shape in shapes):
            return Spot("file", "a file", str(id(self.evaluator.resolve(call.args[0]))))
        return None


_COLLECTIONS = frozenset(
    ["builtins.set", "builtins.dict", "builtins.list", "collections.defaultdict", "collections.deque",
     "collections.OrderedDict", "cachetools.TTLCache", "cachetools.LRUCache", "weakref.WeakSet"]
)  # fmt: skip


def is_telling(key: Value) -> bool:
    """Whether an argument looks like a key: text with a constant part."""
    return isinstance(key, Text) or (isinstance(key, Const) and isinstance(key.value, str))
