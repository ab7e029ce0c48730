"""Symbolic values: what an expression is, as far as the code alone can tell.

Values are immutable and interned: two equal values are one object, so identity is equality and
every memo is a dictionary look-up. Calls stay lazy: `Call` names what is called with what, and
`evaluate.py` expands it only when somebody asks. A value that still depends on what a caller
passes contains `Param` values; `substitute` replaces them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_OPTIONS = 32
"""A union of more options than this is `UNKNOWN`."""
MAX_SIZE = 400
"""A value of more parts than this is `UNKNOWN`: it would cost more than it tells."""

GENERIC = "[of]"
"""The field of `Updated` under which an object of a generic class has what its annotation says is in it."""
KNOWN_AS = "isinstance"
"""The field of an `Updated` that changes nothing: a test told the type of the object."""

At = tuple[str, int, int]
"""Where a value was made: relative path, line, column (from 1)."""


class _Interned(type):
    """Makes one object for each distinct list of constructor arguments."""

    def __call__(cls, *args: Any) -> Any:
        key = (cls, *args) if cls is not Const else (cls, type(args[0]), args[0])
        found = _TABLE.get(key)
        if found is None:
            found = super().__call__(*args)
            size = 1 + sum(part.size for part in found.parts())
            if size > MAX_SIZE and UNKNOWN is not None:
                found = _cut(found)
            else:
                object.__setattr__(found, "size", size)
                object.__setattr__(found, "free", _free(found))
            _TABLE[key] = found
        return found


def _cut(value: Value) -> Value:
    """What is kept of a value that is too large: of a call that it is one and its smaller arguments."""
    if isinstance(value, Updated):
        return _cut_change(value)
    if isinstance(value, Table):
        return _cut_table(value)
    if not isinstance(value, Call):
        return UNKNOWN
    small = MAX_SIZE // 8
    args = tuple(arg if arg.size <= small else thinned(arg) for arg in value.args)
    func = value.func if value.func.size <= MAX_SIZE // 2 else thinned(value.func)
    fits = sum(arg.size for arg in args) + func.size < MAX_SIZE
    return Call(func, value.names, args if fits else (UNKNOWN,) * len(args), value.at)


def _cut_table(value: Table) -> Value:
    """Of a table of functions the functions: what is called through it may be any of them."""
    entries = tuple(dict.fromkeys(value.values))
    if not all(isinstance(entry, FunctionRef | ClassRef) for entry in entries):
        return UNKNOWN
    if 1 + len(entries) + sum(entry.size for entry in entries) > MAX_SIZE:
        entries = (UNKNOWN,)
    return Table((UNKNOWN,) * len(entries), entries)


def _cut_change(value: Updated) -> Value:
    """A change without what its object is made of: a method call names that object a second time."""
    change = value.value
    if isinstance(change, Call) and isinstance(change.func, Attr):
        change = Call(Attr(UNKNOWN, change.func.name), change.names, change.args, change.at)
    change = change if change.size <= MAX_SIZE // 4 else thinned(change)
    room = MAX_SIZE * 3 // 4  # what is read from the object afterwards must fit as well
    base = value.base if value.base.size + change.size < room else thinned(value.base)
    fits = base is not UNKNOWN and base.size + change.size < room
    return Updated(base, value.field, change) if fits else UNKNOWN


def thinned(value: Value) -> Value:
    """A large value without the values of its dicts (what templates are rendered with), if that makes it small."""
    if isinstance(value, Table):
        return Table(value.keys, (UNKNOWN,) * len(value.values))
    if isinstance(value, Item) and isinstance(value.base, Table) and value.index in value.base.keys:
        entry = value.base.values[value.base.keys.index(value.index)]
        return Item(Table((value.index,), (entry,)), value.index)
    parts = tuple(thinned(part) if part.size > MAX_SIZE // 16 else part for part in value.parts())
    if 1 + sum(part.size for part in parts) > MAX_SIZE // 2 or (isinstance(value, Updated) and parts[0] is UNKNOWN):
        return UNKNOWN
    return value.rebuild(parts)


def bare(value: Value) -> Value:
    """Of a large value what can be called or has attributes of its own; of an object the small things it was given."""
    if value.size <= MAX_SIZE // 32 or isinstance(value, FunctionRef):
        return value
    if isinstance(value, Updated):
        return bare(value.base)
    if isinstance(value, Union):
        return union(map(bare, value.options))
    if isinstance(value, Call) and isinstance(value.func, ClassRef):
        return Call(value.func, value.names, tuple(map(bare, value.args)), value.at)
    return UNKNOWN


_TABLE: dict[Any, Any] = {}
_NONE_FREE: frozenset[Param] = frozenset()
_SETS: dict[frozenset[Param], frozenset[Param]] = {}


@dataclass(frozen=True, eq=False, slots=True)
class Value(metaclass=_Interned):
    """Base of all values. `free` holds the parameters inside, `size` the number of parts."""

    def parts(self) -> tuple[Value, ...]:
        """The values directly inside this one."""
        return ()

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        """The same kind of value around other parts (as many as `parts()` gave)."""
        return self

    free: frozenset[Param] = field(init=False, repr=False)
    size: int = field(init=False, repr=False)


def _free(value: Value) -> frozenset[Param]:
    if isinstance(value, Param):
        return _shared(frozenset((value,)))
    found = _NONE_FREE
    for part in value.parts():
        if part.free is not found and part.free:
            found = found | part.free if found else part.free
    return _shared(found)


def _shared(free: frozenset[Param]) -> frozenset[Param]:
    """One object for each distinct set: most values have the parameters of their function or none."""
    return _SETS.setdefault(free, free)


class _Leaf(Value):
    __slots__ = ()


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Unknown(_Leaf):
    """Nothing is known."""


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Const(_Leaf):
    """A literal: None, bool, int, float or str."""

    value: Any

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "value", value)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Param(_Leaf):
    """What the caller passes as parameter `name` of the function with this id."""

    function: str
    name: str

    def __init__(self, function: str, name: str) -> None:
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class External(_Leaf):
    """Something outside the analysed tree (or a builtin, `builtins.x`), by its documented dotted name."""

    dotted: str

    def __init__(self, dotted: str) -> None:
        object.__setattr__(self, "dotted", dotted)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class ModuleRef(_Leaf):
    """A module of the analysed tree."""

    name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class ClassRef(_Leaf):
    """A class of the analysed tree, by id."""

    id: str

    def __init__(self, id: str) -> None:
        object.__setattr__(self, "id", id)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class FunctionRef(Value):
    """A function of the analysed tree, the object it is bound to, and what its enclosing functions were given."""

    id: str
    receiver: Value | None
    closure: tuple[tuple[Param, Value], ...]

    def __init__(self, id: str, receiver: Value | None = None, closure: tuple[tuple[Param, Value], ...] = ()) -> None:
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "receiver", receiver)
        object.__setattr__(self, "closure", closure)

    def parts(self) -> tuple[Value, ...]:
        head = () if self.receiver is None else (self.receiver,)
        return (*head, *(value for _, value in self.closure))

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        receiver, rest = (None, parts) if self.receiver is None else (parts[0], parts[1:])
        names = (param for param, _ in self.closure)
        return FunctionRef(self.id, receiver, tuple(zip(names, rest, strict=True)))


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Some(Value):
    """Some instance of a class (`ClassRef` or `External`) of which nothing else is known."""

    cls: Value

    def __init__(self, cls: Value) -> None:
        object.__setattr__(self, "cls", cls)

    def parts(self) -> tuple[Value, ...]:
        return (self.cls,)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Some(parts[0])


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Attr(Value):
    """`base.name`."""

    base: Value
    name: str

    def __init__(self, base: Value, name: str) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "name", name)

    def parts(self) -> tuple[Value, ...]:
        return (self.base,)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Attr(parts[0], self.name)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Super(Value):
    """`super()` in a method of the class with this id, for `receiver`."""

    cls: str
    receiver: Value

    def __init__(self, cls: str, receiver: Value) -> None:
        object.__setattr__(self, "cls", cls)
        object.__setattr__(self, "receiver", receiver)

    def parts(self) -> tuple[Value, ...]:
        return (self.receiver,)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Super(self.cls, parts[0])


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Item(Value):
    """`base[index]`."""

    base: Value
    index: Value

    def __init__(self, base: Value, index: Value) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "index", index)

    def parts(self) -> tuple[Value, ...]:
        return (self.base, self.index)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Item(parts[0], parts[1])


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Element(Value):
    """Some item that iterating over `base` gives (`entered`: what entering a context manager gives)."""

    base: Value
    entered: bool

    def __init__(self, base: Value, entered: bool = False) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "entered", entered)

    def parts(self) -> tuple[Value, ...]:
        return (self.base,)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Element(parts[0], self.entered)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Call(Value):
    """The result of calling `func`; an instance where `func` is a class. `at` tells two calls apart.

    `names` has one word an argument: "" positional, a keyword, "*" or "**".
    """

    func: Value
    names: tuple[str, ...]
    args: tuple[Value, ...]
    at: At

    def __init__(self, func: Value, names: tuple[str, ...], args: tuple[Value, ...], at: At) -> None:
        object.__setattr__(self, "func", func)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "at", at)

    def parts(self) -> tuple[Value, ...]:
        return (self.func, *self.args)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Call(parts[0], self.names, parts[1:], self.at)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Text(Value):
    """An f-string or a formatted string: constants and other values in their order."""

    pieces: tuple[Value, ...]

    def __init__(self, pieces: tuple[Value, ...]) -> None:
        object.__setattr__(self, "pieces", pieces)

    def parts(self) -> tuple[Value, ...]:
        return self.pieces

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return text(parts)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Seq(Value):
    """A list, tuple or set whose items are known, or ("each") a comprehension with one sample item."""

    kind: str
    items: tuple[Value, ...]

    def __init__(self, kind: str, items: tuple[Value, ...]) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "items", items)

    def parts(self) -> tuple[Value, ...]:
        return self.items

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Seq(self.kind, parts)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Table(Value):
    """A dict display: keys and values in step; a key of `UNKNOWN` is one that is not known."""

    keys: tuple[Value, ...]
    values: tuple[Value, ...]

    def __init__(self, keys: tuple[Value, ...], values: tuple[Value, ...]) -> None:
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "values", values)

    def parts(self) -> tuple[Value, ...]:
        return (*self.keys, *self.values)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        half = len(self.keys)
        return Table(parts[:half], parts[half:])


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Op(Value):
    """An operator applied to values: "==", "not", "and", "+", "in", …"""

    op: str
    operands: tuple[Value, ...]

    def __init__(self, op: str, operands: tuple[Value, ...]) -> None:
        object.__setattr__(self, "op", op)
        object.__setattr__(self, "operands", operands)

    def parts(self) -> tuple[Value, ...]:
        return self.operands

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Op(self.op, parts)


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Updated(Value):
    """`base` after something was set on it: an attribute "x", an item "[key]", or a method call "x()"."""

    base: Value
    field: str
    value: Value

    def __init__(self, base: Value, field: str, value: Value) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "value", value)

    def parts(self) -> tuple[Value, ...]:
        return (self.base, self.value)

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return Updated(parts[0], self.field, parts[1])


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Union(Value):
    """One of several values."""

    options: tuple[Value, ...]

    def __init__(self, options: tuple[Value, ...]) -> None:
        object.__setattr__(self, "options", options)

    def parts(self) -> tuple[Value, ...]:
        return self.options

    def rebuild(self, parts: tuple[Value, ...]) -> Value:
        return union(parts)


UNKNOWN: Value = None  # type: ignore[assignment]  # Unknown() itself needs the name while it is made
UNKNOWN = Unknown()
NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)


def union(values: Iterable[Value]) -> Value:
    """One of the values: flattened, without repetitions, in first-come order."""
    seen: dict[Value, None] = {}
    for value in values:
        for option in options(value):
            seen.setdefault(option)
    if not seen or len(seen) > MAX_OPTIONS:
        return UNKNOWN
    return next(iter(seen)) if len(seen) == 1 else Union(tuple(seen))


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value; a plain value is its own only one."""
    return value.options if isinstance(value, Union) else (value,)


