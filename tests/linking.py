"""Small programs for the tests of links and triggers: several files in one text, a mail at the bottom.

A program is a text in which `--- path` starts a file. `shop/mail.py` is there already: its
`receipt(order)` sends a mail.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from sendonce.config import Settings
from sendonce.discovery import discover
from sendonce.packs import load_packs
from sendonce.program.analysis import Analysis, analyse

MAIL = """
from django.core.mail import send_mail


def receipt(order, copy=False):
    send_mail("Your receipt", "Thank you", None, [order.email])
"""

PACKS = load_packs()


def analysis_of(program: str, root: Path) -> Analysis:
    """The analysis of a program, written below `root`."""
    files = {"shop/__init__.py": "", "shop/mail.py": MAIL}
    parts = re.split(r"^--- (\S+)\n", textwrap.dedent(program), flags=re.MULTILINE)
    files.update(zip(parts[1::2], parts[2::2], strict=True))
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return analyse(discover(root), PACKS, Settings())


def triggers(program: str, root: Path) -> set[str]:
    """The triggers of all mails, as "kind function"."""
    return {f"{one.kind} {one.function}" for one in analysis_of(program, root).inventory.triggers}


def callers(program: str, root: Path, target: str) -> dict[str, str]:
    """The functions with an edge into `target`, each with the confidence of its surest edge."""
    found: dict[str, str] = {}
    order = ("high", "medium", "low")
    for edge in analysis_of(program, root).callers.into(target):
        sure = max((crossing.confidence for crossing in edge.crossings), key=order.index)
        known = found.get(edge.site.function, "low")
        found[edge.site.function] = min(sure, known, key=order.index)
    return found
