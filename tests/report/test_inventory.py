from __future__ import annotations

import json

from examples import BROKEN, report
from sendonce.findings import Inventory
from sendonce.report import View, render_inventory

VIEW = View(lambda _: ())

TEXT = """\
(no template known)
  shop/x.py:2  shop.x.f  by django.core.mail.EmailMessage.send
    nothing known leads here

emails/receipt.html
  shop/tasks.py:6  shop.tasks.send_receipt  by django.core.mail.EmailMessage.send
    controller     shop/views.py:5  shop.views.checkout  POST /checkout  (in a transaction)
    cron           shop/jobs.py:3  shop.jobs.nightly  every night

                     controller  cron
(no template known)           ·     ·
emails/receipt.html           1     1

2 sends, 2 mails, 2 provider calls, 2 triggers.
"""


def test_text_groups_sends_by_mail_and_ends_with_the_matrix():
    assert render_inventory("text", report(), VIEW) == TEXT


def test_an_empty_inventory_says_so():
    empty = report(inventory=Inventory())
    assert render_inventory("text", empty, VIEW) == "0 sends, 0 mails, 0 provider calls, 0 triggers.\n"


def test_names_are_made_safe():
    sends = report().inventory.sends
    evil = sends[1].__class__(
        sends[1].place, "f\x1b[2J", sends[0].template.__class__("x\x1b[2J", "subject", "low"), sends[1].call, ()
    )
    assert "\x1b" not in render_inventory("text", report(inventory=Inventory(sends=(evil,))), VIEW)


def test_json_has_the_documented_rows():
    document = json.loads(render_inventory("json", report(problems=(BROKEN,)), VIEW))
    assert list(document) == ["schema", "sends", "provider_calls", "triggers", "templates", "errors", "stats"]
    first, second = document["sends"]
    trace = first["triggers"][0].pop("trace")
    assert [step["hop"] for step in trace] == ["trigger", "transaction", "enqueue", "send"]
    assert first == {
        "path": "shop/tasks.py",
        "line": 6,
        "column": 5,
        "function": "shop.tasks.send_receipt",
        "api": "django.core.mail.EmailMessage.send",
        "provider": "django",
        "template": {"value": "emails/receipt.html", "from": "template", "confidence": "high"},
        "provider_call": {"path": "shop/tasks.py", "line": 6},
        "triggers": [
            {
                "kind": "controller",
                "function": "shop.views.checkout",
                "path": "shop/views.py",
                "line": 5,
                "detail": "POST /checkout",
                "in_transaction": True,
                "guarded": False,
            },
            {
                "kind": "cron",
                "function": "shop.jobs.nightly",
                "path": "shop/jobs.py",
                "line": 3,
                "detail": "every night",
                "trace": [],
                "in_transaction": None,
                "guarded": None,
            },
        ],
    }
    assert second["template"] == {"value": None, "from": "function", "confidence": "low"}
    assert document["templates"] == [
        {"value": "emails/receipt.html", "sends": [0], "trigger_kinds": ["controller", "cron"]},
        {"value": None, "sends": [1], "trigger_kinds": []},
    ]
    assert [call.get("marked") for call in document["provider_calls"]] == [None, "test"]
    assert document["errors"] == [{"path": "shop/old.py", "line": 3, "message": "cannot be parsed: print 'x'"}]
