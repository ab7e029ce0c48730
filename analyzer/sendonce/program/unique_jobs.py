"""Enqueues under a key of which the queue refuses a second: reservations for as long as the queue remembers."""

from __future__ import annotations

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.mail import Guard
from sendonce.program.reservations import key_of
from sendonce.program.stability import Stability

DAY = 86400
_PROMISES = {
    "waiting": "the queue refuses a second job with this key only while the first one waits",
    "done": "the queue refuses a second job with this key only until the first one has ended",
    "result": "the queue refuses a second job with this key only while the result of the first one is kept",
}


class UniqueJobs:
    """Answers for enqueues."""

    def __init__(self, evaluator: Evaluator, stability: Stability) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.stability = stability

    def guard(self, site: Site) -> Guard | None:
        """The reservation that an enqueue is; None if its key differs on every attempt."""
        found: tuple[tuple[object, v.Enqueue], ...] = self.evaluator.lookup(self.packs.enqueues, site.call.func)
        for _, entry in found:
            named = [name for name, wanted in entry.unique.items() if wanted == "*"]
            keys = tuple(arguments.given(self.evaluator, site.call, tuple(named)))
            if not entry.unique or (named and not keys):
                continue
            if self.stability.any_unstable(keys):
                return None
            parts = tuple(("id", self.evaluator.resolve(key)) for key in keys)
            prefix = "job" if parts else f"job {site.path}:{site.at[0]}"
            return Guard(
                site.path,
                site.at[0],
                site.function,
                "unique job key",
                key_of(prefix, parts),
                prefix=prefix,
                parts=parts,
                passing=self._passing(entry, site),
            )
        return Guard(site.path, site.at[0], site.function, "unique job key", f"job {site.path}:{site.at[0]}")

    def _passing(self, entry: v.Enqueue, site: Site) -> str:
        """What the queue promises where it frees the key too soon."""
        if entry.lasts == "result":
            for name in ("result_ttl", "job_result_ttl", "keep_result"):
                kept = arguments.argument(self.evaluator, site.call, name)
                constant = None if kept is None else self.evaluator.constant(kept)
                seconds = None if constant is None else constant.value
                if kept is not None and (not isinstance(seconds, int) or seconds < 0 or seconds >= DAY):
                    return ""
        return _PROMISES.get(entry.lasts, "")
