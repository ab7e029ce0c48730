"""`sendonce explain`: what a rule means, why, and what to do."""

from __future__ import annotations

import inspect
import sys

import click

from sendonce.config import nearest
from sendonce.errors import UsageError


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Explain the rule CODE (a code or a name); without CODE, list all rules."""
    from sendonce.run import all_rules

    rules = sorted(all_rules(), key=lambda rule: rule.code)
    if code is None:
        for rule in rules:
            click.echo(f"{rule.code}  {rule.name}")
        return 0
    for rule in rules:
        if code.upper() == rule.code or code == rule.name:
            _show(inspect.cleandoc(rule.doc))
            return 0
    hint = nearest(code, [text for rule in rules for text in (rule.code.lower(), rule.name)])
    raise UsageError(f"no rule has the code or name {code!r}{hint}; `sendonce explain` lists all")


def _show(markdown: str) -> None:
    """Prints the text as it is, on a terminal set as such."""
    if not sys.stdout.isatty():
        click.echo(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(markdown))
