"""The search for callers, and calls of which only the name is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from linking import analysis_of, callers

LOOSE = """
        --- shop/orders.py
        from .mail import receipt

        class Order:
            def send_receipt(self, copy):
                receipt(self)
        --- shop/views.py
        def pay(request):
            request.cart.order.send_receipt(True)

        def wrong(request):
            request.cart.order.send_receipt()
"""


def test_a_telling_name_of_one_class_is_an_edge_of_low_confidence(tmp_path: Path) -> None:
    found = callers(LOOSE, tmp_path, "shop.orders.Order.send_receipt")
    assert found.get("shop.views.pay") == "low"


def test_a_call_whose_arguments_do_not_fit_is_none(tmp_path: Path) -> None:
    assert "shop.views.wrong" not in callers(LOOSE, tmp_path, "shop.orders.Order.send_receipt")


def test_a_common_name_is_only_counted(tmp_path: Path) -> None:
    program = """
        --- shop/orders.py
        from .mail import receipt

        class Order:
            def notify(self):
                receipt(self)
        --- shop/views.py
        from .texts import text
        from .orders import Order

        def pay(request):
            text()
            request.cart.order.notify()

        def known():
            Order().notify()
        --- shop/texts.py
        def text():
            return ""
    """
    analysis = analysis_of(program, tmp_path)
    assert [edge.site.function for edge in analysis.callers.into("shop.orders.Order.notify")] == ["shop.views.known"]
    assert [(one.place.path, one.place.line) for one in analysis.unresolved] == [("shop/views.py", 6)]
    assert analysis.stats.unresolved == 1


def test_functions_under_a_decorator_that_mails(tmp_path: Path) -> None:
    program = """
        --- shop/letters.py
        import functools
        from .mail import receipt

        def letter(name):
            def inner(function):
                @functools.wraps(function)
                def wrapper(order):
                    function(order)
                    receipt(order)
                return wrapper
            return inner
        --- shop/welcome.py
        from .letters import letter

        @letter("welcome")
        def welcome(order):
            return {}
        --- shop/views.py
        from .welcome import welcome

        def join(order):
            welcome(order)
    """
    target = "shop.letters.letter.<locals>.inner.<locals>.wrapper"
    assert callers(program, tmp_path, target) == {"shop.views.join": "high"}


def test_an_object_that_only_the_caller_knows(tmp_path: Path) -> None:
    program = """
        --- shop/orders.py
        from .mail import receipt

        class Order:
            def thank(self):
                receipt(self)
        --- shop/helpers.py
        def finish(order):
            order.thank()
        --- shop/views.py
        from .helpers import finish
        from .orders import Order

        def pay():
            finish(Order())
    """
    assert callers(program, tmp_path, "shop.orders.Order.thank") == {"shop.views.pay": "high"}


def test_a_job_of_a_queue_that_no_pack_describes(tmp_path: Path) -> None:
    program = """
        --- shop/tasks.py
        from somequeue.decorators import cached, handler
        from .mail import receipt

        @handler(priority=3)
        def send(order):
            receipt(order)

        @cached
        def total(order):
            return receipt(order)
        --- shop/views.py
        from django.db import transaction
        from shop.tasks import send, total

        def pay(request):
            with transaction.atomic():
                send.delay(request.order)
            total.cache_clear()
    """
    assert callers(program, tmp_path, "shop.tasks.send").keys() == {"shop.views.pay"}
    assert not callers(program, tmp_path, "shop.tasks.total")
    # The queue may keep its jobs in the database: nobody says that this is too early.
    (path,) = [path for path in analysis_of(program, tmp_path).paths if path.start.function == "shop.views.pay"]
    assert path.mail.transaction is None


PLUGINS = """
        --- shop/plugins.py
        class Plugin:
            slug = ""

        class NoticePlugin(Plugin):
            def send(self, event, message, targets):
                raise NotImplementedError
        --- shop/letters.py
        from .mail import receipt
        from .plugins import NoticePlugin

        class LetterPlugin(NoticePlugin):
            @staticmethod
            def send(event, message, targets):
                receipt(targets)
        --- shop/registry.py
        class PluginRegistry:
            def get(self, slug):
                return self.known[slug]

            def all(self):
                return list(self.known.values())

        plugins = PluginRegistry()
        --- shop/chat.py
        class Channel:
            def send(self, event, message, targets):
                pass
        --- shop/views.py
        from .registry import plugins

        def pay(channel, order):
"""
SENDS = "shop.letters.LetterPlugin.send"


@pytest.mark.parametrize("owner", ["plugins.get('letter')", "order.notice_plugin", "sorted(plugins.all())[0]"])
def test_a_common_method_of_an_object_called_like_its_family(owner: str, tmp_path: Path) -> None:
    program = f"{PLUGINS}            {owner}.send('paid', 'Thank you', [order])\n"
    assert callers(program, tmp_path, SENDS) == {"shop.views.pay": "low"}


@pytest.mark.parametrize(
    "call",
    ["channel.send('paid', 'Thank you', [order])", "plugins.get('letter').send('paid')", "plugins.send_all('paid')"],
)
def test_a_common_method_that_may_be_another_ones(call: str, tmp_path: Path) -> None:
    assert not callers(f"{PLUGINS}            {call}\n", tmp_path, SENDS)


def test_a_family_of_which_a_stranger_has_the_name(tmp_path: Path) -> None:
    program = PLUGINS.replace("class Channel:", "class ChatPlugin:")
    program += "            plugins.get('letter').send('paid', 'Thank you', [order])\n"
    assert not callers(program, tmp_path, SENDS)
