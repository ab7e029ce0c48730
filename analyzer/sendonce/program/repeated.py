"""Whether a collection can give one row or one person twice: joins, lists put together, roles of one object."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sendonce import vocabulary as v
from sendonce.program.conditions import Conditions
from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import Fields
from sendonce.program.uniques import Uniques
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    Op,
    Seq,
    Updated,
    Value,
    options,
    walk,
)

MAX_DEPTH = 6
_KEPT = frozenset(["builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed", "builtins.iter",
                   "builtins.enumerate", "itertools.islice"])  # fmt: skip
"""Calls that give all items of their first argument."""
_JOINED = frozenset(["itertools.chain"])
_ONCE = frozenset(f"builtins.{name}" for name in ("set", "frozenset", "dict", "dict.fromkeys"))
_GROWS = frozenset(["append()", "extend()", "insert()"])
_TOTALS = frozenset(["Count", "Sum", "Max", "Min", "Avg", "ArrayAgg", "StringAgg", "BoolOr"])
"""Aggregates: with one of them a query is grouped by its rows."""
_SELECTS = frozenset(["all", "filter", "order_by", "values_list", "values", "only", "select_related", "exclude"])
"""Methods that give rows, or columns of rows, of the collection they are called on."""
_EXACT = frozenset(["", "exact", "iexact", "pk", "id"])
_ADDRESSES = frozenset(["email", "mail", "address", "email_address", "mail_address"])


class Repeated:
    """Answers for collections: why an item can come twice, or nothing."""

    def __init__(self, evaluator: Evaluator, uniques: Uniques) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.models = evaluator.models
        self.uniques = uniques
        self.fields = Fields(evaluator)
        self.conditions = Conditions(evaluator, self.fields)

    def why(self, value: Value, depth: int = 0) -> str:
        """Why a collection can give one row or person twice; empty where nothing shows that it can."""
        if depth > MAX_DEPTH:
            return ""
        found = (self._why(option, depth) for option in options(self.evaluator.resolve(value)))
        return next(filter(None, found), "")

    def _why(self, value: Value, depth: int) -> str:
        match value:
            case Seq(kind="each", items=items):
                sources = (part.base for item in items for part in _elements(item))
                return next(filter(None, (self.why(source, depth + 1) for source in sources)), "")
            case Seq(kind="list" | "tuple", items=items):
                return self._roles(items)
            case Op(op="+", operands=parts):
                return self._together(parts, depth)
            case Updated(base=base, field=field, value=Call(args=args)) if field in _GROWS:
                return self._together((base, *args), depth)
            case Updated(base=base) if value.field != "model":
                return self.why(base, depth + 1)
            case Call(func=func, args=args) if args and self.evaluator.shapes(func) & _KEPT:
                return self.why(args[0], depth + 1)
            case Call(func=func, args=args) if self.evaluator.shapes(func) & _JOINED:
                return self._together(args, depth)
            case Call(func=func) if not self.evaluator.shapes(func) & _ONCE:
                return self._of_query(value)
            case _:
                return ""

    # ------------------------------------------------------------------ lists

    def _together(self, parts: tuple[Value, ...], depth: int) -> str:
        """Lists put one behind the other: one of them repeats, or two are drawn from the same people."""
        for one in parts:
            found = self.why(one, depth + 1)
            if found:
                return found
        for one, other in combinations(parts, 2):
            common = self._sources(one) & self._sources(other)
            if common:
                return "both lists are drawn from the same rows"
        return ""

    def _sources(self, value: Value) -> frozenset[Value]:
        """The collections that the items of a list are drawn from."""
        if isinstance(_unfiltered(value), Attr):
            return frozenset((_unfiltered(value),))
        found: set[Value] = set()
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, Seq) and option.kind == "each":
                found.update(_unfiltered(part.base) for item in option.items for part in _elements(item))
            elif isinstance(option, Call) and self.evaluator.shapes(option.func) & _KEPT and option.args:
                found |= self._sources(option.args[0])
            elif isinstance(option, Attr | Call):
                found.add(_unfiltered(option))
        return frozenset(found - {UNKNOWN})

    def _roles(self, items: tuple[Value, ...]) -> str:
        """Several roles of one object (`order.buyer.email`, `order.seller.email`): one person may have two."""
        for one, other in combinations(items, 2):
            roles = _role(one), _role(other)
            if roles[0] is None or roles[1] is None:
                continue
            first, second = roles[0][0], roles[1][0]
            attr = roles[0][1]
            if attr != roles[1][1] or first.base is not second.base or first.name == second.name:
                continue
            kinds = [set(self.evaluator.types(role)) for role in (first, second)]
            if kinds[0] & kinds[1] if all(kinds) else attr in _ADDRESSES and not any(kinds):
                return f"one person can be both {first.name} and {second.name}"
        return ""

    # ------------------------------------------------------------------ queries

    def _of_query(self, query: Call) -> str:
        """A join over a to-many relation, in a query that nothing makes distinct."""
        calls = [one for call in self.fields.chain(query) for one in (call, *self._statement(call))]
        if any(self._is_distinct(call) for call in calls):
            return ""
        for call in calls:
            found = self._lookups(call) or self._columns(call) or self._joins(call)
            if found:
                return found
        return ""

    def _statement(self, call: Call) -> Iterator[Call]:
        """The calls that built a statement which a call runs: `session.scalars(select(User).join(Team))`."""
        for arg in call.args[:1]:
            yield from self.fields.chain(arg)

    def _is_distinct(self, call: Call) -> bool:
        if any(True for _ in self.evaluator.lookup(self.packs.store_distinct, call.func)):
            return True
        name = call.func.name if isinstance(call.func, Attr) else ""
        if name in ("annotate", "aggregate"):
            return any(isinstance(arg, Call) and _last(self.evaluator, arg.func) in _TOTALS for arg in call.args)
        return name in ("distinct", "unique", "group_by", "first", "get", "one", "exists", "count", "last")

    def _lookups(self, call: Call) -> str:
        """Keyword look-ups over a to-many relation: `filter(teams__project=project)`."""
        if not isinstance(call.func, Attr) or call.func.name not in ("filter", "complex_filter"):
            return ""
        found = self.fields.model(call)
        model = found if isinstance(found, ClassRef) else None
        pairs = list(zip(call.names, call.args, strict=True))
        inner = [part for name, arg in pairs if name == "" for part in walk(arg) if isinstance(part, Call)]
        pairs += [pair for one in inner for pair in zip(one.names, one.args, strict=True)]
        for name, value in pairs:
            if name not in ("", "*", "**") and self._multiplies(model, name, value):
                return f"the look-up {name} joins a to-many relation, and a row comes once for each match"
        return ""

    def _multiplies(self, model: ClassRef | None, name: str, value: Value) -> bool:
        """Whether a look-up can match several related rows of one row."""
        words = name.split("__")
        for index, word in enumerate(words):
            step = self.models.step(model, word)
            if step is None:
                return False
            rest = words[index + 1 :]
            if step.many:
                return not self._matches_one(step.target, rest, value)
            model = step.target
            if model is None:
                return False
        return False

    def _matches_one(self, target: ClassRef | None, rest: list[str], value: Value) -> bool:
        """Whether a condition on related rows can hold for one of them only."""
        if not rest or (rest[0] in _EXACT and len(rest) == 1):
            return True
        if rest[-1] == "isnull":
            constant = self.evaluator.constant(value)
            return len(rest) == 1 and constant is not None and bool(constant.value)
        last = rest[-1] if len(rest) > 1 else ""
        unique = target is not None and self.uniques.cover(target, frozenset((rest[0],))).answer == "yes"
        return unique and last in _EXACT

    def _columns(self, call: Call) -> str:
        """Columns over a many-to-many relation: `values_list("members__email")`."""
        if not isinstance(call.func, Attr) or call.func.name not in ("values_list", "values"):
            return ""
        model = self.fields.model(call)
        for arg in call.args:
            constant = self.evaluator.constant(arg)
            words = str(constant.value).split("__") if constant is not None else []
            step = self.models.step(model, words[0]) if len(words) > 1 and isinstance(model, ClassRef) else None
            if step is not None and step.both_ways:
                return f"the column {constant.value} is read over a many-to-many relation"  # type: ignore[union-attr]
        return ""

    def _joins(self, call: Call) -> str:
        """`select(User).join(Membership)`, where a user has many of them."""
        entries: tuple[tuple[object, v.Store], ...] = self.evaluator.lookup(self.packs.store_joins, call.func)
        if not entries or not call.args:
            return ""
        asked = self._asked(call)
        old = any(".Query()" in shape for shape in self.evaluator.shapes(call.func))
        if old and isinstance(asked, ClassRef):
            return ""  # the old query gives each object once
        base = asked.base if isinstance(asked, Attr) else asked
        if isinstance(base, ClassRef) and self._has_many(base, call.args[0]):
            return "the join gives a row once for each match"
        return ""

    def _asked(self, call: Call) -> Value:
        """The model, or its column, that a statement asks for first: what stands before it only makes a session."""
        for one in reversed(list(self.fields.chain(call))):
            asked = one.args[0] if one.args else UNKNOWN
            found = self.evaluator.resolve(asked)
            if isinstance(found, ClassRef):
                return found
            if isinstance(asked, Attr) and isinstance(self.evaluator.resolve(asked.base), ClassRef):
                return Attr(self.evaluator.resolve(asked.base), asked.name)
        return UNKNOWN

    def _has_many(self, base: ClassRef, joined: Value) -> bool:
        """Whether a row of one model has many of what is joined to it."""
        found = self.evaluator.resolve(joined)
        if isinstance(found, ClassRef):
            return base.id != found.id and self._points_to(found, base)
        if isinstance(joined, Attr) and isinstance(joined.base, ClassRef):
            declared = self.evaluator.annotations.declared(joined.base, joined.name)
            return isinstance(declared, Seq) or self._is_through_table(found)
        return False

    def _is_through_table(self, relation: Value) -> bool:
        """Whether a relation goes over a table of its own, as many-to-many relations do."""
        known = isinstance(relation, Call) and self.evaluator.lookup(self.packs.relations, relation.func)
        return bool(known) and isinstance(relation, Call) and "secondary" in relation.names

    def _points_to(self, model: ClassRef, base: ClassRef) -> bool:
        """Whether a model has a foreign key to another one."""
        for cls in self.evaluator.hierarchy.mro(model.id):
            for name in cls.scope:
                value = self.evaluator.binding_value(cls.module, cls, cls.scope[name][-1])
                for part in walk(value):
                    if isinstance(part, Call) and _last(self.evaluator, part.func) in ("ForeignKey", "ForeignKeyField"):
                        given = self.evaluator.resolve(part.args[0]) if part.args else UNKNOWN
                        table = str(given.value).partition(".")[0] if isinstance(given, Const) else ""
                        if given is base or (table and self._is_table(table, base)):
                            return True
        return False

    def _is_table(self, table: str, base: ClassRef) -> bool:
        declared = self.evaluator.constant(Attr(base, "__tablename__"))
        name = str(declared.value) if declared is not None else self.evaluator.program.cls(base.id).name.lower()
        return table in (name, f"{name}s")


def _elements(item: Value) -> Iterator[Element]:
    """The collections' items inside a comprehension's sample item, outermost first."""
    todo = [item]
    while todo:
        found = todo.pop()
        if isinstance(found, Element):
            yield found
        else:
            todo.extend(found.parts())


def _unfiltered(value: Value) -> Value:
    """A collection without `.all()` and the like behind it."""
    while isinstance(value, Call) and isinstance(value.func, Attr) and value.func.name in _SELECTS:
        value = value.func.base
    return value


def _role(item: Value) -> tuple[Attr, str] | None:
    """The attribute by which an object names a person, and the attribute with that person's address."""
    if not isinstance(item, Attr):
        return None
    if isinstance(item.base, Attr) and item.name in _ADDRESSES:
        return item.base, item.name
    return item, ""


def _last(evaluator: Evaluator, func: Value) -> str:
    names = sorted(evaluator.shapes(func))
    return names[0].rpartition(".")[2] if names else ""
