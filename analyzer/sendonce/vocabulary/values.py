"""What calls and attributes of a library give, and the models behind them."""

from __future__ import annotations

from typing import Literal

from sendonce.vocabulary.entry import Entry, Scalar


class Returns(Entry, frozen=True, kw_only=True):
    """What a call (or, with `attribute`, an attribute) gives.

    Exactly one of: `type` (a class shape without `()`: an instance of it), `value`:
    "receiver": the object itself; "element": an item of the collection; "argument|0": that argument;
    "class:klass|0": an instance of the class given there; "element:klass|0": an item of the class or
    collection given there; "collection:entity|0": a collection of instances of that class; "pair": an item and
    whether it is new; "model": the class of the items; "library:a.B": the library's own class a.B;
    "setting:NAME": the class that a setting names; "named:name|0": the class of that name; "text:message|0": the
    text given there; "never": the call does not return, it raises.
    """

    calls: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    when: dict[str, Scalar] = {}
    type: str = ""
    value: str = ""
    keeps_model: bool = False
    """The result is a collection of the receiver's model (Django querysets, SQLAlchemy results)."""
    binds: bool = False
    """The call's other arguments are bound in front, as `partial` does (`task.s(1)`)."""


class Service(Entry, frozen=True, kw_only=True):
    """A registry of objects that one part of a program puts in and another asks for, by a class or a name."""

    finds: tuple[str, ...]
    """Calls that ask, with `key` (a class or an interface) and `name`; the method's name is enough."""
    key: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    registers: tuple[str, ...]
    """Calls that put in what `object` holds, or what the function in `factory` makes (itself or its dotted path)."""
    factory: tuple[str, ...] = ()
    object: tuple[str, ...] = ()
    register_key: tuple[str, ...] = ()
    register_name: tuple[str, ...] = ()


class Relation(Entry, frozen=True, kw_only=True):
    """A class attribute that leads from one model to another."""

    calls: tuple[str, ...]
    to: tuple[str, ...]
    """Argument with the class, its name, or a setting that names it."""
    many: bool = False
    """The attribute is a collection."""
    type: str = ""
    """The class of that collection."""
    back: tuple[str, ...] = ()
    """Arguments with the name of the attribute on the other model."""
    back_default: str = ""
    """That name without them: `"{model}_set"`, the model's name in lower case."""
    back_many: bool = False


class ModelOf(Entry, frozen=True, kw_only=True):
    """How classes of a library name the model that they work on: `"receiver"`'s model of the other entries."""

    classes: tuple[str, ...]
    paths: tuple[str, ...]
    """Class attributes in order; `Meta/model` steps into a nested class or into the class that an attribute names."""
    arguments: tuple[str, ...] = ()
    """Arguments of the call that made the object: the class, or a collection or statement about it."""
    decorators: tuple[str, ...] = ()
    """Decorators of the class that do so, and `registers` calls: model in `model`, class in `handler`."""
    registers: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    handler: tuple[str, ...] = ()


class Unstable(Entry, frozen=True, kw_only=True):
    """Values that differ on every attempt and so make no key; `rounds` are what makes a period of them."""

    calls: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    why: Literal["random", "time", "process", "attempt", "order"]
    rounds: tuple[str, ...] = ()
    period: bool = False
    """It is a period as it comes (`date.today()`), unless a format among its arguments shows the moment."""
    when: dict[str, Scalar] = {}
