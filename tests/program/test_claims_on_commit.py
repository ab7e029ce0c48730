"""Rows that wait for a commit, and mail that waits for it as well: the conflict holds the mail back."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, is_guarded

HEAD = """
        import pyramid_mailer
        import transaction
        from pyramid.view import view_config
        from pyramid_mailer.message import Message
        from starlette.background import BackgroundTasks
        from .mail import mail
        from .models import Log, Sent
"""
GUARDED = {
    "a hook of the transaction": """
        @view_config(route_name="pay")
        def run(request):
            request.dbsession.add(Sent(order_id=request.matchdict["pk"], kind="receipt"))
            transaction.get().addAfterCommitHook(mail)
    """,
    "a mailer that joins the transaction": """
        @view_config(route_name="pay")
        def run(request):
            request.dbsession.add(Sent(order_id=request.matchdict["pk"], kind="receipt"))
            mailer = pyramid_mailer.get_mailer(request)
            mailer.send(Message(subject="Receipt", recipients=["you@example.org"], body="x"))
    """,
}
OPEN = {
    "a table with nothing unique": """
        @view_config(route_name="pay")
        def run(request):
            request.dbsession.add(Log(order_id=request.matchdict["pk"], kind="receipt"))
            transaction.get().addAfterCommitHook(mail)
    """,
    "a mail that leaves at once": """
        @view_config(route_name="pay")
        def run(request):
            request.dbsession.add(Sent(order_id=request.matchdict["pk"], kind="receipt"))
            mail()
    """,
    "work behind the answer, which may come before the commit": """
        @view_config(route_name="pay")
        def run(request):
            tasks = BackgroundTasks()
            request.dbsession.add(Sent(order_id=request.matchdict["pk"], kind="receipt"))
            tasks.add_task(mail)
    """,
}


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, ALCHEMY)


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, ALCHEMY)
