"""Signs that other programs, not people, call a controller."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sendonce import vocabulary as v
from sendonce.program.dependencies import injected
from sendonce.program.flow import Flows
from sendonce.program.link import Linker
from sendonce.program.starts.start import Start
from sendonce.program.symbols import Function


class Webhooks:
    """Tells webhooks from other controllers."""

    def __init__(self, linker: Linker, flows: Flows) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.flows = flows

    def marked(self, start: Start) -> Start:
        """A controller with the signs of a webhook is one."""
        if start.trigger.kind != "controller":
            return start
        function = self.program.function(start.function)
        if self.is_webhook(function, start):
            return replace(start, trigger=replace(start.trigger, kind="webhook"))
        return start

    def is_webhook(self, function: Function, start: Start) -> bool:
        """Whether names, routes, signature checks or headers say that other programs call this handler."""
        names = f"{start.trigger.function} {start.trigger.detail}"
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", names)}
        joined = names.lower()
        weak = False
        nearby = tuple(self._nearby(function))
        for _, entry in self.packs.webhooks:
            strong = {word.lower() for word in entry.words}
            if words & strong or any("_" in word and word in joined for word in strong):
                return True
            weak = weak or bool(words & {word.lower() for word in entry.weak_words})
            if self._verifies(nearby, entry):
                return True
        return weak and self._is_exempt(function)

    def _verifies(self, nearby: tuple[Function, ...], entry: v.Webhook) -> bool:
        headers = {_plain(header) for header in entry.headers}
        for one in nearby:
            for site in self.flows.of(one).sites:
                shapes = self.evaluator.shapes(site.call.func)
                if any(self.packs.canonical(verify) in shapes for verify in entry.verifies):
                    return True
            if headers and headers & {_plain(word) for word in one.words}:
                return True
        return False

    def _nearby(self, function: Function) -> Iterator[Function]:
        """The handler, its dependencies and the project functions that it calls itself."""
        yield function
        for ref in injected(self.linker, function):
            yield self.program.function(ref.id)
        for edge in self.linker.edges(function):
            if len(edge.crossings) == 1 and edge.crossings[0].hop == "call":
                yield self.program.function(edge.target)

    def _is_exempt(self, function: Function) -> bool:
        shapes: set[str] = set()
        for call in self.linker.decorations(function):
            shapes |= self.evaluator.shapes(call.func)
        exempts = {self.packs.canonical(one) for _, entry in self.packs.webhooks for one in entry.exempts}
        return bool(shapes & exempts)


def _plain(header: str) -> str:
    return header.lower().replace("-", "_").removeprefix("http_")
