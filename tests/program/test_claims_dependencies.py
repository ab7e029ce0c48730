"""Reservations that a dependency of a handler makes before the handler runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, is_guarded

HEAD = """
        from databases import Database
        from fastapi import APIRouter, Depends, HTTPException
        from sqlalchemy import insert
        from sqlalchemy.exc import IntegrityError
        from sqlalchemy.ext.asyncio import AsyncSession
        from .db import Session
        from .mail import mail
        from .models import Log, Sent

        router = APIRouter()

        async def get_session():
            with Session() as session:
                yield session
"""
GUARDED = {
    "it answers None to the loser": """
        async def new(pk: int, session: AsyncSession = Depends(get_session)) -> int | None:
            session.add(Sent(order_id=pk, kind="receipt"))
            try:
                await session.commit()
            except IntegrityError:
                return None
            return pk

        @router.post("/hook")
        async def run(event: int | None = Depends(new)):
            if event is not None:
                mail()
    """,
    "it raises for the loser": """
        async def once(pk: int, session: AsyncSession = Depends(get_session)) -> None:
            session.add(Sent(order_id=pk, kind="receipt"))
            try:
                await session.commit()
            except IntegrityError:
                raise HTTPException(409)

        @router.post("/hook")
        async def run(pk: int, _: None = Depends(once)):
            mail()
    """,
    "a statement of SQLAlchemy that the databases library runs": """
        @router.post("/hook")
        async def run(pk: int, db: Database):
            await db.execute(insert(Sent.__table__).values(order_id=pk, kind="receipt"))
            mail()
    """,
}
OPEN = {
    "nobody asks what it answered": """
        async def new(pk: int, session: AsyncSession = Depends(get_session)) -> int | None:
            session.add(Sent(order_id=pk, kind="receipt"))
            try:
                await session.commit()
            except IntegrityError:
                return None
            return pk

        @router.post("/hook")
        async def run(event: int | None = Depends(new)):
            mail()
    """,
    "it only reads": """
        async def new(pk: int, session: AsyncSession = Depends(get_session)) -> int | None:
            return None if await session.get(Sent, pk) else pk

        @router.post("/hook")
        async def run(event: int | None = Depends(new)):
            if event is not None:
                mail()
    """,
    "a table with nothing unique": """
        @router.post("/hook")
        async def run(pk: int, db: Database):
            await db.execute(insert(Log.__table__).values(order_id=pk, kind="receipt"))
            mail()
    """,
}


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, ALCHEMY)


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, ALCHEMY)
