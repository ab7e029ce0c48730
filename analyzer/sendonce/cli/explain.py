"""`sendonce explain`: what a rule means, why, and what to do."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from sendonce.cli.streams import on_terminal
from sendonce.config import nearest
from sendonce.errors import UsageError

if TYPE_CHECKING:
    from sendonce.policy import Rule


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Explain the rule CODE (a code or a name); list those that a prefix means, or without CODE all."""
    from sendonce.run import all_rules

    rules = sorted(all_rules(), key=lambda rule: rule.code)
    if code is None:
        _list(rules)
        return 0
    for rule in rules:
        if code.upper() == rule.code or code == rule.name:
            _show(inspect.cleandoc(rule.doc))
            return 0
    below = [rule for rule in rules if rule.code.startswith(code.upper())]
    if below and code.upper().startswith("SO"):
        _list(below)
        return 0
    asked = code.upper() if code.upper().startswith("SO") else code
    hint = nearest(asked, [text for rule in rules for text in (rule.code, rule.name)])
    raise UsageError(f"no rule has the code or name {code!r}{hint}; `sendonce explain` lists all")


def _list(rules: Sequence[Rule]) -> None:
    for rule in rules:
        click.echo(f"{rule.code}  {rule.name}")


def _show(markdown: str) -> None:
    """Prints the text as it is, on a terminal set as such."""
    if not on_terminal():
        click.echo(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(markdown))
