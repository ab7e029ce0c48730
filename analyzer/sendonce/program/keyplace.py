"""Where a key is made: the expression that puts what differs on every attempt together with the rest of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.findings import Place
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.symbols import Function, own_nodes
from sendonce.program.values import At, FunctionRef, options

MAX_STEPS = 4

_TEXT = frozenset(
    ["str", "repr", "hash", "int", "round", "bytes", "format", "format_map", "join", "encode", "decode", "lower",
     "upper", "strip", "replace", "hexdigest", "digest", "md5", "sha1", "sha224", "sha256", "sha384", "sha512",
     "blake2b", "blake2s", "new", "crc32", "adler32", "b64encode", "urlsafe_b64encode", "dumps", "quote", "slugify",
     "uuid3", "uuid5", "UUID", "isoformat", "strftime", "timestamp", "map", "tuple", "list", "sorted"]
)  # fmt: skip
"""Calls that only change how their arguments look."""
_LOGS = frozenset(["debug", "info", "warning", "error", "exception", "critical", "log", "print"])


@dataclass(frozen=True)
class Made:
    """The expression that makes a key, and the function in which it stands."""

    place: Place
    function: str


class KeyPlaces:
    """Answers for places of calls."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.flows = flows

    def of(self, at: At, callers: Iterable[str]) -> Made | None:
        """Where the key is made that the call at a place is a part of; `callers` are functions that may ask for it."""
        for _ in range(MAX_STEPS):
            function = self.function_at(at)
            if function is None:
                return None
            around = _around(function, at)
            whole = _composed(around)
            if whole is None:
                return None
            found = whole if _has_rest(whole) else _later(function, around, whole)
            if found is None and _is_returned(around):
                asked = self._call_of(function, callers)
                if asked is not None and asked != at:
                    at = asked
                    continue
            return Made(Place(function.module.path, *(found or whole).at), function.dotted)
        return None

    def function_at(self, at: At) -> Function | None:
        """The innermost function in which a place lies."""
        file = self.program.sources.by_path(at[0])
        module = self.program.module_of(file) if file is not None else None
        found = module.functions.values() if module is not None else ()
        inside = [one for one in found if isinstance(one.node, facts.ModuleFacts) or _covers(one.node.at, at)]
        return max(inside, key=lambda one: one.place[1:], default=None)

    def _call_of(self, function: Function, callers: Iterable[str]) -> At | None:
        """Where one of some functions calls another."""
        for id in callers:
            for site in self.flows.of(self.program.function(id)).sites:
                called = options(self.evaluator.resolve(site.call.func))
                if any(isinstance(one, FunctionRef) and one.id == function.id for one in called):
                    return site.call.at
        return None


def _covers(span: facts.Span, at: At) -> bool:
    return span[:2] <= at[1:] < span[2:]


def _around(function: Function, at: At) -> list[facts.Node]:
    """What a place lies in, the innermost first, up to the statement."""
    nodes = (node for node in own_nodes(function.node) if isinstance(node, facts.Node) and _covers(node.at, at))
    return sorted(nodes, key=lambda node: (node.at[:2], tuple(-end for end in node.at[2:])), reverse=True)


def _composed(around: list[facts.Node]) -> facts.Node | None:
    """The largest expression that only puts text together around the innermost one."""
    whole: facts.Node | None = None
    for node in around:
        if whole is not None and not _only_shows(node, whole):
            break
        whole = node
    return whole


def _only_shows(node: facts.Node, inner: facts.Node) -> bool:
    match node:
        case facts.FString() | facts.BinOp() | facts.Opaque() | facts.Attribute() | facts.Subscript() | facts.Await():
            return True
        case facts.Sequence() | facts.BoolOp() | facts.IfExp() | facts.Comprehension():
            return False
        case facts.Call(func=func):
            return func is inner or _name(func) in _TEXT
        case _:
            return False


def _name(func: facts.Expr) -> str:
    match func:
        case facts.Name(id=name) | facts.Attribute(attr=name):
            return name
        case _:
            return ""


def _leaves(node: object) -> Iterator[facts.Node]:
    """The variable parts of an expression that puts text together."""
    match node:
        case facts.FString(parts=parts) | facts.Sequence(items=parts) | facts.Opaque(children=parts):
            for part in parts:
                yield from _leaves(part)
        case facts.BinOp(left=left, right=right):
            yield from _leaves(left)
            yield from _leaves(right)
        case facts.Call(func=func, args=args):
            owner = func.value if isinstance(func, facts.Attribute) else None
            inner = [] if isinstance(owner, facts.Name | None) else list(_leaves(owner))
            inner.extend(leaf for arg in args for leaf in _leaves(arg.value))
            yield from inner or [node]
        case facts.Attribute(value=facts.Call() as value):
            yield from _leaves(value)
        case facts.Comprehension(element=element):
            yield from _leaves(element)
        case facts.Constant() | facts.Name(id="str" | "int" | "repr"):
            pass
        case facts.Node():
            yield node


def _has_rest(node: facts.Node) -> bool:
    """Whether an expression has more than one variable part, or one that it is given."""
    found = list(_leaves(node))
    return len(found) > 1 or any(isinstance(one, facts.Name) for one in found)


def _target(around: list[facts.Node], whole: facts.Node) -> str:
    """The variable that an expression is assigned to."""
    for node in around:
        if isinstance(node, facts.Assign) and node.value is whole and len(node.targets) == 1:
            target = node.targets[0]
            return target.id if isinstance(target, facts.Name) else ""
    return ""


def _is_returned(around: list[facts.Node]) -> bool:
    return any(isinstance(node, facts.Return) for node in around) or any(
        isinstance(node, facts.Lambda) for node in around
    )


def _later(function: Function, around: list[facts.Node], whole: facts.Node) -> facts.Node | None:
    """The expression that puts a variable, which holds only what differs, together with the rest of a key."""
    name = _target(around, whole)
    if not name:
        return None
    logged = [node for node in own_nodes(function.node) if isinstance(node, facts.Call) and _name(node.func) in _LOGS]
    for node in own_nodes(function.node):
        if not isinstance(node, facts.FString | facts.BinOp | facts.Call) or node.at[:2] < whole.at[:2]:
            continue
        if isinstance(node, facts.Call) and _name(node.func) not in _TEXT:
            continue
        leaves = list(_leaves(node))
        own = [leaf for leaf in leaves if _root(leaf) == name]
        if own and len(own) < len(leaves) and not any(_covers(one.at, ("", *node.at[:2])) for one in logged):
            return node
    return None


def _root(node: facts.Node) -> str:
    """The variable that an expression reads from."""
    while isinstance(node, facts.Attribute | facts.Subscript | facts.Call | facts.Opaque):
        if isinstance(node, facts.Opaque):
            if len(node.children) != 1:
                return ""
            node = node.children[0]
        else:
            node = node.func if isinstance(node, facts.Call) else node.value
    return node.id if isinstance(node, facts.Name) else ""
