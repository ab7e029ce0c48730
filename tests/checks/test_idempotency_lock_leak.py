"""SO612: an idempotency layer whose claim does not hold as it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.mailapi import CLAIM, REPLAY, WORK, api
from checks.project import examples, findings, line_of
from sendonce.checks import idempotency_lock_leak


def claim(text: str) -> str:
    return f"    if not {text}:  # here\n"


SILENT = {
    "runs out late": (CLAIM, REPLAY, WORK),
    "an expiry of its own": (claim("kv.setnx(name, digest)"), REPLAY, "    kv.expire(name, 900)\n", WORK),
    "counters beside it": ('    kv.setnx("count:mails", 0)\n', CLAIM, REPLAY, WORK),
    "milliseconds": (claim("kv.set(name, digest, nx=True, px=900_000)"), REPLAY, WORK),
    "a lock around all": (
        '    with kv.lock("lock:" + name, timeout=120):\n',
        "".join(f"    {line}\n" for line in WORK.strip("\n").splitlines()),
    ),
    "nothing is stored behind the work": (
        claim("kv.setnx(name, digest)"),
        "        abort(409)\n    return work(mail)\n",
    ),
}
FAULTY = {
    "setnx": (claim("kv.setnx(name, digest)"), REPLAY, WORK),
    "set with nx alone": (claim("kv.set(name, digest, nx=True)"), REPLAY, WORK),
    "sooner than the work": (claim("kv.set(name, digest, nx=True, ex=15)"), REPLAY, WORK),
    "milliseconds sooner than the work": (claim("kv.set(name, digest, nx=True, px=15_000)"), REPLAY, WORK),
    "released before the result": (
        claim("kv.set(name, digest, nx=True, ex=900)"),
        REPLAY,
        "    body, status = work(mail)\n    kv.delete(name)\n",
        WORK.replace("    body, status = work(mail)\n", ""),
    ),
    "a lock left before the result": (
        '    with kv.lock("lock:" + name, timeout=120):  # here\n        body, status = work(mail)\n',
        WORK.replace("    body, status = work(mail)\n", ""),
    ),
}


@pytest.mark.parametrize("parts", SILENT.values(), ids=SILENT)
def test_silent(parts: tuple[str, ...], tmp_path: Path) -> None:
    assert findings(api(*parts), tmp_path, "SO612") == []


@pytest.mark.parametrize("parts", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_claim(parts: tuple[str, ...], tmp_path: Path) -> None:
    files = api(*parts)
    (found,) = findings(files, tmp_path, "SO612")
    assert (found.place.line, found.severity) == (line_of(files["api/app.py"], "# here"), "warning")


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(idempotency_lock_leak.RULE.doc)
    head = api()["api/app.py"]
    head = head[: head.index('@app.post("/mails")')]
    head += 'def earlier(name):\n    return kv.get(name) or ""\n\n\n'
    for name, wanted in (("Bad", 1), ("Good", 0)):
        found = findings({**api(), "api/app.py": head + given[name]}, tmp_path / name, "SO612")
        assert len(found) == wanted, name
