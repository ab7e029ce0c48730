"""What a framework runs before a handler and passes to it: `Depends(f)` in a parameter."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.link import Linker
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function
from sendonce.program.values import Call, FunctionRef, Param, Value, walk


def injected(linker: Linker, function: Function) -> Iterator[FunctionRef]:
    """The functions behind a handler's dependencies, and behind theirs, each once."""
    seen: set[str] = set()
    todo = [function]
    for one in todo:
        for declared in one.params:
            for ref in _behind(linker, one, declared):
                if ref.id not in seen:
                    seen.add(ref.id)
                    todo.append(linker.program.function(ref.id))
                    yield ref


def run_of(linker: Linker, ref: FunctionRef) -> Call:
    """The call by which a framework runs a dependency: what that is given stands for itself."""
    function = linker.program.function(ref.id)
    names = tuple(declared.name for declared in function.params if declared.kind not in ("*", "**"))
    return Call(ref, names, tuple(Param(ref.id, name) for name in names), function.place)


def behind(linker: Linker, param: Param) -> FunctionRef | None:
    """The one function whose result a parameter is given."""
    function = linker.program.function(param.function)
    for declared in function.params:
        if declared.name == param.name:
            found = list(_behind(linker, function, declared))
            return found[0] if len(found) == 1 else None
    return None


def _behind(linker: Linker, function: Function, declared: facts.Param) -> Iterator[FunctionRef]:
    """The functions that a parameter's default or annotation names as its source."""
    reader = Reader(linker.evaluator, function.module.body, function.cls)
    given: list[Value] = [reader.read(declared.default)] if declared.default is not None else []
    if declared.annotation is not None:
        given += walk(linker.evaluator.resolve(reader.annotation(declared.annotation)))
    for value in given:
        found: tuple[tuple[object, v.Invoke], ...] = ()
        if isinstance(value, Call):
            found = linker.evaluator.lookup(linker.packs.invokes, value.func)
        for _, entry in found:
            if entry.injects:
                assert isinstance(value, Call)
                for inner in arguments.given(linker.evaluator, value, entry.function):
                    yield from (ref for ref, *_ in linker.callables(inner))
