"""The rules, and how they are run: stronger rules first, so that one fault gives one finding."""

from __future__ import annotations

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
from sendonce.findings import Finding
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


def run_checks(analysis: Analysis) -> tuple[Finding, ...]:
    """All findings, by place and code; a rule does not speak of paths that a stronger one has explained."""
    found: list[Finding] = []
    explained: dict[str, set[Path]] = {}
    for rule in RULES:
        for fault in rule.check(analysis, frozenset(explained.get(rule.code, ()))):
            found.append(fault.finding)
            for code in rule.replaces:
                explained.setdefault(code, set()).update(fault.explains)
    return tuple(sorted(found, key=lambda finding: (finding.place, finding.code, finding.message)))
