"""The rules, and how they are run: stronger rules first, so that one fault gives one finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from sendonce.checks import (
    agent_tool_sends,
    batch_retry,
    broad_key,
    check_then_act,
    claim_released_before_send,
    dead_guard,
    double_send,
    duplicate_recipients,
    enqueue_before_commit,
    enqueue_in_transaction,
    fail_open_guard,
    idempotency_lock_leak,
    idempotency_race,
    idempotency_result_lost,
    job_without_key,
    key_per_attempt,
    multiple_trigger_paths,
    no_idempotency_key,
    no_idempotency_test,
    no_reservation,
    no_window,
    overlapping_job,
    partly_guarded,
    record_after_send,
    redelivered_job,
    registered_twice,
    reservation_can_roll_back,
    reservation_not_unique,
    retry_around_send,
    scheduler_per_worker,
    selection_not_consumed,
    send_in_transaction,
    sends_on_every_save,
    shared_marker,
    unbounded_retry,
    unstable_key,
    untraceable_send,
    webhook_acks_before_record,
    webhook_sends_before_reply,
    webhook_without_event_id,
)
from sendonce.checks.base import Rule
from sendonce.findings import Finding, Place, Trigger
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path

RULES: tuple[Rule, ...] = (
    double_send.RULE,
    multiple_trigger_paths.RULE,
    partly_guarded.RULE,
    registered_twice.RULE,
    sends_on_every_save.RULE,
    duplicate_recipients.RULE,
    enqueue_in_transaction.RULE,
    send_in_transaction.RULE,
    enqueue_before_commit.RULE,
    selection_not_consumed.RULE,
    overlapping_job.RULE,
    batch_retry.RULE,
    unbounded_retry.RULE,
    retry_around_send.RULE,
    job_without_key.RULE,
    redelivered_job.RULE,
    scheduler_per_worker.RULE,
    webhook_without_event_id.RULE,
    agent_tool_sends.RULE,
    idempotency_race.RULE,
    idempotency_lock_leak.RULE,
    idempotency_result_lost.RULE,
    webhook_sends_before_reply.RULE,
    webhook_acks_before_record.RULE,
    reservation_not_unique.RULE,
    key_per_attempt.RULE,
    unstable_key.RULE,
    claim_released_before_send.RULE,
    fail_open_guard.RULE,
    reservation_can_roll_back.RULE,
    shared_marker.RULE,
    dead_guard.RULE,
    check_then_act.RULE,
    record_after_send.RULE,
    no_reservation.RULE,
    no_idempotency_key.RULE,
    broad_key.RULE,
    no_window.RULE,
    untraceable_send.RULE,
    no_idempotency_test.RULE,
)
"""Rules that replace others come before them."""

_NOTHING: Mapping[str, frozenset[Path]] = MappingProxyType({})


def run_checks(analysis: Analysis, silenced: Mapping[str, frozenset[Path]] = _NOTHING) -> tuple[Finding, ...]:
    """All findings, by place and code; a rule does not speak of paths that a stronger one has explained.

    Nor of those that are `silenced` for its code: a finding that rests on these alone is marked as suppressed.
    """
    found: list[Finding] = []
    explained: dict[str, set[Path]] = {}
    for rule in RULES:
        spoken = frozenset(explained.get(rule.code, ()))
        faults = tuple(rule.check(analysis, spoken))
        for code in rule.replaces:
            explained.setdefault(code, set()).update(*(fault.explains for fault in faults))
        findings = [fault.finding for fault in faults]
        if findings and rule.code in silenced:
            paths = tuple(path for path in analysis.paths if path not in silenced[rule.code])
            rest = rule.check(replace(analysis, paths=paths), spoken)
            findings = _merged(findings, [fault.finding for fault in rest])
        found.extend(findings)
    return tuple(sorted(found, key=lambda finding: (finding.place, finding.code, finding.message)))


def _merged(whole: list[Finding], rest: list[Finding]) -> list[Finding]:
    """The findings of the paths that are left; those that are gone are suppressed, and it is told what others lost."""
    triggers: dict[Place, set[Trigger]] = {}
    for finding in whole:
        triggers.setdefault(finding.place, set()).update(finding.triggers)
    left = {finding.place for finding in rest}
    gone = [replace(finding, suppressed=True) for finding in whole if finding.place not in left]
    lost = [tuple(sorted(triggers.get(finding.place, set()) - set(finding.triggers))) for finding in rest]
    return [*gone, *(replace(one, silenced=triggers) for one, triggers in zip(rest, lost, strict=True))]
