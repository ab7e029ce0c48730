"""One answerer for all questions about values, made of parts that each know one kind of value.

`Evaluator.resolve` reduces the head of a value as far as the code allows and gives the value
itself where it cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sendonce.program.evaluate.annotations import Annotations
from sendonce.program.evaluate.attributes import Attributes
from sendonce.program.evaluate.calls import Calls
from sendonce.program.evaluate.construction import Construction
from sendonce.program.evaluate.decorators import Decorators
from sendonce.program.evaluate.elements import Elements
from sendonce.program.evaluate.filled import Filled
from sendonce.program.evaluate.folding import operation
from sendonce.program.evaluate.frameworks import Frameworks
from sendonce.program.evaluate.instances import Instances
from sendonce.program.evaluate.items import Items
from sendonce.program.evaluate.memo import Memo
from sendonce.program.evaluate.names import Names
from sendonce.program.evaluate.shapes import Shapes
from sendonce.program.held import Site, Test
from sendonce.program.hierarchy import Hierarchy
from sendonce.program.models import Models
from sendonce.program.naming import ByName
from sendonce.program.program import Program
from sendonce.program.services import Services
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, Const, Element, Item, Op, Seq, Text, Union, Updated, Value, text, union

_REDUCIBLE = frozenset((Attr, Item, Element, Call, Union, Op, Updated, Text))
"""The kinds of values that have a head to reduce: asked more often than anything else."""


class Write(Protocol):
    """An assignment to an attribute or item, `key` for an item."""

    @property
    def base(self) -> Value: ...
    @property
    def key(self) -> Value | None: ...
    @property
    def value(self) -> Value: ...


MAX_ITEMS = 60
"""A list with more items than this is not looked into for one of them."""


class Flow(Protocol):
    """What the evaluator asks of the walk over a function (see `flow`)."""

    sites: list[Site]
    hidden: list[Site]
    end: dict[str, Value]
    done: bool

    @property
    def writes(self) -> Sequence[Write]: ...
    @property
    def returned(self) -> Value: ...
    @property
    def parted(self) -> tuple[tuple[Value, tuple[Test, ...]], ...]: ...
    def binding(self, name: str) -> Value | None: ...
    def written(self, attr: str) -> tuple[Value, ...]: ...


class Evaluator:
    """Answers questions about values in one program. `flow_of` walks a function's body (memoised by its owner)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.packs = program.packs
        self.memo = Memo()
        self.flow_of: Callable[[Function], Flow] = _no_flow
        self.hierarchy = Hierarchy(program, self)
        self.by_name = ByName(self)
        self.services = Services(self)
        self.models = Models(self)
        self._parts()
        self._questions()

    def _parts(self) -> None:
        self.filled = Filled(self)
        self.names = Names(self)
        self.decorators = Decorators(self)
        self.calls = Calls(self)
        self.attributes = Attributes(self)
        self.construction = Construction(self)
        self.items = Items(self)
        self.elements = Elements(self)
        self.instances = Instances(self)
        self.annotations = Annotations(self)
        self.frameworks = Frameworks(self)
        self.named = Shapes(self)

    def _questions(self) -> None:
        """What the rest of the program asks, whichever part answers."""
        self.name = self.names.name
        self.module_name = self.names.module_name
        self.module_attr = self.names.module_attr
        self.binding_value = self.names.binding_value
        self.decorated = self.decorators.decorated
        self.applied = self.decorators.applied
        self.closed = self.decorators.closed
        self.direct = self.decorators.direct
        self.seen_through = self.calls.seen_through
        self.never_returns = self.calls.never_returns
        self.suppresses = self.calls.suppresses
        self.fields_of = self.construction.fields_of
        self.item = self.items.item
        self.put_in = self.items.put_in
        self.types = self.instances.types
        self.bases_of_made = self.instances.bases_of_made
        self.is_cls_param = self.instances.is_cls_param
        self.annotated = self.annotations.annotated
        self.instance_of = self.annotations.instance_of
        self.passed = self.frameworks.passed
        self.model_of = self.frameworks.model_of
        self.jobs_of = self.frameworks.jobs_of
        self.shapes = self.named.shapes
        self.lookup = self.named.lookup
        self.lookup_overridden = self.named.lookup_overridden

    def resolve(self, value: Value) -> Value:
        """The value with its head reduced: attributes, items and calls looked up where the code tells."""
        if type(value) not in _REDUCIBLE:
            return value
        return self.memo.once(("resolve", value), lambda: self._resolve(value), value)

    def _resolve(self, value: Value) -> Value:
        match value:
            case Attr(base=base, name=name):
                return self.attributes.of(value, base, name)
            case Item(base=base, index=index):
                return self.items.item(base, index, value)
            case Element(base=base, entered=entered):
                return self.elements.entered(value, base) if entered else self.elements.of(value, base)
            case Call():
                return self.calls.result(value)
            case Union(options=found):
                return union(self.resolve(option) for option in found)
            case Op():
                return operation(value, tuple(self._operand(value.op, operand) for operand in value.operands))
            case Text(pieces=pieces):
                return text(tuple(self.resolve(piece) for piece in pieces))
            case _:
                return value

    def _operand(self, op: str, operand: Value) -> Value:
        """An operand; of a list that something is looked for in, its items are told too."""
        found = self.resolve(operand)
        if op in ("in", "not in") and isinstance(found, Seq) and found.kind != "each" and len(found.items) <= MAX_ITEMS:
            return Seq(found.kind, tuple(self.resolve(item) for item in found.items))
        return found

    def constant(self, value: Value) -> Const | None:
        """The constant that a value is, if it is one."""
        found = self.resolve(value)
        return found if isinstance(found, Const) else None


def _no_flow(function: Function) -> Flow:
    raise RuntimeError("no flow yet")
