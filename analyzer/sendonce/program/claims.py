"""Reservations that dominate a call: recognises them among the facts that hold."""

from __future__ import annotations

from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Linker
from sendonce.program.mail import Guard, Transaction


class Claims:
    """Answers for sites, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker

    def guard_at(self, site: Site) -> Guard | None:
        """The reservation that every way to a site within its function has won."""
        return None

    def unique_job(self, site: Site) -> Guard | None:
        """The reservation that an enqueue under a unique key is."""
        return Guard(site.path, site.at[0], site.function, "unique job key")

    def library_transaction(self, crossing: Crossing) -> Transaction:
        """The transaction that a library call opens around the callbacks that it fires."""
        site = crossing.site
        name = crossing.within.replace("()", "")
        return Transaction("library", site.path, site.at[0], site.function, site, f"{name} runs in a transaction")
