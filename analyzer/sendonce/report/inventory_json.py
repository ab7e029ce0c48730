"""The inventory for other programs, schema 1."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sendonce.findings import Place, ProviderCall, Report, Route, Send
from sendonce.report import View
from sendonce.report.findings_json import SCHEMA, at, dumped, problem, stats, step, trigger


def render(report: Report, view: View) -> str:
    """Every send with its triggers, every provider call and trigger, and the templates."""
    inventory = report.inventory
    document = {
        "schema": SCHEMA,
        "sends": [_send(send) for send in inventory.sends],
        "provider_calls": [_call(call) for call in inventory.calls],
        "triggers": [trigger(item) for item in inventory.triggers],
        "templates": _templates(inventory.sends),
        "errors": [problem(fault) for fault in report.problems],
        "stats": stats(report.stats),
    }
    return dumped(document)


def _send(send: Send) -> dict[str, Any]:
    template = send.template
    return {
        **_spot(send.place),
        "function": send.function,
        "api": send.call.api,
        "provider": send.call.provider,
        "template": {"value": template.value, "from": template.source, "confidence": template.confidence},
        "provider_call": at(send.call.place),
        "triggers": [_route(route) for route in send.routes],
    }


def _route(route: Route) -> dict[str, Any]:
    return {
        **trigger(route.trigger),
        "trace": [step(item) for item in route.trace],
        "in_transaction": route.in_transaction,
        "guarded": route.guarded,
    }


def _call(call: ProviderCall) -> dict[str, Any]:
    row = {**_spot(call.place), "function": call.function, "api": call.api, "provider": call.provider}
    return {**row, "marked": call.marked} if call.marked else row


def _spot(place: Place) -> dict[str, Any]:
    return {**at(place), "column": place.column}


def _templates(sends: Sequence[Send]) -> list[dict[str, Any]]:
    """The mails by name, unnamed ones last, with the sends of each and the kinds of trigger that lead to them."""
    users: dict[str | None, list[int]] = defaultdict(list)
    for number, send in enumerate(sends):
        users[send.template.value].append(number)
    return [
        {
            "value": value,
            "sends": users[value],
            "trigger_kinds": sorted({route.trigger.kind for number in users[value] for route in sends[number].routes}),
        }
        for value in sorted(users, key=lambda value: (value is None, value or ""))
    ]
