"""Effects beside a mail that reach the world outside and can fail: requests to other services, other mails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Held, Site
from sendonce.program.link import Linker
from sendonce.program.paths import Path, place_of
from sendonce.program.values import Call, substitute
from sendonce.program.writes import Mark

MAX_DEPTH = 3


class Effects:
    """Answers for sites and marks; `mailing` are the call sites that lead to a mail, with its templates."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, paths: tuple[Path, ...]) -> None:
        self.evaluator = evaluator
        self.flows = flows
        self.linker = linker
        self.mailing: dict[Site, set[str]] = {}
        for path in paths:
            for site in path.sites():
                self.mailing.setdefault(site, set()).add(_mail_of(path))
        self._known: dict[tuple[Call, int], bool] = {}

    def beside(self, path: Path, site: Site, mark: Mark) -> Iterator[Place]:
        """The effects before a mark in the function of a site, other than the mail that the site leads to.

        What is caught and passed over does not keep the mark from being written.
        """
        flow = self.flows.of(self.evaluator.program.function(site.function))
        for other in flow.sites:
            before = other.at[:2] < mark.start and other is not site
            if not before or flow.exclusive(site.held, other.held) or _is_swallowed(other.held, mark.held):
                continue
            if _loops(other.held) != _loops(site.held) or not _is_passed(other.held, mark.held):
                continue
            mails = self.mailing.get(other, set())
            if (mails and _mail_of(path) not in mails) or (not mails and self._reaches(other.call, 0)):
                yield place_of(other)

    def to_all(self, site: Site, mark: Mark) -> bool:
        """Whether a mark is written once behind a loop of mails, or behind it for each of the same items."""
        inside = set(map(id, h.newest_first(mark.held)))
        loops = [fact for fact in h.blocks(site.held) if isinstance(fact, h.Loop) and id(fact) not in inside]
        if not mark.after or not loops or _is_swallowed(site.held, mark.held):
            return False
        around = _loops(site.held)
        own = [fact for fact in h.blocks(mark.held) if isinstance(fact, h.Loop) and id(fact) not in around]
        return all(fact.over in {loop.over for loop in loops} for fact in own)

    def _reaches(self, call: Call, depth: int) -> bool:
        """Whether a call makes a request to another service, itself or in the functions of the tree that it runs."""
        key = (call, depth)
        if key not in self._known:
            self._known[key] = False
            self._known[key] = self._asks(call, depth)
        return self._known[key]

    def _asks(self, call: Call, depth: int) -> bool:
        packs = self.evaluator.packs
        posts = bool(self.evaluator.lookup(packs.http_clients, call.func))
        if posts or bool(self.evaluator.lookup(packs.effects, call.func)):
            return True
        if depth >= MAX_DEPTH:
            return False
        for ref, names, args, *_ in self.linker.callables(call.func):
            function = self.evaluator.program.function(ref.id)
            binding = arguments.bind(self.evaluator, ref, (*names, *call.names), (*args, *call.args))
            for site in self.flows.of(function).sites:
                inner = substitute(site.call, binding)
                if isinstance(inner, Call) and site not in self.mailing and self._reaches(inner, depth + 1):
                    return True
        return False


def _mail_of(path: Path) -> str:
    template = path.mail.template
    return template.value if template is not None and template.value else str(path.send.at)


def _is_swallowed(inner: Held | None, outer: Held | None) -> bool:
    """Whether an error at one point is caught before the other, which is reached all the same."""
    own = {id(fact) for fact in h.newest_first(outer)}
    passed = [fact.trying for fact in h.newest_first(outer) if isinstance(fact, h.Passed)]
    return any(isinstance(fact, h.Trying) and id(fact) not in own and fact not in passed for fact in h.blocks(inner))


def _loops(held: Held | None) -> set[int]:
    """The loops around a point."""
    return {id(fact) for fact in h.blocks(held) if isinstance(fact, h.Loop)}


def _is_passed(inner: Held | None, later: Held | None) -> bool:
    """Whether a run that reaches the later point may have passed the other: its branch joins those that lead there."""
    known = {id(fact) for fact in _all(h.newest_first(later))}
    return all(id(fact) in known for fact in h.newest_first(inner) if isinstance(fact, h.Test | h.Caught))


def _all(found: Iterable[h.Fact]) -> Iterator[h.Fact]:
    """Facts, those in branches that joined included."""
    for fact in found:
        yield fact
        if isinstance(fact, h.Either):
            for branch in fact.branches:
                yield from _all(branch)
