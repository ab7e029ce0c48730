"""SO406 scheduler-per-worker.

## What it finds
A scheduler inside the web application's own processes that runs a job which mails: started at import, in the app
factory, in the lifespan or a start-up hook.

## Why it doubles
A web server starts several worker processes, on several hosts. Each of them makes the application, so each has a
scheduler of its own, and each scheduler runs the job: as many mails as workers. A shared job store or
`max_instances=1` does not make schedulers take turns, and a lock around the registration ends before the first run.

## Bad
```python
def create_app():
    app = Flask(__name__)
    scheduler = BackgroundScheduler()
    scheduler.add_job(send_reminders, "cron", hour=7)
    scheduler.start()
    return app
```

## Good
```python
def main():
    scheduler = BlockingScheduler()
    scheduler.add_job(send_reminders, "cron", hour=7)
    scheduler.start()


if __name__ == "__main__":
    main()
```

## When it is silent
A process of its own starts the scheduler (a command, a script, a worker), or each run takes a lock or claim that all
processes share, so that it does not matter how many schedulers fire. One that only does housekeeping may run anywhere.

## Repair by framework
Flask, FastAPI: a clock process (`python -m shop.clock` with a `BlockingScheduler`), one replica of it.
Django: a management command that blocks, or Celery beat. Everywhere: claim the run first, for example
`redis.set(f"reminders:{today}", 1, nx=True, ex=86400)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, named, send_place, severity_of, worst
from sendonce.checks.selecting import is_alone
from sendonce.findings import Confidence, Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of
from sendonce.program.schedulers import Started

CODE, NAME = "SO406", "scheduler-per-worker"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a call that starts a scheduler, over all mails that its jobs send."""
    groups: dict[Place, list[tuple[Path, Started]]] = {}
    for path in analysis.paths:
        if is_open(path) and not is_alone(analysis, path):
            for started in analysis.schedulers.started(path):
                groups.setdefault(place_of(started.site), []).append((path, started))
    yield from (_fault(analysis, place, groups[place]) for place in sorted(groups))


def _fault(analysis: Analysis, place: Place, group: list[tuple[Path, Started]]) -> Fault:
    paths = [path for path, _ in group]
    shown, started = min(group, key=lambda one: one[0].length)
    function = analysis.program.function(started.site.function).dotted
    message = (
        f"every worker process of the web application starts a scheduler of its own here, and each runs "
        f"{shown.trigger.function}, which sends {named(shown)}: one mail for each process"
    )
    help = (
        "start the scheduler in a process of its own, or let each run first win a claim that all processes share "
        "(SET NX on the job and its period); a lock around the start or the registration is not enough"
    )
    related = [Related(place_of(crossing.site), "started from here") for _, one in group for crossing in one.way]
    related += [Related(path.trigger.place, f"the job {path.trigger.function}") for path in paths]
    related += [Related(place_of(path.start.site), "registered here") for path in paths if path.start.site is not None]
    related += [Related(send_place(path), "sends here") for path in paths]
    sure: Confidence | None = None if any(one.sure for _, one in group) else "medium"
    return fault(
        analysis, (CODE, NAME), paths, place, function, worst(map(severity_of, paths)), message, help, related, sure,
        assumes=["more than one worker process"],
    )  # fmt: skip


RULE = Rule(CODE, NAME, __doc__, check)
