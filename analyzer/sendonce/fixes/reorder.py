"""Units of work: moves the enqueue or send behind the commit that follows it in the same block."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from sendonce.findings import Finding
from sendonce.fixes.base import Repair, Tree


def _takes(finding: Finding) -> bool:
    return bool(finding.related)


def _safe(finding: Finding) -> bool:
    """What stands between the call and the commit is then done before the call: somebody must look."""
    return False


def _change(tree: Tree, finding: Finding) -> cst.Module | None:
    statement = tree.statement(finding.place)
    block = tree.block_of(statement) if statement is not None else None
    if statement is None or block is None:
        return None
    commits = {related.place.line for related in finding.related if related.place.path == finding.place.path}
    body: list[cst.BaseStatement] = list(block.body)
    at = next(number for number, one in enumerate(body) if one is statement)
    after = next((number for number in range(at + 1, len(body)) if _is_commit(tree, body[number], commits)), None)
    if after is None:
        return None
    moved = [*body[:at], *body[at + 1 : after + 1], statement, *body[after + 1 :]]
    changed = _with_body(tree.module, block, moved)
    return changed if isinstance(changed, cst.Module) else None


def _with_body(
    module: cst.Module, block: cst.IndentedBlock | cst.Module, body: Sequence[cst.BaseStatement]
) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
    if isinstance(block, cst.Module):
        return block.with_changes(body=body)
    return module.deep_replace(block, block.with_changes(body=body))


def _is_commit(tree: Tree, statement: cst.BaseStatement, lines: set[int]) -> bool:
    """Whether a statement is the call of `commit` on one of the lines."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    only = statement.body[0]
    value = only.value if isinstance(only, cst.Expr) else None
    call = value.expression if isinstance(value, cst.Await) else value
    named = isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "commit"
    return named and tree.line(statement) in lines


REORDER = Repair("move the call behind the commit", frozenset({"SO203"}), _takes, _safe, _change)
