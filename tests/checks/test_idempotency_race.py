"""SO611: an idempotency layer that reads the key and writes it a step later."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.mailapi import CLAIM, REPLAY, WORK, api
from checks.project import examples, findings, line_of
from sendonce.checks import idempotency_race

READ = """
    saved = json.loads(kv.get(name) or "null")  # here
    if saved:
        if saved["digest"] != digest:
            abort(422)
        return jsonify(saved["body"]), saved["status"]
"""
SILENT = {
    "claimed first": (CLAIM, REPLAY, WORK),
    "read and claimed": (READ, CLAIM, REPLAY, WORK),
    "only refused": ("    if not kv.set(name, 1, nx=True, ex=86400):\n        abort(409)\n", "    return work(mail)\n"),
    "inserted first": (
        """
    with Session() as session:
        session.add(Key(id=name, digest=digest))
        try:
            session.commit()
        except IntegrityError:
            abort(409)
    return work(mail)
""",
    ),
    "under a lock": (
        '    with kv.lock("lock:" + name, timeout=120):\n',
        "".join(f"    {line}\n" for line in (READ + WORK.removeprefix("\n")).strip("\n").splitlines()),
    ),
    "no key of a client": (
        '    paused = kv.get("paused")\n    if paused:\n        abort(503)\n    kv.set("last", digest)\n',
        "    return work(mail)\n",
    ),
    "only read": (READ, "    return work(mail)\n"),
}
FAULTY = {
    "read and set behind the work": (READ, WORK),
    "read and set before the work": (READ, '    kv.set(name, "working", ex=900)\n', WORK),
    "the claim is not looked at": (READ, "    kv.set(name, digest, nx=True, ex=900)\n", WORK),
    "a row that is made behind the work": (
        """
    with Session() as session:
        saved = session.get(Key, name)  # here
        if saved is not None:
            return jsonify(saved.body), saved.status
        body, status = work(mail)
        session.add(Key(id=name, digest=digest, body=body, status=status))
        session.commit()
    return jsonify(body), status
""",
    ),
}


@pytest.mark.parametrize("parts", SILENT.values(), ids=SILENT)
def test_silent(parts: tuple[str, ...], tmp_path: Path) -> None:
    assert findings(api(*parts), tmp_path, "SO611") == []


@pytest.mark.parametrize("parts", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_read(parts: tuple[str, ...], tmp_path: Path) -> None:
    files = api(*parts)
    (found,) = findings(files, tmp_path, "SO611", "SO303", "SO302", "SO301")
    assert (found.code, found.place.line) == ("SO611", line_of(files["api/app.py"], "# here"))


def test_a_middleware_around_the_mails(tmp_path: Path) -> None:
    app = """
    import json
    import smtplib
    import redis.asyncio as redis
    from fastapi import FastAPI
    from starlette.middleware.base import BaseHTTPMiddleware
    from starlette.responses import Response

    kv = redis.Redis()
    app = FastAPI()


    class Replay(BaseHTTPMiddleware):
        async def dispatch(self, request, call_next):
            key = request.headers.get("Idempotency-Key")
            saved = await kv.get(f"replay:{key}")
            if saved:
                return Response(saved)
            response = await call_next(request)
            await kv.set(f"replay:{key}", response.body, ex=86400)
            return response


    app.add_middleware(Replay)


    @app.post("/mails")
    def create(to: str):
        smtplib.SMTP("localhost").sendmail("a@x.example", to, "Subject: Hello")
    """
    (found,) = findings({"app.py": app}, tmp_path, "SO611")
    assert found.place.line == line_of(app, "await kv.get")
    assert [one.function for one in found.triggers] == ["app.create"]


def test_silent_where_no_mail_stands_behind_the_layer(tmp_path: Path) -> None:
    files = api(READ, "    body, status = {}, 200\n", WORK.replace("    body, status = work(mail)\n", ""))
    assert findings(files, tmp_path, "SO611") == []


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(idempotency_race.RULE.doc)
    head = api()["api/app.py"]
    head = head[: head.index('@app.post("/mails")')]
    head += 'def earlier(name):\n    return kv.get(name) or ""\n\n\n'
    for name, wanted in (("Bad", 1), ("Good", 0)):
        found = findings({**api(), "api/app.py": head + given[name]}, tmp_path / name, "SO611")
        assert len(found) == wanted, name
