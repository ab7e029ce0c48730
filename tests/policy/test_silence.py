"""What comments at triggers and the configuration silence, by the whole of an analysis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sendonce.config import Settings, load_config
from sendonce.errors import ConfigError
from sendonce.run import analyze
from sendonce.target import target_of

MAILS = """\
import requests
from django.core.mail import send_mail


def receipt(order):
    send_mail("Receipt", "text", None, [order.email])


def digest(user):
    send_mail("Digest", "text", None, [user.email])
"""
VIEWS = """\
from apscheduler.schedulers.blocking import BlockingScheduler
from django.http import HttpResponse
from shop.mails import digest, receipt

scheduler = BlockingScheduler()


@scheduler.scheduled_job("interval", hours=1)
def hourly():{hourly}
    receipt(latest())


def checkout(request):{checkout}
    receipt(find(request.POST["order"]))
    return HttpResponse()


def weekly(request):
    digest(request.user)
    return HttpResponse()
"""
URLS = """\
from django.urls import path
from shop import views

urlpatterns = [
    path("checkout", views.checkout),
    path("weekly", views.weekly),
]
"""


@pytest.fixture
def shop(tree):
    def make(hourly="", checkout="", config=""):
        views = VIEWS.replace("{hourly}", hourly).replace("{checkout}", checkout)
        files = {"shop/mails.py": MAILS, "shop/views.py": views, "shop/urls.py": URLS, "sendonce.toml": config}
        return tree(files).resolve()

    return make


def found(root, code="", **changes):
    report = analyze(target_of([root]), replace(load_config(root / "sendonce.toml"), **changes))
    return [one for one in report.findings if one.code == code or (not code and one.code < "SO7")], report


def told(findings):
    return [(one.code, one.template, one.severity, one.suppressed) for one in findings]


NO_REASON = "  # sendonce: ignore[SO301] latest() gives each order once"


def test_without_comments_the_worst_trigger_decides(shop):
    findings, _ = found(shop(), "SO301")
    assert told(findings) == [("SO301", "Receipt", "error", False), ("SO301", "Digest", "warning", False)]
    assert [trigger.kind for trigger in findings[0].triggers] == ["cron", "controller"]


def test_a_comment_at_one_trigger_leaves_a_finding_about_the_other_alone(shop):
    (receipt, _), _ = found(shop(hourly=NO_REASON), "SO301")
    assert told([receipt]) == [("SO301", "Receipt", "warning", False)]
    assert [trigger.function for trigger in receipt.triggers] == ["shop.views.checkout"]
    assert [trigger.function for trigger in receipt.silenced] == ["shop.views.hourly"]
    assert receipt.trace[0].function == "shop.views.checkout"
    assert "hourly" not in receipt.message


def test_comments_at_all_triggers_suppress_the_finding_and_none_is_unused(shop):
    findings, report = found(shop(hourly=NO_REASON, checkout=NO_REASON), "SO301")
    assert told(findings) == [("SO301", "Receipt", "error", True), ("SO301", "Digest", "warning", False)]
    assert not [one for one in report.findings if one.code == "SO002"]


def test_a_comment_for_another_rule_is_unused(shop):
    _, report = found(shop(hourly="  # sendonce: ignore[SO203] commits first"))
    assert [one.code for one in report.findings if one.code.startswith("SO0")] == ["SO002"]


def test_a_comparison_of_two_triggers_falls_with_one(shop):
    comment = "  # sendonce: ignore[SO101] only by hand"
    assert {one.suppressed for one in found(shop(), "SO101")[0]} == {False}
    assert {one.suppressed for one in found(shop(hourly=comment), "SO101")[0]} == {True}


def test_no_ignores_shows_all(shop):
    config = 'per-file-ignores = {"shop/**" = ["ALL"]}\ntemplates.Digest = {repeatable = true, reason = "x"}\n'
    findings, _ = found(shop(hourly=NO_REASON, checkout=NO_REASON, config=config), ignores=False)
    assert findings
    assert not any(one.suppressed for one in findings)


def test_a_mail_that_may_come_twice_is_spoken_of_by_no_rule(shop):
    config = 'templates."Dig*" = {repeatable = true, reason = "the same news twice does no harm"}\n'
    findings, report = found(shop(config=config), pedantic=True)
    assert {one.suppressed for one in findings if one.template == "Digest"} == {True}
    assert {one.suppressed for one in findings if one.template == "Receipt"} == {False}
    assert report.remarks == ()


def test_single_rules_can_be_kept_from_a_mail(shop):
    config = 'templates.Receipt = {ignore = ["multiple-trigger-paths"], reason = "by hand"}\n'
    findings, _ = found(shop(config=config))
    assert {one.code for one in findings if one.suppressed} == {"SO101"}
    assert "SO301" in {one.code for one in findings if not one.suppressed}


def test_a_pattern_that_fits_no_mail_is_told_with_the_nearest(shop):
    root = shop(config='templates.Reciept = {repeatable = true, reason = "x"}\n')
    (remark,) = found(root)[1].remarks
    assert remark.startswith(f"{root}/sendonce.toml: templates.\"Reciept\" fits no mail; did you mean 'Receipt'?")


@pytest.mark.parametrize(
    ("config", "silent"),
    [
        ('per-file-ignores."shop/mails.py" = ["SO301"]', True),
        ('per-file-ignores."mails.py" = ["no-reservation"]', True),
        ('per-file-ignores."shop/*" = ["SO3"]', True),
        ('per-file-ignores."shop/views.py" = ["SO301"]', False),
        ('per-file-ignores."shop/mails.py" = ["SO2"]', False),
    ],
)
def test_files_of_which_a_rule_does_not_speak(shop, config, silent):
    assert {one.suppressed for one in found(shop(config=config), "SO301")[0]} == {silent}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('per-file-ignores."a.py" = ["SO31x"]', r"""per-file-ignores."a.py": no rule .* 'SO31x'; did you mean 'SO31"""),
        ('templates."a b" = {ignore = ["SO999"], reason = "x"}', r"""templates."a b".ignore: no rule .* 'SO999'"""),
    ],
)
def test_unknown_rules_are_errors_that_name_the_key(shop, config, said):
    with pytest.raises(ConfigError, match=said):
        found(shop(config=config))


