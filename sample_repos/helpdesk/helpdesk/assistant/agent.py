"""The assistant that answers in the portal; it may write to the customer it talks with."""

from dataclasses import dataclass

from pydantic_ai import Agent, DeferredToolRequests, RunContext

from helpdesk.mail.claims import claim
from helpdesk.mail.resend import send_mail


@dataclass
class Request:
    """One question of a customer: the id is made by the portal and stays when it asks again."""

    request_id: str
    email: str


assistant = Agent(
    "openai:gpt-5-mini",
    deps_type=Request,
    output_type=[str, DeferredToolRequests],
    instructions="Answer questions about the product. Offer to mail instructions.",
    defer_model_check=True,
)


@assistant.tool
async def mail_instructions(ctx: RunContext[Request], topic: str) -> str:  # fault: SO603, SO702 note
    """Mails the instructions for a topic to the customer."""
    await send_mail("instructions", ctx.deps.email, {"topic": topic}, reference=topic)
    return f"mailed the instructions for {topic}"


@assistant.tool
async def mail_transcript(ctx: RunContext[Request], text: str, idempotency_key: str) -> str:  # fault: SO603, SO702 note
    """Mails a transcript. Pass a unique idempotency_key so that it is sent once."""
    key = f"transcript-{idempotency_key}"
    await send_mail("transcript", ctx.deps.email, {"text": text}, reference=key, key=key)
    return "mailed the transcript"


@assistant.tool
async def mail_summary(ctx: RunContext[Request], text: str) -> str:
    """Mails a summary of this conversation."""
    key = f"summary-{ctx.deps.request_id}"
    await send_mail("summary", ctx.deps.email, {"text": text}, reference=key, key=key)
    return "mailed the summary"


@assistant.tool
async def open_callback(ctx: RunContext[Request], phone: str) -> str:
    """Confirms a call back by mail, once a request."""
    if not await claim("callback", ctx.deps.request_id):
        return "that was confirmed already"
    await send_mail("callback", ctx.deps.email, {"phone": phone}, reference=ctx.deps.request_id)
    return "confirmed"


@assistant.tool(requires_approval=True)
async def mail_offer(ctx: RunContext[Request], discount: int) -> str:
    """Mails an offer; somebody of sales looks at it first."""
    key = f"offer-{ctx.deps.request_id}"
    await send_mail("offer", ctx.deps.email, {"discount": discount}, reference=key, key=key)
    return "mailed the offer"
