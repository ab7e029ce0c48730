"""Django: hands a call over to `transaction.on_commit`, with its arguments as they are now."""

from __future__ import annotations

import libcst as cst

from sendonce.findings import Finding
from sendonce.fixes.base import Repair, Tree, call_of, is_awaited

_IMPORTS = (("django.db", "transaction"), ("functools", "partial"))
_NEEDED = {name: origin for origin, name in _IMPORTS}


def _takes(finding: Finding) -> bool:
    """A job or a mail that leaves inside a transaction that Django's code opens."""
    opened = [step.note for step in finding.trace if step.hop == "transaction"]
    return any(note.startswith("django.") for note in opened)


def _safe(finding: Finding) -> bool:
    """An enqueue may wait; a function that mails may do more that should not."""
    return finding.code == "SO201"


def _change(tree: Tree, finding: Finding) -> cst.Module | None:
    statement = tree.statement(finding.place)
    if statement is None or is_awaited(statement) or not _names_are_free(tree.module):
        return None
    call = call_of(statement)
    deferred = cst.parse_expression("transaction.on_commit()")
    assert isinstance(deferred, cst.Call)
    handed = cst.Call(cst.Name("partial"), [cst.Arg(call.func), *call.args]) if call.args else call.func
    changed = tree.module.deep_replace(call, deferred.with_changes(args=[cst.Arg(handed)]))
    return changed if isinstance(changed, cst.Module) else None


def _names_are_free(module: cst.Module) -> bool:
    """Whether `transaction` and `partial` mean what is imported below, or nothing, all over the file."""
    bound = _Bound()
    module.visit(bound)
    return not bound.otherwise


class _Bound(cst.CSTVisitor):
    """Whether a name that is needed is bound to anything else."""

    def __init__(self) -> None:
        self.otherwise = False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:  # noqa: N802
        if isinstance(node.names, cst.ImportStar):
            return
        origin = _dotted(node.module)
        for alias in node.names:
            name = alias.evaluated_alias or alias.evaluated_name
            if name in _NEEDED and (node.relative or origin != _NEEDED[name] or alias.evaluated_name != name):
                self.otherwise = True

    def visit_Import(self, node: cst.Import) -> None:  # noqa: N802
        for alias in node.names:
            if (alias.evaluated_alias or alias.evaluated_name.partition(".")[0]) in _NEEDED:
                self.otherwise = True

    def visit_Param(self, node: cst.Param) -> None:  # noqa: N802
        self._bind(node.name)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_For(self, node: cst.For) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_CompFor(self, node: cst.CompFor) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:  # noqa: N802
        self._bind(node.name)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:  # noqa: N802
        self._bind(node.name)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802
        self._bind(node.name)

    def _bind(self, target: cst.CSTNode) -> None:
        """Notes a name, or those in a tuple or list of names; attributes and items bind none."""
        if isinstance(target, cst.Name):
            self.otherwise = self.otherwise or target.value in _NEEDED
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._bind(element.value)


def _dotted(node: cst.BaseExpression | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


_CODES = frozenset({"SO201", "SO202"})
DEFER = Repair("hand the call to transaction.on_commit", _CODES, _takes, _safe, _change, _IMPORTS)