HELPERS = """\
def deliver(name, to, **context):
    bus(name, to, context)


def later(function):
    queue(function)


def claim(key):
    return table(key)


class Post:
    def deliver(self, name, to):
        bus(name, to)
"""
OWN = """\
from django.db import transaction
from django.urls import path
from .own import Post, claim, deliver, later


def plain(request):
    with transaction.atomic():
        deliver("plain.html", request.user.email)


def deferred(request):
    with transaction.atomic():
        later(lambda: deliver("deferred.html", request.user.email))


def claimed(request):
    if claim(request.POST["order"]):
        Post().deliver("claimed.html", request.user.email)


urlpatterns = [path("a", plain), path("b", deferred), path("c", claimed)]
"""
DECLARED = """\
[helpers]
send = [
    { calls = ["shop.own.deliver"], template = ["name|0"], recipient = ["to|1"] },
    { calls = ["shop.own.Post().deliver"], template = ["name|0"] },
]
defer = ["shop.own.later"]
reserve = ["shop.own.claim"]
"""


def test_own_helpers_count_as_declared(tree):
    files = {"shop/__init__.py": "", "shop/own.py": HELPERS, "shop/views.py": OWN, "sendonce.toml": DECLARED}
    findings, report = found(tree(files).resolve())
    assert [send.template.value for send in report.inventory.sends] == ["plain.html", "deferred.html", "claimed.html"]
    assert [(one.code, one.template) for one in findings] == [
        ("SO202", "plain.html"),
        ("SO301", "plain.html"),
        ("SO301", "deferred.html"),
    ]


def test_without_their_declaration_nothing_is_known(tree):
    root = tree({"shop/__init__.py": "", "shop/own.py": HELPERS, "shop/views.py": OWN})
    assert analyze(target_of([root]), Settings()).inventory.sends == ()


def test_a_declared_helper_is_not_looked_into(tree):
    own = HELPERS.replace("    bus(name, to, context)", "    send_mail(name, '', None, [to])")
    own = f"from django.core.mail import send_mail\n{own}"
    files = {"shop/__init__.py": "", "shop/own.py": own, "shop/views.py": OWN, "sendonce.toml": DECLARED}
    _, report = found(tree(files).resolve())
    assert {call.api for call in report.inventory.calls} == {"shop.own.deliver", "shop.own.Post.deliver"}


def test_own_packs_say_the_same(tree):
    pack = DECLARED.replace("[helpers]", "name = 'own'").split("defer")[0]
    files = {"shop/__init__.py": "", "shop/own.py": HELPERS, "shop/views.py": OWN, "packs/own.toml": pack}
    root = tree(files).resolve()
    report = analyze(target_of([root]), Settings(rules=(root / "packs",)))
    assert "plain.html" in {send.template.value for send in report.inventory.sends}
