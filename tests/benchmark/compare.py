"""Side by side on given trees: the whole command, semgrep with a rule file, ruff, and a plain read of all files.

    python tests/benchmark/compare.py [--rounds 3] [--semgrep BIN --rules FILE] [--ruff BIN] TREE…

Each tool runs as a process of its own, all of them in turn in every round, on a copy of the tree's Python
files without its tests. Figures are CPU seconds, user and system, of a process and its children, and the
largest resident set; a ratio is taken within each round and given as its median (least–most). What is
printed is the table of the README.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

READ = """
import sys
table = bytes(b if chr(b).isalnum() or b == 95 or b > 127 else 32 for b in range(256))
for path in open(sys.argv[1]).read().split("\\n"):
    with open(path, "rb") as stream:
        set(stream.read().translate(table).split())
"""
"""The floor: every file is read, and its words are told apart."""


@dataclass(frozen=True)
class Cost:
    """What a process used: CPU seconds and megabytes."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Tools:
    """The programs beside us; None is left out."""

    semgrep: str | None
    rules: str | None
    ruff: str | None


def cost(command: Sequence[str], allowed: Sequence[int] = (0, 1)) -> Cost:
    """Runs a command and measures it; raises `SystemExit` if it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}:\n{told.decode(errors='replace')}")
    scale = 1024 if sys.platform != "darwin" else 1024**2
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / scale)


def copied(tree: Path, root: Path) -> list[Path]:
    """Copies the files of a tree that are analysed and no tests; gives them."""
    listed = subprocess.run(
        [sys.executable, "-m", "sendonce", "check", "--isolated", "--show-files", str(tree)],
        capture_output=True,
        text=True,
        check=True,
    )
    files: list[Path] = []
    for path, role, *_ in (line.rsplit("  ", 2) for line in listed.stdout.splitlines()):
        if role != "test":
            files.append(root / path)
            files[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / path, files[-1])
    return files


def measured(root: Path, files: Sequence[Path], tools: Tools, aside: Path) -> dict[str, Cost]:
    """One round: every tool once, our own command without a cache, with a full one and after a change."""
    listed, cache = aside / "files.txt", aside / "cache"
    listed.write_text("\n".join(map(str, files)))
    ours = [sys.executable, "-m", "sendonce", "check", "--isolated", "--quiet", "--exit-zero", str(root)]
    kept = [*ours, "--cache-dir", str(cache)]
    found = {"cold": cost([*ours, "--no-cache"])}
    if tools.semgrep and tools.rules:
        rest = ["--metrics=off", "--disable-version-check", "--quiet", "--no-git-ignore", "-j2"]
        found["semgrep"] = cost([tools.semgrep, "scan", "--config", tools.rules, *rest, str(root)])
    if tools.ruff:
        found["ruff"] = cost([tools.ruff, "check", "--isolated", "--no-cache", "--quiet", str(root)])
    found["read"] = cost([sys.executable, "-c", READ, str(listed)])
    cost(kept)
    found["warm"] = cost(kept)
    largest = max(files, key=lambda file: file.stat().st_size)
    before = largest.read_bytes()
    largest.write_bytes(before + b"\n# changed\n")
    found["changed"] = cost(kept)
    largest.write_bytes(before)
    shutil.rmtree(cache)
    return found


def ratio(rounds: Sequence[dict[str, Cost]], one: str, other: str) -> str:
    """The ratio of two tools over all rounds as `median (least–most)`."""
    pairs = [found[one].seconds / found[other].seconds for found in rounds if other in found]
    if not pairs:
        return "–"
    return f"{statistics.median(pairs):.2f} ({min(pairs):.2f}–{max(pairs):.2f})"


def row(tree: Path, tools: Tools, number: int) -> str:
    """The line of the table about one tree."""
    with tempfile.TemporaryDirectory() as folder:
        root, aside = Path(folder, tree.name), Path(folder, "aside")
        aside.mkdir()
        files = copied(tree, root)
        lines = sum(file.read_bytes().count(b"\n") for file in files)
        rounds = [measured(root, files, tools, aside) for _ in range(number)]
    cold = statistics.median(found["cold"].seconds for found in rounds)
    memory = max(found["cold"].megabytes for found in rounds)
    ratios = [("cold", "semgrep"), ("cold", "ruff"), ("warm", "read"), ("changed", "warm")]
    cells = [
        tree.name,
        f"{lines / 1000:.0f}",
        f"{cold:.1f}",
        f"{memory:.0f}",
        *(ratio(rounds, *pair) for pair in ratios),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Prints the table of the trees named on the command line."""
    ask = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ask.add_argument("trees", nargs="+", type=Path)
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--semgrep")
    ask.add_argument("--rules")
    ask.add_argument("--ruff", default=shutil.which("ruff"))
    given = ask.parse_args()
    tools = Tools(given.semgrep, given.rules, given.ruff)
    print("| tree | 1000 lines | cold, s | MB | cold ÷ semgrep | cold ÷ ruff | warm ÷ read | changed ÷ warm |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for tree in given.trees:
        print(row(tree.resolve(), tools, given.rounds), flush=True)


if __name__ == "__main__":
    main()
