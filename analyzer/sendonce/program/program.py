"""The analysed tree as modules that are parsed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from sendonce import facts
from sendonce.discovery import SourceFile, Sources
from sendonce.index import WordIndex
from sendonce.packs import Packs
from sendonce.program.cuts import Cuts
from sendonce.program.symbols import Class, Function, Module, build_module

ReadFacts = Callable[[SourceFile], "facts.ModuleFacts | None"]


class Program:
    """Modules, classes and functions by name; parses a file on first use.

    `read_facts` gives a file's facts, or None for a file that cannot be parsed (which it has
    reported). Two files of one dotted name (in two source roots) are kept apart: the key of the
    second carries its root.
    """

    def __init__(self, sources: Sources, index: WordIndex, packs: Packs, read_facts: ReadFacts) -> None:
        self.sources = sources
        self.index = index
        self.packs = packs
        self.cuts = Cuts()
        self._read_facts = read_facts
        self._modules: dict[str, Module | None] = {}
        self._in_turn: list[Module] = []
        self._functions: dict[str, Function] = {}
        self._classes: dict[str, Class] = {}

    # -------------------------------------------------------------- modules

    @cached_property
    def _packages(self) -> frozenset[str]:
        """Every dotted prefix of a module's name: packages with or without an `__init__`."""
        found: set[str] = set()
        for file in self.sources.files:
            name = file.module
            while (name := name.rpartition(".")[0]) and name not in found:
                found.add(name)
        return frozenset(found)

    def is_package(self, dotted: str) -> bool:
        """Whether some module of the tree lies below this dotted name."""
        return dotted in self._packages

    def unparsed(self) -> tuple[SourceFile, ...]:
        """The application files that nobody has asked for yet."""
        rest = (file for file in self.sources.files if file.path not in self._modules)
        return tuple(file for file in rest if file.role == "application")

    def module_of(self, file: SourceFile) -> Module | None:
        """The symbols of a file; None if it cannot be parsed."""
        if file.path not in self._modules:
            found = self._read_facts(file)
            module = self._modules[file.path] = None if found is None else self._build(file, found)
            self._in_turn.extend(() if module is None else (module,))
        return self._modules[file.path]

    def _build(self, file: SourceFile, module_facts: facts.ModuleFacts) -> Module:
        same_name = self.sources.by_module(file.module)
        key = file.module if same_name[0].path == file.path else f"{file.module}@{file.root}"
        module = build_module(key, file, module_facts, self.index.has(file, "lambda"))
        self._functions.update(module.functions)
        self._classes.update(module.classes)
        return module

    def module_named(self, dotted: str, near: Module | None = None) -> Module | None:
        """The module with this dotted name; with several roots, the one in the root of `near`."""
        files = self.sources.by_module(dotted)
        if not files:
            return None
        if near is not None:
            files = tuple(sorted(files, key=lambda file: file.root != near.file.root))
        return self.module_of(files[0])

    def parsed(self) -> Iterator[Module]:
        """The modules parsed so far, by path."""
        for _, module in sorted(self._modules.items()):
            if module is not None:
                yield module

    def parsed_after(self, number: int) -> list[Module]:
        """The modules parsed after the first ones, as many as `number`, in the order in which they were asked for."""
        return self._in_turn[number:]

    # -------------------------------------------------------------- definitions

    def function(self, id: str) -> Function:
        """The function with this id, which must have been given by this program."""
        return self._functions[id]

    def cls(self, id: str) -> Class:
        """The class with this id, which must have been given by this program."""
        return self._classes[id]

    @property
    def class_ids(self) -> Collection[str]:
        """The ids of the classes parsed so far."""
        return self._classes.keys()

    def method(self, mro: Iterable[Class], name: str) -> Function | None:
        """The first definition of a method along a method resolution order."""
        for cls in mro:
            if name in cls.methods:
                return cls.methods[name]
        return None

    def defined(self, name: str) -> Iterator[Function]:
        """The functions and methods of this name in application code, by path."""
        for file in self.index.defining(name):
            module = self.module_of(file)
            for function in module.functions.values() if module is not None else ():
                if function.name == name:
                    yield function

    def mentioning(self, *words: str) -> Iterator[Function]:
        """The functions that mention the first word, in application files that mention all; parsed on the way."""
        for file in self.index.files_with(*words):
            module = self.module_of(file)
            yield from module.mentioning(words[0]) if module is not None else ()
