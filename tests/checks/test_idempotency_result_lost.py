"""SO613: an idempotency layer whose replay is not the first answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.mailapi import CLAIM, REPLAY, WORK, api
from checks.project import examples, findings, line_of
from sendonce.checks import idempotency_result_lost

UNASKED = REPLAY.replace('        if saved.get("digest") != digest:\n            abort(422)\n', "")
STATUSLESS = REPLAY.replace(', saved["status"]', "")
ALWAYS = """
    body = {"id": transmit(mail)}
    kv.set(name, json.dumps({"digest": digest, "body": body}), ex=86400)
    return jsonify(body)
"""


def kept(record: str) -> str:
    old = '{"digest": digest, "body": body, "status": status}'
    return WORK.replace(f"json.dumps({old}), ex=86400)", f"json.dumps({record}), ex=86400)  # here")


SILENT = {
    "all of it": (CLAIM, REPLAY, WORK),
    "a status that is always the same": (CLAIM, STATUSLESS, ALWAYS),
    "nothing is replayed": ("    if not kv.set(name, 1, nx=True, ex=900):\n        abort(409)\n", kept('"done"')),
    "one of those that fit": (CLAIM, REPLAY.replace("!= digest", "not in (None, digest)"), WORK),
    "the payload is in the key": (
        '    name = f"{name}:{digest}"\n',
        CLAIM,
        UNASKED,
        WORK,
    ),
}
FAULTY = {
    "no status": (CLAIM, STATUSLESS, kept('{"digest": digest, "body": body}')),
    "no body": (CLAIM, REPLAY, kept('{"digest": digest, "status": status}')),
    "no comparison of payloads": (CLAIM, UNASKED, kept('{"body": body, "status": status}')),
    "a comparison with what is always the same": (
        CLAIM,
        REPLAY.replace('saved.get("digest") != digest', 'saved.get("state") not in ("done", "failed")'),
        kept('{"body": body, "status": status}'),
    ),
    "a failure kept as a success": (
        CLAIM,
        STATUSLESS,
        """
    try:
        body = {"id": transmit(mail)}
    except requests.RequestException as error:
        body = {"error": str(error)}
    kv.set(name, json.dumps({"digest": digest, "body": body}), ex=86400)  # here
    return jsonify(body)
""",
    ),
    "another status for what was made": (
        CLAIM,
        STATUSLESS,
        """
    body = {"id": transmit(mail)}
    kv.set(name, json.dumps({"digest": digest, "body": body}), ex=86400)  # here
    return jsonify(body), 201
""",
    ),
}


@pytest.mark.parametrize("parts", SILENT.values(), ids=SILENT)
def test_silent(parts: tuple[str, ...], tmp_path: Path) -> None:
    assert findings(api(*parts), tmp_path, "SO613") == []


@pytest.mark.parametrize("parts", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_store(parts: tuple[str, ...], tmp_path: Path) -> None:
    files = api(*parts)
    (found,) = findings(files, tmp_path, "SO613")
    assert (found.place.line, found.severity) == (line_of(files["api/app.py"], "# here"), "warning")


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(idempotency_result_lost.RULE.doc)
    head = api()["api/app.py"]
    head = head[: head.index('@app.post("/mails")')]
    for name, wanted in (("Bad", 1), ("Good", 0)):
        found = findings({**api(), "api/app.py": head + given[name]}, tmp_path / name, "SO613")
        assert len(found) == wanted, name
