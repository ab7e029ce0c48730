from __future__ import annotations

import json

import pytest

VIEWS = """\
import logging
from django.core.mail import send_mail

logger = logging.getLogger(__name__)


def receipt(order):
    logger.info("receipt of %s", order.pk)
    send_mail("Your receipt", "", None, [order.email])


def pay(request):
    receipt(request.order)
"""
URLS = """\
from django.urls import path
import views

urlpatterns = [path("pay/", views.pay)]
"""
OPTIONS = ("--isolated", "--no-cache")

TEXT = """\
Your receipt  sent at views.py:9
  from controller views.pay  pay/  (high confidence)

   1 trigger      views.py:12  views.pay  controller pay/
                  12 | def pay(request):
   2 call         views.py:13  views.pay
                  13 | receipt(request.order)
   3 log          views.py:8  views.receipt  info "receipt of %s"
                  8 | logger.info("receipt of %s", order.pk)
   4 send         views.py:9  views.receipt  django.core.mail.send_mail
                  9 | send_mail("Your receipt", "", None, [order.email])

  Logged on the way: pk, the mail or event
  Not logged: an id of the run (request, task or event)

  Can double here:
    SO301 no-reservation: warning, high confidence  views.py:9
      Why: """


@pytest.fixture
def root(tree):
    return tree({"views.py": VIEWS, "urls.py": URLS})


def test_text(cli, root):
    result = cli("trace", "Your receipt", root, *OPTIONS)
    assert result.code == 0
    assert result.out.startswith(TEXT)
    assert result.out.endswith("\n\n1 way from a trigger to the mail, 1 with findings.\n")


def test_json_has_the_same(cli, root):
    document = json.loads(cli("trace", "receipt", root, "--output-format", "json", *OPTIONS).out)
    assert document["schema"] == 1
    (timeline,) = document["timelines"]
    assert [step["hop"] for step in timeline.pop("trace")] == ["trigger", "call", "log", "send"]
    assert [finding["code"] for finding in timeline.pop("findings")] == ["SO301"]
    assert timeline == {
        "template": "Your receipt",
        "send": {"path": "views.py", "line": 9},
        "provider_call": {"path": "views.py", "line": 9, "api": "django.core.mail.send_mail", "provider": "django"},
        "trigger": {"kind": "controller", "function": "views.pay", "path": "views.py", "line": 12, "detail": "pay/"},
        "confidence": "high",
        "in_transaction": False,
        "guarded": False,
        "logged": {"runs": [], "objects": ["pk"], "mail_or_event": True},
        "not_logged": ["an id of the run (request, task or event)"],
    }


@pytest.mark.parametrize("what", ["views.py:13", "views.py:12", "views.py:9:5"])
def test_a_line_is_given_from_the_tree(cli, root, what):
    assert cli("trace", what, root, *OPTIONS).out.startswith("Your receipt")


def test_a_line_is_given_from_where_one_stands(cli, root, monkeypatch):
    monkeypatch.chdir(root.parent)
    assert cli("trace", f"{root.name}/views.py:13", root, *OPTIONS).code == 0


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("Your reciept", "no mail with a known trigger is called 'Your reciept'; did you mean 'Your receipt'?"),
        ("urls.py:2", "no known way to a mail goes over urls.py:2"),
        ("nowhere.py:2", "nowhere.py is no file below"),
    ],
)
def test_what_is_not_found_is_said(cli, root, what, said):
    result = cli("trace", what, root, *OPTIONS)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_a_trace_is_of_a_tree(cli, root):
    assert "give its folder" in cli("trace", "receipt", root / "views.py").err
