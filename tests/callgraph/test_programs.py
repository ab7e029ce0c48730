"""Small programs and the edges of their call graph: all of them, and none beside.

`programs/` has a file a kind. A program begins with `=== what it shows`, its files with `--- path`;
`--- edges` lists what must be found ("a -> b, c"), `--- allowed` what counts neither way. Edges to
classes without a constructor and to libraries are left out, lambdas of one scope are one node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sendonce.config import Settings
from sendonce.discovery import discover
from sendonce.packs import load_packs
from sendonce.program.analysis import linked
from sendonce.program.graph import CallGraph, whole

PACKS = load_packs()


@dataclass(frozen=True)
class Program:
    name: str
    files: dict[str, str]
    edges: frozenset[str]
    allowed: frozenset[str]


def _programs() -> Iterator[Program]:
    for file in sorted((Path(__file__).parent / "programs").glob("*.txt")):
        for text in re.split(r"^=== ", file.read_text(), flags=re.MULTILINE)[1:]:
            name, _, rest = text.partition("\n")
            parts = re.split(r"^--- (\S+)\n", rest, flags=re.MULTILINE)
            sections = dict(zip(parts[1::2], parts[2::2], strict=True))
            edges, allowed = _listed(sections.pop("edges")), _listed(sections.pop("allowed", ""))
            yield Program(f"{file.stem}: {name}", sections, edges, allowed)


def _listed(section: str) -> frozenset[str]:
    found = set()
    for line in filter(None, section.splitlines()):
        source, _, targets = line.partition(" -> ")
        found.update(f"{source} -> {target}" for target in targets.split(", "))
    return frozenset(found)


def _shown(graph: CallGraph) -> set[str]:
    own = {node.id for node in graph.nodes if node.kind not in ("class", "external")}
    return {_plain(f"{link.source} -> {link.target}") for link in graph.links if link.target in own}


def _plain(text: str) -> str:
    return re.sub(r"<lambda:[\d:]+>", "<lambda>", text.replace(".<locals>", ""))


PROGRAMS = list(_programs())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_edges(program: Program, tmp_path: Path) -> None:
    for name, text in program.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = _shown(whole(linked(discover(tmp_path), PACKS, Settings())))
    missed, wrong = program.edges - found, found - program.edges - program.allowed
    assert (sorted(missed), sorted(wrong)) == ([], [])


def test_there_are_enough_programs() -> None:
    assert len(PROGRAMS) >= 100
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
