"""Mail: sends, messages, HTTP APIs of providers, templates."""

from __future__ import annotations

from typing import Literal

from sendonce.vocabulary.entry import Entry, Scalar


class Content(Entry, frozen=True, kw_only=True):
    """Where the content of a message stands in the arguments of a call."""

    template: tuple[str, ...] = ()
    """Arguments that name a template file or a provider's template."""
    template_id: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    """Bodies: a rendered template inside them names the mail."""
    recipient: tuple[str, ...] = ()
    message: tuple[str, ...] = ()
    """Arguments that hold a message object (see `Message`), or a list of them."""
    default_template: str = ""
    """The library's own template, which names the mail when the call gives none; `{method}` is the called method."""


class Send(Content, frozen=True, kw_only=True):
    """A provider send: a call that hands a message to a mail provider or server."""

    calls: tuple[str, ...]
    when: dict[str, Scalar] = {}
    """Arguments (in argument notation) that must be constants with these values."""
    internal: bool = False
    """Mail to the site's own staff (`mail_admins`)."""
    bulk: bool = False
    delivery: Literal["now", "stored", "after_commit"] = "now"
    """`stored`: a row of the application's own database that a later run sends; `after_commit`: leaves on commit."""
    key: tuple[str, ...] = ()
    """Arguments that take an idempotency key the provider honours."""
    retries: bool = False
    """The SDK itself repeats the request after an error."""
    silent: dict[str, Scalar] = {}
    """Options of which each, with this value, keeps the errors of the send from being raised."""
    addresses: tuple[str, ...] = ()
    """The library sends more than mail: a text given to the receiver must start like one of these (`mailto:`)."""


class Message(Content, frozen=True, kw_only=True):
    """A constructor or factory of message objects. `fields` are attributes or items set later that carry content."""

    calls: tuple[str, ...]
    fields: dict[str, Literal["template", "template_id", "subject", "text", "recipient"]] = {}
    """`"template_id" = "template_id"` for `m.template_id = …`; `"[Subject]" = "subject"` for `m["Subject"] = …`."""
    methods: dict[str, Content] = {}
    """Methods that add content: `attach_alternative = {text = ["content|0"]}`."""


class Http(Content, frozen=True, kw_only=True):
    """A provider's HTTP API, as raw posts reach it. Arguments are paths into the body: `"/TemplateId"`."""

    hosts: tuple[str, ...]
    """Host names; a leading `*.` allows any sub-domain."""
    paths: tuple[str, ...] = ()
    """Regular expressions searched in the URL's path; none allows any path. Holes of f-strings read as `{}`."""
    key_header: str = ""
    key: tuple[str, ...] = ()
    """Paths in the body that take an idempotency key."""


class HttpClient(Entry, frozen=True, kw_only=True):
    """Calls that post to a URL (requests, httpx, aiohttp, urllib …)."""

    calls: tuple[str, ...]
    url: tuple[str, ...]
    body: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    """Arguments of the client's own constructor that hold a base URL."""
    request: tuple[str, ...] = ()
    """Arguments that may hold a request object made by an entry with `builds`: URL, body and headers are then
    its own."""
    builds: bool = False
    """Only makes a request object, which another call sends."""
    when: dict[str, Scalar] = {}


class Render(Entry, frozen=True, kw_only=True):
    """A call that renders a template, or returns a template object that does: it names the mail it ends up in."""

    calls: tuple[str, ...]
    template: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    """Arguments that hold the template's text itself: the name of that constant names the mail."""
