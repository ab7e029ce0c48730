"""What SQL text says."""

from __future__ import annotations

import pytest

from sendonce.program import sql
from sendonce.program.sql import Changed, Declared, Inserted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", None),
        ("INSERT INTO sent VALUES (1)", Inserted("sent", None, None)),
        ("insert or ignore into sent (a, b) values (?, ?)", Inserted("sent", ("a", "b"), None)),
        ('INSERT INTO "shop"."Sent" ("A") VALUES (1)', Inserted("sent", ("a",), None)),
        ("INSERT INTO sent (a) VALUES (1) ON CONFLICT (a) DO NOTHING", Inserted("sent", ("a",), frozenset({"a"}))),
    ],
)
def test_inserts(text: str, expected: Inserted | None) -> None:
    assert sql.inserted(text) == expected


def test_an_update_with_a_condition() -> None:
    found = sql.changed("UPDATE orders SET mailed = true, at = now() WHERE id = %s AND mailed = false RETURNING id")
    assert found == Changed(
        "orders",
        (("mailed", "true"), ("at", "now()")),
        frozenset({"id", "s", "and", "mailed", "false"}),
        (("mailed", "false"),),
    )


def test_an_update_without_a_condition_is_none() -> None:
    assert sql.changed("UPDATE orders SET mailed = true") is None


def test_deletes_and_selects() -> None:
    assert sql.deleted("DELETE FROM sent WHERE id = 1") == "sent"
    assert sql.selected("SELECT id FROM sent WHERE kind = 'x'") == ("sent", frozenset({"kind", "x"}))
    assert sql.selected("UPDATE sent SET a = 1") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT email, sent FROM orders WHERE id = %s FOR UPDATE", ("email", "sent")),
        ("select o.email, coalesce(o.sent, false) as told from orders o", ("email", "told")),
        ("SELECT DISTINCT state FROM orders", ("state",)),
        ("UPDATE orders SET sent = true", ()),
    ],
)
def test_what_a_select_takes(text: str, expected: tuple[str, ...]) -> None:
    assert sql.columns(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE TABLE sent (id int, kind text)", []),
        ("CREATE TABLE sent (id int PRIMARY KEY, kind text)", [Declared("sent", frozenset({"id"}))]),
        (
            "create table if not exists sent (id int, price numeric(9, 2), unique (id, kind))",
            [Declared("sent", frozenset({"id", "kind"}))],
        ),
        (
            "CREATE TABLE sent (id int, CONSTRAINT once UNIQUE (id))",
            [Declared("sent", frozenset({"id"}))],
        ),
        ("CREATE INDEX ix ON sent (id)", []),
        ("CREATE UNIQUE INDEX ix ON sent (lower(email))", [Declared("sent", frozenset({"email"}))]),
        ("CREATE UNIQUE INDEX ix ON sent (id) WHERE kind = 'x'", [Declared("sent", frozenset({"id"}), True)]),
        ("ALTER TABLE sent ADD CONSTRAINT once UNIQUE (id, kind)", [Declared("sent", frozenset({"id", "kind"}))]),
        ("ALTER TABLE sent ADD COLUMN kind text", []),
    ],
)
def test_unique_constraints(text: str, expected: list[Declared]) -> None:
    assert list(sql.declared(text)) == expected
