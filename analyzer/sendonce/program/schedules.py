"""The schedules of a function: where each stands, and with which arguments the function is then run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.findings import Place
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.paths import place_of
from sendonce.program.reader import Reader
from sendonce.program.starts import Registration, Starts
from sendonce.program.symbols import Function, Module, own_nodes
from sendonce.program.values import UNKNOWN, Call, Table, Value

_ARGUMENTS = ("args", "kwargs")


@dataclass(frozen=True)
class Schedule:
    """One schedule: `table` tells the dict that it stands in, `when` its time as it is written."""

    place: Place
    arguments: object
    when: object
    table: object = None


def schedules(evaluator: Evaluator, starts: Starts, function: Function) -> list[Schedule]:
    """The schedules of a function, by place."""
    found = [*_registered(starts, function), *_listed(evaluator, starts, function)]
    return sorted(set(found), key=lambda one: one.place)


def _registered(starts: Starts, function: Function) -> Iterator[Schedule]:
    for registration in starts.registry.by_function.get(function.id, ()):
        if registration.entry.kind == "cron":
            yield Schedule(place_of(registration.site), _given(registration, function), _when(registration.site))


def _given(registration: Registration, function: Function) -> object:
    """The arguments that the job is registered with."""
    bound = {
        param.name: value
        for edge in registration.edges
        if edge.target == function.id and edge.crossings
        for param, value in edge.crossings[-1].binding.items()
        if param.function == function.id
    }
    options = {
        name: value
        for name, value in zip(registration.call.names, registration.call.args, strict=True)
        if name in _ARGUMENTS
    }
    return tuple(sorted((name, _form(value)) for name, value in {**bound, **options}.items()))


def _when(site: Site) -> object:
    return tuple(map(_form, site.call.args))


def _listed(evaluator: Evaluator, starts: Starts, function: Function) -> Iterator[Schedule]:
    """Entries of tables such as `CELERY_BEAT_SCHEDULE`."""
    paths = {
        path
        for pack in evaluator.packs.packs
        for entry in pack.trigger
        if entry.kind == "cron"
        for path in entry.settings
    }
    for path in sorted(paths):
        head, *keys = path.split("/")
        if len(keys) == 2 and keys[0] == "*":
            word = head.rpartition(".")[2]
            for file in evaluator.program.index.files_with(word):
                module = evaluator.program.module_of(file)
                if module is not None:
                    yield from _in_module(evaluator, starts, module, keys[1], function)


def _in_module(
    evaluator: Evaluator, starts: Starts, module: Module, name: str, function: Function
) -> Iterator[Schedule]:
    reader = Reader(evaluator, module.body)
    for body in module.functions.values():
        for node in own_nodes(body.node):
            for key, value in node.items if isinstance(node, facts.Dict) else ():
                if key is None or not isinstance(value, facts.Dict):
                    continue
                row = _row(value)
                task = row.get(name)
                if isinstance(task, facts.Constant) and starts.tables.means(str(task.value), function):
                    given = tuple((word, _form(reader.read(row[word]))) for word in _ARGUMENTS if word in row)
                    rest = tuple((w, _form(reader.read(e))) for w, e in row.items() if w not in (name, *_ARGUMENTS))
                    yield Schedule(Place(module.path, *key.at), _listed_arguments(given), rest, id(node))


def _listed_arguments(given: tuple[tuple[str, object], ...]) -> object:
    return tuple(sorted(given, key=lambda pair: pair[0]))


def _row(node: facts.Dict) -> dict[str, facts.Expr]:
    return {str(key.value): value for key, value in node.items if isinstance(key, facts.Constant)}


def _form(value: Value) -> object:
    """A value without the places at which its calls were made."""
    if isinstance(value, Call):
        return ("call", _form(value.func), value.names, tuple(map(_form, value.args)))
    if isinstance(value, Table):
        return ("table", tuple(map(_form, value.keys)), tuple(map(_form, value.values)))
    parts = value.parts()
    return (
        repr((type(value).__name__, *(_form(part) for part in parts), getattr(value, "name", "")))
        if parts
        else repr(value)
    )


def known(arguments: object) -> bool:
    """Whether all arguments of a schedule can be compared."""
    return repr(UNKNOWN) not in repr(arguments)
