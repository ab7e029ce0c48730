"""The plan: every finding in one repair, the worst first, one repair for what one place closes."""

from __future__ import annotations

from pathlib import Path

from auditing import SHOP, audit_of
from sendonce import checks, policy
from sendonce.audit.remedies import CHECKS, REMEDIES
from sendonce.findings import SEVERITIES


def test_each_finding_is_closed_by_one_repair(tmp_path: Path) -> None:
    audit = audit_of(SHOP, tmp_path)
    closed = [finding for repair in audit.plan for finding in repair.findings]
    assert len(closed) == len(audit.findings) > 3
    assert set(closed) == set(audit.findings)


def test_the_worst_come_first_and_are_numbered(tmp_path: Path) -> None:
    plan = audit_of(SHOP, tmp_path).plan
    risks = [SEVERITIES.index(repair.risk) for repair in plan]
    assert risks == sorted(risks, reverse=True)
    assert [repair.number for repair in plan] == list(range(1, len(plan) + 1))


def test_one_reservation_closes_what_both_triggers_show(tmp_path: Path) -> None:
    audit = audit_of(SHOP, tmp_path)
    (repair,) = [
        one for one in audit.plan if one.mails == ("mails/receipt.txt",) and one.reserves and one.risk != "note"
    ]
    assert repair.function == "shop.mailing.send_receipt"
    assert {finding.code for finding in repair.findings} == {"SO101", "SO301"}
    assert {trigger.kind for finding in repair.findings for trigger in finding.triggers} == {"controller", "webhook"}
    assert repair.effort == "medium"


def test_a_job_that_is_enqueued_too_early_is_repaired_where_it_is_enqueued(tmp_path: Path) -> None:
    audit = audit_of(SHOP, tmp_path)
    (repair,) = [one for one in audit.plan if any(finding.code == "SO201" for finding in one.findings)]
    assert (repair.function, repair.effort) == ("shop.views.checkout", "small")


def test_the_helper_that_several_mails_leave_by_is_named(tmp_path: Path) -> None:
    (helper,) = audit_of(SHOP, tmp_path).helpers
    assert helper.function == "shop.mailing.deliver"
    assert set(helper.mails) >= {"mails/receipt.txt", "mails/refund.txt"}


def test_a_tree_without_mail_has_nothing_to_do(tmp_path: Path) -> None:
    audit = audit_of("--- shop/mail.py\nx = 1\n", tmp_path)
    assert (audit.mails, audit.plan, audit.helpers) == ((), (), ())


def test_every_rule_has_a_repair_and_a_line_of_the_checklist() -> None:
    known = {rule.code for rule in checks.RULES}
    repaired = [code for remedy in REMEDIES for code in remedy.codes]
    assert sorted(repaired) == sorted(set(repaired))
    assert known - set(repaired) - {rule.code for rule in policy.RULES} == set()
    api = {"SO611", "SO612", "SO613"}
    assert known - {code for check in CHECKS for code in check.codes} == api
