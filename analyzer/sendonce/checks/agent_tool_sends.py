"""SO603 agent-tool-sends.

## What it finds
A tool that a language model can call, which sends mail although no person approves it and no key of the orchestrator
tells one request's mail from another; or a tool that lets the model make up that key.

## Why it doubles
A model calls a tool again when the answer is lost, slow or not what it hoped for, and a framework runs it again from a
checkpoint. Each call is a mail. A key that the model writes is another one at each call, so nothing recognises the
repeat.

## Bad
```python
@tool
def send_answer(to: str, text: str, idempotency_key: str) -> str:
    "Send the answer. Give a unique idempotency_key."
    deliver(to, "Your question", text, key=idempotency_key)
    return "sent"
```

## Good
```python
@tool
def send_answer(to: str, text: str, request_id: Annotated[str, InjectedState("request_id")]) -> str:
    "Send the answer."
    deliver(to, "Your question", text, key=f"answer-{request_id}")
    return "sent"
```

## When it is silent
A person releases each mail (an interrupt, an approval option, a middleware that names the tool, a draft that is sent
elsewhere), or a claim or provider key made from what the framework injects (state, config, context) stands before the
send, or a claim on something stored that the tool looks up.

## Repair by framework
LangChain, LangGraph: `InjectedState` or `RunnableConfig` for the key; `HumanInTheLoopMiddleware(interrupt_on=...)`.
OpenAI Agents SDK: `RunContextWrapper` for the key, or `function_tool(needs_approval=True)`.
pydantic-ai: `ctx.deps`, or `requires_approval=True`. MCP: let the tool write a draft, or `ctx.elicit(...)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, by_place, fault, is_open, named, send_place, severity_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path

CODE, NAME = "SO603", "agent-tool-sends"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a tool, over all mails that it sends."""
    approvals = analysis.approvals
    paths = [path for path in analysis.paths if approvals.is_tool(path) and not approvals.is_approved(path)]
    found = [path for path in paths if is_open(path) or approvals.invented(path) is not None]
    for place, group in by_place(found, lambda path: path.trigger.place).items():
        yield _fault(analysis, place, group)


def _fault(analysis: Analysis, place: Place, group: list[Path]) -> Fault:
    shown = min(group, key=lambda path: path.length)
    argument = analysis.approvals.invented(shown)
    tool = shown.trigger.function
    message = (
        f"the model can call the tool {tool} again after a timeout or a lost answer, and each call sends "
        f"{named(shown)}: nobody approves it, and no key of the orchestrator tells the requests apart"
    )
    if argument is not None:
        message = (
            f"the tool {tool} sends {named(shown)} under a key that the model makes up ({argument}): when it calls "
            f"the tool again it makes up another one, and the mail goes out twice"
        )
    help = (
        "make the key from what the framework injects (state, config, context), which the model neither sees nor "
        "sets, and claim it before the send; or let a person approve each mail"
    )
    related = [Related(send_place(path), "sends here") for path in group]
    return fault(analysis, (CODE, NAME), group, place, tool, worst(map(severity_of, group)), message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
