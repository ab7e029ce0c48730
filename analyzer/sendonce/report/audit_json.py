"""The audit for other programs, schema 1."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sendonce.audit.model import Audit, Helper, Mail, Picture, Practice, Repair, Way
from sendonce.findings import Finding
from sendonce.report import View
from sendonce.report.audit_words import cell, headline
from sendonce.report.findings_json import SCHEMA, at, dumped, problem, step, trigger


def render(audit: Audit, view: View) -> str:
    """The whole audit; findings are told under their mail, and named elsewhere by code and place."""
    return dumped(
        {
            "schema": SCHEMA,
            "project": audit.project,
            "summary": list(headline(audit)),
            "measured": asdict(audit.measured),
            "plan": [_repair(repair) for repair in audit.plan],
            "helpers": [_helper(helper) for helper in audit.helpers],
            "matrix": {"kinds": list(audit.kinds), "mails": [_row(audit, mail) for mail in audit.mails]},
            "mails": [_mail(mail) for mail in audit.mails],
            "practices": [_practice(practice) for practice in audit.practices],
            "provider_calls": [
                {**at(call.place), "function": call.function, "api": call.api, "provider": call.provider}
                for call in audit.calls
            ],
            "assumptions": [{"assumes": text, "findings": count} for text, count in audit.assumptions],
            "unresolved": [{**at(one.place), "note": one.note} for one in audit.unresolved],
            "errors": [problem(one) for one in audit.problems],
        }
    )


def _repair(repair: Repair) -> dict[str, Any]:
    return {
        "number": repair.number,
        "title": repair.title,
        "how": repair.how,
        "function": repair.function,
        "place": None if repair.place is None else at(repair.place),
        "risk": repair.risk,
        "effort": repair.effort,
        "mails": list(repair.mails),
        "triggers": repair.triggers,
        "closes": [_short(finding) for finding in repair.findings],
    }


def _helper(helper: Helper) -> dict[str, Any]:
    words = {"function": helper.function, **at(helper.place), "repairs": list(helper.repairs)}
    return {**words, "mails": list(helper.mails), "findings": helper.findings}


def _row(audit: Audit, mail: Mail) -> dict[str, Any]:
    cells = {kind: cell(mail, kind) for kind in audit.kinds}
    return {"mail": mail.name, "cells": {kind: asdict(one) for kind, one in cells.items() if one is not None}}


def _mail(mail: Mail) -> dict[str, Any]:
    return {
        "name": mail.name,
        "confidence": mail.confidence,
        "sends": [{**at(send.place), "function": send.function, "api": send.call.api} for send in mail.sends],
        "ways": [_way(way) for way in mail.ways],
        "picture": None if mail.picture is None else _picture(mail.picture),
        "findings": [{**_short(one), "message": one.message, "help": one.help} for one in mail.findings],
        "repairs": list(mail.repairs),
    }


def _way(way: Way) -> dict[str, Any]:
    return {
        "trigger": trigger(way.trigger),
        "in_transaction": way.in_transaction,
        "guarded": way.guarded,
        "repeats": way.repeats,
        "confidence": way.confidence,
        "trace": [step(one) for one in way.steps],
    }


def _picture(picture: Picture) -> dict[str, Any]:
    stops = [
        {
            "number": stop.number,
            "lane": stop.lane,
            "column": stop.column,
            "title": stop.title,
            "what": stop.what,
            **at(stop.place),
            "count": stop.count,
            "marks": list(stop.marks),
            "codes": list(stop.codes),
        }
        for stop in picture.stops
    ]
    arrows = [{"from": one.source, "to": one.target, "hop": one.hop, "calls": one.calls} for one in picture.arrows]
    return {"stops": stops, "arrows": arrows}


def _practice(practice: Practice) -> dict[str, Any]:
    return {
        "title": practice.title,
        "why": practice.why,
        "outcome": practice.outcome,
        "asked_of": practice.subjects,
        "findings": [_short(finding) for finding in practice.findings],
    }


def _short(finding: Finding) -> dict[str, Any]:
    words = {"code": finding.code, "name": finding.name, "severity": finding.severity, "confidence": finding.confidence}
    return {**words, **at(finding.place), "template": finding.template, "fingerprint": finding.fingerprint}
