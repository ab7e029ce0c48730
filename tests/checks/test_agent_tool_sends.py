"""SO603: tools of language models that send mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import agent_tool_sends

HEAD = """
import smtplib
from typing import Annotated
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState, create_react_agent
from langgraph.types import interrupt
from redis import Redis
from agents import RunContextWrapper, function_tool
from .store import Draft, Session

kv = Redis()


def mail(text):
    smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", text)


def first(key):
    return kv.set(key, 1, nx=True, ex=2592000)


def ask(text):
    return interrupt({"text": text}) == "yes"


"""
STORE = """
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker


class Base(DeclarativeBase):
    pass


class Draft(Base):
    __tablename__ = "drafts"
    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]
    approved_by: Mapped[str | None]


Session = sessionmaker(create_engine("postgresql://db/site"))
"""
SILENT = {
    "reads only": """
@tool
def look(topic: str) -> str:
    return kv.get(topic)
""",
    "a person is asked": """
@tool
def send(text: str) -> str:
    if interrupt({"text": text}) != "yes":
        return "no"
    mail(text)
    return "sent"
""",
    "a person is asked in a helper": """
@tool
def send(text: str) -> str:
    if not ask(text):
        return "no"
    mail(text)
    return "sent"
""",
    "an option asks": """
@function_tool(needs_approval=True)
def send(text: str) -> str:
    mail(text)
    return "sent"
""",
    "the middleware names it": """
@tool
def send(text: str) -> str:
    mail(text)
    return "sent"


agent = create_agent("m", tools=[send], middleware=[HumanInTheLoopMiddleware(interrupt_on={"send": True})])
""",
    "the graph stops before all tools": """
@tool
def send(text: str) -> str:
    mail(text)
    return "sent"


agent = create_react_agent("m", tools=[send], interrupt_before=["tools"])
""",
    "a key of the state": """
@tool
def send(text: str, request: Annotated[str, InjectedState("request_id")]) -> str:
    if not first(f"send:{request}"):
        return "sent before"
    mail(text)
    return "sent"
""",
    "a key of the configuration": """
@tool
def send(text: str, config: RunnableConfig) -> str:
    if not first("send:" + config["configurable"]["request_id"]):
        return "sent before"
    mail(text)
    return "sent"
""",
    "a key of the context": """
@function_tool
def send(ctx: RunContextWrapper, text: str) -> str:
    if not first(f"send:{ctx.context.request_id}"):
        return "sent before"
    mail(text)
    return "sent"
""",
    "a key of what is stored": """
@tool
def send(draft_id: int) -> str:
    draft = Session().get(Draft, draft_id)
    if not first(f"send:{draft_id}"):
        return "sent before"
    mail(draft.text)
    return "sent"
""",
    "a draft that a person released": """
@tool
def send(draft_id: int) -> str:
    draft = Session().get(Draft, draft_id)
    if draft.approved_by is None:
        return "not yet"
    mail(draft.text)
    return "sent"
""",
}
FAULTY = {
    "nothing": """
@tool
def send(text: str) -> str:
    mail(text)
    return "sent"
""",
    "a key of the model": """
@tool
def send(text: str, key: str) -> str:
    if not first(f"send:{key}"):
        return "sent before"
    mail(text)
    return "sent"
""",
    "a key of the model's words": """
@tool
def send(text: str) -> str:
    if not first("send:" + text):
        return "sent before"
    mail(text)
    return "sent"
""",
    "the model approves": """
@tool
def send(text: str, approved: bool) -> str:
    if not approved:
        return "no"
    mail(text)
    return "sent"
""",
    "another tool is approved": """
@tool
def send(text: str) -> str:
    mail(text)
    return "sent"


asked = HumanInTheLoopMiddleware(interrupt_on={"pay": True, "send": False})
agent = create_agent("m", tools=[send], middleware=[asked])
""",
    "a tool class": """
class Send(BaseTool):
    name: str = "send"

    def send(self, text):
        return ""

    def _run(self, text: str) -> str:  # here
        mail(text)
        return "sent"
""",
}


def project(body: str) -> dict[str, str]:
    return {"desk/__init__.py": "", "desk/store.py": STORE, "desk/tools.py": HEAD + body.lstrip("\n")}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO603") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_tool(body: str, tmp_path: Path) -> None:
    files = project(body)
    (found,) = findings(files, tmp_path, "SO603", "SO301")
    wanted = line_of(files["desk/tools.py"], "# here" if "# here" in body else "def send(")
    assert (found.code, found.place.line, found.severity) == ("SO603", wanted, "warning")


def test_tools_that_a_helper_registers(tmp_path: Path) -> None:
    tools = HEAD + "def register(mcp):\n    @mcp.tool\n    def send(text: str) -> str:\n        mail(text)\n"
    tools += '        return "sent"\n'
    server = 'from fastmcp import FastMCP\nfrom .tools import register\n\nmcp = FastMCP("desk")\nregister(mcp)\n'
    (found,) = findings({**project(""), "desk/tools.py": tools, "desk/server.py": server}, tmp_path, "SO603")
    assert found.place.line == line_of(tools, "def send(")


def test_a_node_of_a_graph_is_no_tool(tmp_path: Path) -> None:
    body = "def send(state):\n    mail(state['text'])\n    return {}\n\n\n"
    body += "from langgraph.graph import StateGraph\n\nbuilder = StateGraph(dict)\nbuilder.add_node('send', send)\n"
    assert [one.code for one in findings(project(body), tmp_path, "SO603", "SO301")] == ["SO301"]


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(agent_tool_sends.RULE.doc)
    mailer = "import resend\n\n\ndef deliver(to, subject, text, key):\n"
    mailer += "    resend.Emails.send({'to': to, 'subject': subject, 'text': text}, {'idempotency_key': key})\n\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {
            **project(""),
            "desk/tools.py": HEAD.replace("from .store import Draft, Session", "") + mailer + given[name],
        }
        assert len(findings(files, tmp_path / name, "SO603")) == wanted, name
