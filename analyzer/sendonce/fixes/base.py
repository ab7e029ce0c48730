"""What repairs share: a statement of a file by the place of its call, and the file with it changed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, PositionProvider

from sendonce.findings import Finding, Place


@dataclass(frozen=True)
class Repair:
    """One kind of repair.

    It is for the rules `codes`. `takes` tells from the finding alone whether it may apply, `safe` whether it
    only moves the call; `change` gives the changed module, None where the code has another shape. `imports` are
    the names that the change may use, by module.
    """

    title: str
    codes: frozenset[str]
    takes: Callable[[Finding], bool]
    safe: Callable[[Finding], bool]
    change: Callable[[Tree, Finding], cst.Module | None]
    imports: tuple[tuple[str, str], ...] = ()


class Tree:
    """A parsed file that is asked for statements by place."""

    def __init__(self, source: bytes) -> None:
        self.wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
        self.module = self.wrapper.module
        self.ranges = self.wrapper.resolve(PositionProvider)

    def statement(self, place: Place) -> cst.SimpleStatementLine | None:
        """The line that is nothing but a call which begins at a place, awaited or not."""
        wanted = CodePosition(place.line, place.column - 1)
        for node, found in self.ranges.items():
            if isinstance(node, cst.SimpleStatementLine) and _begins(found, wanted) and _call(node) is not None:
                return node
        return None

    def block_of(self, statement: cst.BaseStatement) -> cst.IndentedBlock | cst.Module | None:
        """The block whose own statement it is."""
        blocks = (node for node in self.ranges if isinstance(node, cst.IndentedBlock | cst.Module))
        return next((block for block in blocks if any(one is statement for one in block.body)), None)

    def line(self, node: cst.CSTNode) -> int:
        """The line (from 1) on which a node begins."""
        return int(self.ranges[node].start.line)


def call_of(statement: cst.SimpleStatementLine) -> cst.Call:
    """The call that a statement of `Tree.statement` is."""
    call = _call(statement)
    assert call is not None
    return call


def is_awaited(statement: cst.SimpleStatementLine) -> bool:
    """Whether the call of a statement is awaited."""
    (only,) = statement.body
    return isinstance(only, cst.Expr) and isinstance(only.value, cst.Await)


def _begins(found: CodeRange, wanted: CodePosition) -> bool:
    return (found.start.line, found.start.column) == (wanted.line, wanted.column)


def _call(statement: cst.SimpleStatementLine) -> cst.Call | None:
    if len(statement.body) != 1 or not isinstance(only := statement.body[0], cst.Expr):
        return None
    value = only.value.expression if isinstance(only.value, cst.Await) else only.value
    return value if isinstance(value, cst.Call) else None


def is_sound(before: bytes, after: bytes) -> bool:
    """Whether a changed file still compiles, if it did before; nothing of it is run."""
    return not _compiles(before) or _compiles(after)


def _compiles(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<file>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def mended(repair: Repair, finding: Finding, source: bytes) -> bytes | None:
    """The file with a finding repaired, imports left out; None where that cannot be done mechanically."""
    try:
        tree = Tree(source)
    except (cst.ParserSyntaxError, UnicodeDecodeError, LookupError, RecursionError):
        return None
    changed = repair.change(tree, finding)
    return None if changed is None else changed.bytes


def with_imports(source: bytes, imports: Iterable[tuple[str, str]]) -> bytes:
    """The file with the imports that it lacks of those that it uses."""
    module = cst.parse_module(source)
    context = CodemodContext()
    used = _Names()
    module.visit(used)
    for origin, name in sorted(set(imports)):
        if name in used.found:
            AddImportsVisitor.add_needed_import(context, origin, name)
    return AddImportsVisitor(context).transform_module(module).bytes


class _Names(cst.CSTVisitor):
    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:  # noqa: N802
        self.found.add(node.value)
