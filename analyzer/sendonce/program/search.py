"""Where provider sends may stand: the names that point to them, the files that mention those names.

Everything here is a filter: a function that names nothing of a library's sending side, and nothing
of the project that carries such an object, is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from sendonce import facts
from sendonce.discovery import Role, SourceFile
from sendonce.packs import Packs
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.posts import Posts
from sendonce.program.symbols import Binding, Class, Function, Module, own_nodes, words_of
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Element,
    External,
    FunctionRef,
    Param,
    Seq,
    Some,
    Updated,
    Value,
    options,
    walk,
)

MANY = 40
"""A name that stands in more files than this needs its home beside it."""


@dataclass(frozen=True)
class Carrier:
    """A name of the project by which an object that sends can be had: a variable, a function, a class.

    `home` is its module, `owner` the class whose attribute or method it is.
    """

    name: str
    home: str
    owner: str = ""


class Names:
    """The names by which packs know what sends."""

    def __init__(self, packs: Packs) -> None:
        self.packs = packs

    @cached_property
    def methods(self) -> frozenset[str]:
        """The last names of all calls that send or post."""
        return frozenset(map(_last, (*self.packs.sends, *self.packs.http_clients)))

    @cached_property
    def _senders(self) -> frozenset[str]:
        """Shapes of objects on the way to a sending method (`smtplib.SMTP()`), rows of a database left out."""
        return frozenset(head for shape in self.packs.sends for head in _heads(shape) if not self._is_row(head))

    def _is_row(self, shape: str) -> bool:
        owner = shape.partition("()")[0]
        return any(one.endswith("Model") for one in (owner, *self.packs.bases(owner)))

    @cached_property
    def _makers(self) -> tuple[str, ...]:
        """Shapes of calls and attributes that give an object with a sending method."""
        packs = self.packs
        return tuple(
            shape
            for table in (packs.returns, packs.returned_attributes)
            for shape, pairs in table.items()
            if any(entry.type and self._is_in(f"{packs.canonical(entry.type)}()", self._senders) for _, entry in pairs)
        )

    @cached_property
    def _carrying(self) -> frozenset[str]:
        """Shapes of objects with a method that sends, or that gives an object which sends."""
        heads = {head for shape in self._makers for head in _heads(shape) if not self._is_row(head)}
        return self._senders | heads

    def sends(self, shape: str) -> bool:
        """Whether an object of this shape has such a method, its own or inherited."""
        return self._is_in(shape, self._carrying)

    def _is_in(self, shape: str, known: frozenset[str]) -> bool:
        owner = shape.removesuffix("()")
        return shape in known or (owner != shape and any(f"{base}()" in known for base in self.packs.bases(owner)))

    @cached_property
    def givers(self) -> dict[str, frozenset[str]]:
        """Names of library classes that send and of calls that give one, with the import roots of each."""
        aliases = (name for pack in self.packs.packs for name in (*pack.bases, *pack.alias))
        shapes = [name for name in aliases if self.sends(f"{self.packs.canonical(name)}()")]
        shapes += [*self._makers, *(shape.removesuffix("()") for shape in self._carrying)]
        found: dict[str, set[str]] = {}
        for shape in shapes:
            found.setdefault(_last(shape), set()).update(self._roots(shape))
        return {name: frozenset(roots) for name, roots in found.items()}

    def _roots(self, shape: str) -> Iterator[str]:
        """The import roots of the pack that a shape comes from."""
        root = shape.partition(".")[0].removesuffix("()")
        yield root
        for name, target in self.packs.alias.items():
            if target.partition(".")[0] == root:
                yield name.partition(".")[0]

    def makers(self, roots: frozenset[str], has: Callable[[str], bool]) -> frozenset[str]:
        """The names by which a file with these import roots, which `has` words, may get something that sends."""
        words = self.packs.words
        named = (name for name, homes in self.givers.items() if name in words or homes & roots)
        return frozenset([*named, *(name for name, word in self._told if has(word))])

    def homes(self, word: str) -> frozenset[str]:
        """The import roots of the libraries with a class or sending call of this name."""
        return self.givers.get(word, frozenset()) | self._called.get(word, frozenset())

    @cached_property
    def _called(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for shape in self.packs.sends:
            found.setdefault(_last(shape), set()).update(self._roots(shape))
        return {name: frozenset(roots) for name, roots in found.items()}

    @cached_property
    def _told(self) -> frozenset[tuple[str, str]]:
        """Names of calls that give what sends for one constant argument, with that: `("client", "ses")`."""
        pairs = ((shape, entry) for shape in self._makers for _, entry in self.packs.returns.get(shape, ()))
        return frozenset(
            (_last(shape), word)
            for shape, entry in pairs
            for word in entry.when.values()
            if isinstance(word, str) and word.isidentifier()
        )

    @cached_property
    def roots(self) -> frozenset[str]:
        """Words of the index that are import roots: they count only where they are imported."""
        return frozenset(shape.partition(".")[0] for shape in self.packs.sends) & self.packs.words


class Search:
    """Finds the modules and functions to look at, and the project's own carriers in them."""

    def __init__(self, evaluator: Evaluator, flows: Flows, posts: Posts) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.index = evaluator.program.index
        self.flows = flows
        self.posts = posts
        self.names = Names(evaluator.packs)
        self.carriers: set[Carrier] = set()
        self._own: set[str] = set()
        self._makers: dict[str, frozenset[str]] = {}
        self._renamed: dict[str, dict[str, str]] = {}

    # ------------------------------------------------------------------ files

    def first_files(self) -> list[SourceFile]:
        """The application files that mention a library's sending side or a provider's host, by path."""
        found: set[SourceFile] = set()
        for word in self._words():
            files = self.index.files_with(word)
            found.update(files if word not in self.names.roots else filter(partial(self._imports, word), files))
        for word, roots in self.names.givers.items():
            for root in roots if word[0].isupper() else ():
                found.update(filter(partial(self._imports, root), self.index.files_with(word, root)))
        found.update(self.posts.files())
        return sorted(found)

    def _words(self) -> frozenset[str]:
        return (self.evaluator.packs.words | self._helpers) - (self.posts.host_words - self.names.roots)

    @cached_property
    def _helpers(self) -> frozenset[str]:
        """The names of the tree's own functions and methods that the user's packs call sends."""
        packs = self.evaluator.packs
        shapes = (shape for shape in packs.sends if shape in packs.declared)
        return frozenset(_last(shape) for shape in shapes if any(map(self.program.sources.by_module, _homes(shape))))

    def files_of_role(self, role: Role) -> list[SourceFile]:
        """The files of tests, migrations or vendored code that import a library and call what sends, by path."""
        found: set[SourceFile] = set()
        for word in self._words():
            roots = self.names.homes(word)
            call = re.compile(rb"\b" + word.encode() + rb"\s*\(")
            for file in self.index.files_with(word, roles=(role,)):
                imported = (name.partition(".")[0] for name in self.index.imports(file))
                if not roots.isdisjoint(imported) and call.search(self.program.sources.read(file)):
                    found.add(file)
        return sorted(found)

    def _imports(self, root: str, file: SourceFile) -> bool:
        return any(name.partition(".")[0] == root for name in self.index.imports(file))

    def files_of(self, carrier: Carrier) -> Iterable[SourceFile]:
        """The files that may use a carrier."""
        files = self.index.files_with(carrier.name)
        if len(files) <= MANY:
            return files
        if carrier.owner:
            return self.index.files_with(carrier.name, carrier.owner)
        return self._importers(carrier, files)

    def _importers(self, carrier: Carrier, files: tuple[SourceFile, ...]) -> Iterator[SourceFile]:
        """Those of `files` that import the name from its home, or from a module that does."""
        homes = [carrier.home]
        rest = list(files)
        for home in homes:
            wanted = {home, f"{home}.{carrier.name}"}
            kept = [file for file in rest if file.module == home or not wanted.isdisjoint(self.index.imports(file))]
            yield from kept
            homes.extend(file.module for file in kept if file.module not in homes)
            rest = [file for file in rest if file not in kept]

    # ------------------------------------------------------------------ functions

    def carries(self, module: Module, words: Iterable[str]) -> bool:
        """Whether one of these words of a module names something that sends, of a library or of the project."""
        if module.path not in self._makers:
            roots = frozenset(name.partition(".")[0] for name in self.index.imports(module.file))
            self._makers[module.path] = self.names.makers(roots, partial(self.index.has, module.file))
        words = self._meant(module, words)
        return not (words.isdisjoint(self._makers[module.path]) and words.isdisjoint(self._own))

    def _meant(self, module: Module, words: Iterable[str]) -> frozenset[str]:
        """Words of a module with the names that imports gave another name here."""
        if module.path not in self._renamed:
            self._renamed[module.path] = {
                name: bindings[-1].imported.rpartition(".")[2]
                for name, bindings in module.scope.items()
                if isinstance(bindings[-1].node, facts.Import | facts.ImportFrom) and bindings[-1].imported
            }
        renamed = self._renamed[module.path]
        words = frozenset(words)
        return words | {renamed[word] for word in words & renamed.keys()}

    def may_matter(self, function: Function) -> bool:
        """Whether a function mentions a sending method or something that carries a sender."""
        words = self._meant(function.module, function.words)
        return not words.isdisjoint(self.names.methods) or self.carries(function.module, words)

    def may_send(self, func: Value) -> bool:
        """Whether calling this value can be a send or a post, as far as its name says."""
        match func:
            case Attr(name=name):
                return name in self.names.methods
            case External(dotted=dotted):
                return _last(dotted) in self.names.methods
            case FunctionRef() | Param():
                return False
            case ClassRef(id=id):
                return _last(id) in self._own
            case _:
                return True

    def mentions_sender(self, module: Module, value: Value, given: Collection[Param]) -> bool:
        """Whether a value (unresolved) of a module is made from something that carries a sender."""
        for part in walk(value):
            match part:
                case External(dotted=name) | FunctionRef(id=name) | ClassRef(id=name) | Attr(name=name):
                    if self.carries(module, (_last(name),)):
                        return True
                case Param() if part in given:
                    return True
                case _:
                    pass
        return False

    # ------------------------------------------------------------------ carriers

    def new_carriers(self, module: Module) -> Iterator[Carrier]:
        """The carriers of a module that were not known before; their names count from now on."""
        for carrier in self._carriers(module):
            if carrier not in self.carriers:
                self.carriers.add(carrier)
                self._own.add(carrier.name)
                yield carrier

    def _carriers(self, module: Module) -> Iterator[Carrier]:
        home = module.file.module
        yield from (Carrier(name, home) for name in self._variables(module, None))
        for cls in module.classes.values():
            yield from (Carrier(name, home, cls.name) for name in self._variables(module, cls))
            kept = list(self._kept(cls))
            if kept or self._is_sender(cls):
                yield Carrier(cls.name, home)
            yield from (Carrier(name, home, cls.name) for name in kept)
        for function in module.functions.values():
            if isinstance(function.node, facts.Def) and function.parent is None and self._gives(function):
                yield Carrier(function.name, home, function.cls.name if function.cls is not None else "")

    def _variables(self, module: Module, cls: Class | None) -> Iterator[str]:
        """Names of a module or class that are bound to something that sends, or to a provider's address."""
        for name, bindings in (module.scope if cls is None else cls.scope).items():
            for binding in bindings:
                if isinstance(binding.node, facts.Def | facts.Class | facts.Import | facts.ImportFrom):
                    continue
                words = frozenset(_words(binding.node))
                if self.posts.mentions_host(binding.node) or self._binds_sender(module, cls, binding, words):
                    yield name

    def _binds_sender(self, module: Module, cls: Class | None, binding: Binding, words: frozenset[str]) -> bool:
        """Whether a variable is bound to something that sends: an object, or a sending call under another name."""
        carries = self.carries(module, words)
        if not carries and words.isdisjoint(self.names.methods):
            return False
        value = self.evaluator.binding_value(module, cls, binding)
        if carries and self.can_send(value):
            return True
        called = self.evaluator.direct(Call(value, (), (), (module.path, *binding.node.at[:2])))
        return bool(self.evaluator.lookup(self.evaluator.packs.sends, called.func))

    def _is_sender(self, cls: Class) -> bool:
        if not self.carries(cls.module, (word for base in cls.node.bases for word in _words(base.value))):
            return False
        return any(self.names.sends(f"{base}()") for base in self.evaluator.hierarchy.external_bases(cls.id))

    def _kept(self, cls: Class) -> Iterator[str]:
        """Attributes in which a class keeps something that sends."""
        for method in cls.methods.values():
            if method.is_method and self.carries(cls.module, method.words):
                for name in sorted(self.evaluator.hierarchy.assigned(method)):
                    if any(self.can_send(value) for value in self.flows.of(method).written(name)):
                        yield name

    def _gives(self, function: Function) -> bool:
        """Whether a function returns or yields something that sends, or does for some of its arguments."""
        if not self.carries(function.module, function.words):
            return False
        returned = self.flows.of(function).returned
        return self.can_send(returned) or any(map(self._may_give, options(self.evaluator.resolve(returned))))

    def _may_give(self, value: Value) -> bool:
        """Whether a call gives something that sends if parameters say so: `boto3.client(name)`."""
        return isinstance(value, Call) and any(
            entry.type
            and entry.when
            and self.names.sends(f"{self.evaluator.packs.canonical(entry.type)}()")
            and arguments.is_left_open(self.evaluator, value, entry.when)
            for _, entry in self.evaluator.lookup(self.evaluator.packs.returns, value.func)
        )

    def can_send(self, value: Value) -> bool:
        """Whether a value, or an item of it, is a message, connection or client with a sending method."""
        return any(True for _ in self.sending(value))

    def sending(self, value: Value) -> Iterator[Value]:
        """What of a value can send, reduced to its class where that is known."""
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, Seq):
                yield from (Seq("each", (one,)) for item in option.items for one in self.sending(item))
            elif self.posts.is_client(option):
                yield option
            elif any(map(self.names.sends, self.evaluator.shapes(option))):
                types = [cls for cls in self.evaluator.types(option) if isinstance(cls, ClassRef | External)]
                yield from (Some(cls) for cls in types) if types else (option,)
            elif isinstance(option, Updated):
                yield from self.sending(option.base)
            elif isinstance(option, Call) and isinstance(self.evaluator.resolve(option.func), FunctionRef | External):
                item = self.evaluator.resolve(Element(option))
                if not isinstance(item, Element):
                    yield from (Seq("each", (one,)) for one in self.sending(item))


def _heads(shape: str) -> Iterator[str]:
    """The objects on the way to the method that a shape ends in: `a.B()` and `a.B().c()` of `a.B().c().d`."""
    return (shape[: match.end()] for match in re.finditer(r"\(\)(?=\.)", shape))


def _homes(shape: str) -> Iterator[str]:
    """The modules in which what a shape names may be defined."""
    parts = shape.partition("(")[0].split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts)))


def _last(dotted: str) -> str:
    """The last name of a dotted name or shape."""
    found: list[str] = re.findall(r"\w+", dotted.partition("#")[0])
    return found[-1]


def _words(node: facts.Node) -> Iterator[str]:
    return (word for inner in own_nodes(node) for word in words_of(inner))