def text(pieces: tuple[Value, ...]) -> Value:
    """A text of pieces; neighbouring constants are joined, a text of constants is a constant."""
    joined: list[Value] = []
    for piece in pieces:
        for part in piece.pieces if isinstance(piece, Text) else (piece,):
            if joined and isinstance(part, Const) and isinstance(joined[-1], Const):
                joined[-1] = Const(f"{joined[-1].value}{part.value}")
            else:
                joined.append(part)
    if not joined:
        return Const("")
    if len(joined) == 1 and isinstance(joined[0], Const):
        return Const(str(joined[0].value))
    return Text(tuple(joined))


def substitute(value: Value, binding: Mapping[Param, Value], memo: dict[Value, Value] | None = None) -> Value:
    """`value` with the parameters in `binding` replaced, inside closures as well."""
    if not value.free or not binding or binding.keys().isdisjoint(value.free):
        return value
    if isinstance(value, Param):
        return binding[value]
    memo = {} if memo is None else memo
    found = memo.get(value)
    if found is None:
        before = value.parts()
        parts = tuple([substitute(part, binding, memo) if part.free else part for part in before])
        found = value if parts == before else value.rebuild(parts)
        memo[value] = found
    return found


def unchanged(value: Value) -> Value:
    """What was changed, before all changes."""
    while isinstance(value, Updated):
        value = value.base
    return value


def walk(value: Value) -> Iterable[Value]:
    """The value and all values inside it, outermost first, each once."""
    seen = {value}
    todo = [value]
    for found in todo:
        for part in found.parts():
            if part not in seen:
                seen.add(part)
                todo.append(part)
    return todo
