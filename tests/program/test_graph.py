"""The call graph as it is shown: which nodes and edges there are, how sure they are and why."""

from __future__ import annotations

import pytest

from linking import PACKS, analysis_of
from sendonce.config import Settings
from sendonce.discovery import discover
from sendonce.program.analysis import linked
from sendonce.program.graph import CallGraph, mail_slice, whole

PROGRAM = """
--- shop/views.py
from django.db import transaction
from shop import mail, tasks


def quiet(request):
    return helper()


def helper():
    return 1


def pay(request):
    with transaction.atomic():
        transaction.on_commit(lambda: mail.receipt(request.order))
        tasks.remind.delay(request.order)
--- shop/urls.py
from django.urls import path
from shop import views

urlpatterns = [path("pay/", views.pay), path("quiet/", views.quiet)]
--- shop/tasks.py
from celery import shared_task
from shop import mail


@shared_task
def remind(order):
    mail.receipt(order)
"""


def everything(program: str, root) -> CallGraph:
    analysis_of(program, root)  # writes the files
    return whole(linked(discover(root), PACKS, Settings()))


def arrows(graph: CallGraph) -> dict[str, str]:
    """The edges by their ends, with kind, confidence and reason."""
    return {f"{one.source} -> {one.target}": f"{one.kind}, {one.confidence}, {one.why}" for one in graph.links}


def test_the_mail_slice_has_what_leads_to_mail_and_nothing_else(tmp_path):
    graph = mail_slice(analysis_of(PROGRAM, tmp_path))
    assert arrows(graph) == {
        "shop.mail.receipt -> django.core.mail.send_mail": "send, high, exact",
        "shop.tasks.remind -> shop.mail.receipt": "call, high, exact",
        "shop.views.pay -> shop.tasks.remind": "enqueue, high, framework",
        "shop.views.pay -> shop.views.pay.<locals>.<lambda:15:31>": "defer, high, framework",
        "shop.views.pay.<locals>.<lambda:15:31> -> shop.mail.receipt": "call, high, exact",
    }


def test_nodes_have_their_kind_place_and_triggers(tmp_path):
    nodes = {node.id: node for node in mail_slice(analysis_of(PROGRAM, tmp_path)).nodes}
    assert [(node.kind, node.path, node.line) for node in nodes.values()] == [
        ("external", "", 0),
        ("function", "shop/mail.py", 5),
        ("function", "shop/tasks.py", 6),
        ("function", "shop/views.py", 13),
        ("lambda", "shop/views.py", 15),
    ]
    assert nodes["shop.views.pay"].triggers == ("controller",)
    assert nodes["shop.tasks.remind"].triggers == ()


def test_the_whole_graph_has_functions_that_lead_to_no_mail(tmp_path):
    graph = everything(PROGRAM, tmp_path)
    assert arrows(graph)["shop.views.quiet -> shop.views.helper"] == "call, high, exact"
    assert {"shop.views", "shop.urls"} <= {node.id for node in graph.nodes if node.kind == "module"}
    assert arrows(graph)["shop.urls -> django.urls.path"] == "call, high, exact"


CLASSES = """
--- shop/base.py
class Channel:
    def deliver(self, text):
        self.log(text)

    def log(self, text):
        pass

class Mail(Channel):
    def log(self, text):
        print(text)

class Plain:
    pass

TABLE = {"a": Channel, "b": Mail}

def run(kind, channel: Mail):
    Plain()
    channel.deliver("x")

def pick(kind):
    TABLE[kind]().deliver("x")

def late(thing):
    thing.announce_parcel()

class Parcel:
    def announce_parcel(self):
        pass
"""


@pytest.mark.parametrize(
    ("edge", "said"),
    [
        ("shop.base.Channel.deliver -> shop.base.Channel.log", "call, medium, typed"),
        ("shop.base.Channel.deliver -> shop.base.Mail.log", "call, medium, override"),
        ("shop.base.run -> shop.base.Channel.deliver", "call, high, typed"),
        ("shop.base.run -> shop.base.Plain", "call, high, exact"),
        ("shop.base.pick -> shop.base.Channel.deliver", "call, medium, table"),
        ("shop.base.late -> shop.base.Parcel.announce_parcel", "call, low, unique name"),
    ],
)
def test_edges_say_how_sure_they_are_and_why(tmp_path, edge, said):
    assert arrows(everything(CLASSES, tmp_path))[edge] == said


def test_a_table_makes_each_of_its_values_possible(tmp_path):
    program = """
    --- shop/table.py
    def one(): pass
    def two(): pass
    TABLE = {"one": one, "two": two}
    def run(kind):
        TABLE[kind]()
    """
    found = arrows(everything(program, tmp_path))
    assert found["shop.table.run -> shop.table.one"] == found["shop.table.run -> shop.table.two"]
    assert found["shop.table.run -> shop.table.one"] == "call, medium, table"


def test_what_is_defined_twice_is_one_node(tmp_path):
    program = """
    --- shop/twice.py
    try:
        import fast
        def pack(): pass
    except ImportError:
        def pack(): pass
    pack()
    """
    graph = everything(program, tmp_path)
    assert [node.line for node in graph.nodes if node.id == "shop.twice.pack"] == [3]
    assert "shop.twice -> shop.twice.pack" in arrows(graph)


def test_calls_of_one_kind_between_two_nodes_are_one_arrow(tmp_path):
    program = """
    --- shop/often.py
    def one(): pass
    def two():
        one()
        one()
    """
    graph = everything(program, tmp_path)
    assert [link.line for link in graph.links if link.target == "shop.often.one"] == [3, 4]
    assert graph.arrows().count(("shop.often.two", "shop.often.one", "call", "high")) == 1
