"""Which files mention which words, and what they import: known without parsing anything.

A word is a run of letters, digits, underscores and non-ASCII characters, wherever it stands: code,
string or comment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from sendonce.discovery import Role, SourceFile, Sources
from sendonce.findings import Problem

_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | frozenset(range(128, 256))
_SPACES = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))
"""`translate` with this and `split` find the words several times faster than a regular expression."""

_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(?:"
    rb"from[ \t]+(?P<module>\.*[ \t]*[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|(?:[^\n;#\\]|\\\r?\n)+)"
    rb"|import[ \t]+(?P<plain>(?:[^\n;#\\]|\\\r?\n)+))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")

APPLICATION: tuple[Role, ...] = ("application",)
ALL_ROLES: tuple[Role, ...] = ("application", "test", "migration", "vendored")

Words = tuple[tuple[SourceFile, set[bytes]], ...]

_DEFINED = re.compile(rb"\b(?:class|def)\s+([\w\x80-\xff]+)")
_INHERITED = re.compile(
    rb"(?:\bclass\s+(?=[\w\x80-\xff])|^[ \t]*(?P<at>@))(?P<header>[^:]*)"
    rb"|(?P<renamed>[\w\x80-\xff]+)\s+as\s+(?P<alias>[\w\x80-\xff]+)"
    rb"|(?:(?P<new>[\w\x80-\xff]+)[ \t]*)?=[\w\x80-\xff. \t]*?(?P<assigned>[\w\x80-\xff]+)[ \t]*$",
    re.MULTILINE,
)
_BOUND = re.compile(rb"^[ \t]+([\w\x80-\xff]+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)


@dataclass(frozen=True)
class Below:
    """The classes below one, as far as text tells."""

    bound: frozenset[bytes]
    """Names that some of them may bind."""
    several: bool
    """Whether one may have several bases."""

    def binds(self, name: str) -> bool:
        """Whether one of the classes may bind a name in its body."""
        return name.encode("utf-8", "surrogateescape") in self.bound


@dataclass(frozen=True)
class _Header:
    """A class's name, the words of its header and decorators, and whether there may be several bases."""

    name: bytes
    words: frozenset[bytes]
    several: bool


@dataclass(frozen=True)
class _Headers:
    """The words of one file by what they are there for, as far as text tells."""

    defined: frozenset[bytes]
    """Names of its classes and functions."""
    inherited: frozenset[bytes]
    """Words in headers and decorators of classes, words that get another name."""
    classes: tuple[_Header, ...]
    """Its classes; a new name for another counts as a class below it."""
    bound: frozenset[bytes]
    """Names that its classes may bind in their bodies: of functions, and what stands before `=` in indented lines."""


def _headers(content: bytes) -> _Headers:
    inherited: set[bytes] = set()
    classes: list[_Header] = []
    for match in _INHERITED.finditer(content):
        header = match["header"]
        if header is None:
            old = match["renamed"] or match["assigned"]
            inherited.add(old)
            classes.append(_Header(match["alias"] or match["new"] or b"", frozenset((old,)), False))
            continue
        words = header.translate(_SPACES).split()
        inherited.update(words)
        if match["at"] is None:
            classes.append(_Header(words[0], frozenset(words[1:]), b"," in header))
        elif b"class" in words[:-1]:
            name = words[words.index(b"class") + 1]
            classes.append(_Header(name, frozenset(words), b"," in header))
    defined = frozenset(_DEFINED.findall(content))
    return _Headers(defined, frozenset(inherited), tuple(classes), defined.union(_BOUND.findall(content)))


@dataclass(frozen=True)
class Imported:
    """What the import statements of a file may bind, for the question whether something is among it."""

    names: frozenset[str]
    packages: frozenset[str]
    """The names and everything above them."""
    last: frozenset[str]
    """The last part of each name."""

    def touches(self, module: str) -> bool:
        """Whether a module, something above it or something in it is imported."""
        return module in self.packages or not self.names.isdisjoint(_prefixes(module))

    def ends_in(self, *words: str) -> bool:
        """Whether a name with one of these last parts is imported."""
        return not self.last.isdisjoint(words)


def _prefixes(dotted: str) -> Iterator[str]:
    """A dotted name and all names above it."""
    while dotted:
        yield dotted
        dotted = dotted.rpartition(".")[0]


class WordIndex:
    """The words of the files of `sources`; answers are sorted by path.

    The files of a role are read when that role is first asked for, each once. A file that cannot
    be read counts as empty and is named in `problems`.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.lines = 0
        """Lines of the files read so far."""
        self._words: dict[Role, Words] = {}
        self._shared: dict[bytes, bytes] = {}
        self._holders: dict[tuple[str, Role], frozenset[SourceFile]] = {}
        self._answers: dict[tuple[tuple[str, ...], tuple[Role, ...]], tuple[SourceFile, ...]] = {}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._imported: dict[str, Imported] = {}
        self._headers: dict[str, _Headers] = {}
        self._below: dict[str, Below] = {}
        self._relating: dict[tuple[str, str], bool] = {}
        self._unread: dict[str, Problem] = {}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The files that could not be read, as far as they were asked for."""
        return tuple(sorted(self._unread.values()))

    def files_with(self, *words: str, roles: Collection[Role] = APPLICATION) -> tuple[SourceFile, ...]:
        """The files of these roles in which every one of `words` stands."""
        key = (tuple(sorted(set(words))), tuple(sorted(roles)))
        answer = self._answers.get(key)
        if answer is None:
            found = (file for role in key[1] for file in self._with_all(key[0], role))
            answer = self._answers[key] = tuple(sorted(found))
        return answer

    def defining(self, name: str, roles: Collection[Role] = APPLICATION) -> tuple[SourceFile, ...]:
        """The files of these roles in which a class or function of this name is defined, as far as text tells."""
        word = name.encode("utf-8", "surrogateescape")
        return tuple(file for file in self.files_with(name, roles=roles) if word in self._headers_of(file).defined)

    def inheriting(self, name: str) -> tuple[SourceFile, ...]:
        """The application files in which a class may inherit from one of this name, or give it another name."""
        word = name.encode("utf-8", "surrogateescape")
        return tuple(file for file in self.files_with(name) if word in self._headers_of(file).inherited)

    def below(self, name: str) -> Below:
        """The classes that may inherit from one of this name, directly or not, as far as text tells."""
        found = self._below.get(name)
        if found is None:
            found = self._below[name] = self._found_below(name.encode("utf-8", "surrogateescape"))
        return found

    def _found_below(self, name: bytes) -> Below:
        todo, seen = [name], {name}
        files: dict[str, SourceFile] = {}
        several = False
        while todo:
            word = todo.pop()
            for file in self.files_with(word.decode("utf-8", "surrogateescape")):
                for below in self._headers_of(file).classes:
                    if word in below.words:
                        files[file.path] = file
                        several = several or below.several
                        if below.name not in seen:
                            seen.add(below.name)
                            todo.append(below.name)
        bound = frozenset[bytes]().union(*(self._headers_of(file).bound for file in files.values()))
        return Below(bound, several)

    def may_relate(self, file: SourceFile, name: str, stem: str) -> bool:
        """Whether a file may name the other side of a relation: in quotes, or by a class called like it (any case)."""
        key = (file.path, name)
        if key not in self._relating:
            word, end = re.escape(name.encode("utf-8", "surrogateescape")), re.escape(stem.encode())
            pattern = rb"""(?P<q>["'])%b(?P=q)|\bclass\s+(?i:%b)\b""" % (word, end)
            self._relating[key] = re.search(pattern, self._content(file)) is not None
        return self._relating[key]

    def _headers_of(self, file: SourceFile) -> _Headers:
        found = self._headers.get(file.path)
        if found is None:
            found = self._headers[file.path] = _headers(self._content(file))
        return found

    def words_with(self, *parts: str) -> tuple[str, ...]:
        """The words of the files read so far that contain one of these texts (in lower case), whatever their case."""
        words = b" ".join(self._shared) + b" "
        lower = words.lower()
        found: set[bytes] = set()
        for part in (part.encode("utf-8", "surrogateescape") for part in parts):
            at = lower.find(part)
            while at >= 0:
                end = lower.index(b" ", at)
                found.add(words[lower.rfind(b" ", 0, at) + 1 : end])
                at = lower.find(part, end)
        return tuple(sorted(word.decode("utf-8", "replace") for word in found))

    def has(self, file: SourceFile, word: str) -> bool:
        """Whether a word stands in a file."""
        return file in self._holding(word, file.role)

    def imports(self, file: SourceFile) -> tuple[str, ...]:
        """Dotted names that the import statements of a file may bind, sorted; relative ones made absolute.

        `from a import b` gives `a` and `a.b`, as `b` may be a module. Found by pattern, so text in strings counts too.
        """
        found = self._imports.get(file.path)
        if found is None:
            found = self._imports[file.path] = tuple(sorted(set(imported_names(self._content(file), file))))
        return found

    def imported(self, file: SourceFile) -> Imported:
        """As `imports`, for questions about single names."""
        found = self._imported.get(file.path)
        if found is None:
            names = self.imports(file)
            above = frozenset(one for name in names for one in _prefixes(name))
            last = frozenset(name.rpartition(".")[2] for name in names)
            found = self._imported[file.path] = Imported(frozenset(names), above, last)
        return found

    def _with_all(self, words: tuple[str, ...], role: Role) -> Iterable[SourceFile]:
        if not words:
            return (file for file, _ in self._of_role(role))
        first, *others = sorted((self._holding(word, role) for word in words), key=len)
        return first.intersection(*others)

    def _holding(self, word: str, role: Role) -> frozenset[SourceFile]:
        """The files of a role that hold a word; remembered, as the same words are asked for again and again."""
        holders = self._holders.get((word, role))
        if holders is None:
            sought = word.encode("utf-8", "surrogateescape")
            holders = frozenset([file for file, words in self._of_role(role) if sought in words])
            self._holders[word, role] = holders
        return holders

    def _of_role(self, role: Role) -> Words:
        """The word set of each file of a role."""
        words = self._words.get(role)
        if words is None:
            of_role = (file for file in self.sources.files if file.role == role)
            words = self._words[role] = tuple([(file, self._words_of(file)) for file in of_role])
        return words

    def _words_of(self, file: SourceFile) -> set[bytes]:
        content = self._content(file)
        self.lines += content.count(b"\n")
        own = set(content.translate(_SPACES).split())
        share = self._shared.setdefault  # one object for each word of the tree: a fraction of the memory
        return set(map(share, own, own))

    def _content(self, file: SourceFile) -> bytes:
        try:
            return self.sources.read(file)
        except OSError as error:
            self._unread[file.path] = Problem(file.path, 0, f"cannot be read: {error.strerror}")
            return b""


def imported_names(content: bytes, file: SourceFile) -> Iterator[str]:
    """The dotted names that the imports in `content` may bind, as seen from `file`; may repeat."""
    for match in _IMPORT.finditer(content):
        if match["plain"]:
            yield from _names(match["plain"])
            continue
        module = _absolute(_text(match["module"]), file)
        if module is None:
            continue
        if module:
            yield module
        yield from (f"{module}.{name}" if module else name for name in _names(match["names"]))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace(" ", "").replace("\t", "")


def _names(raw: bytes) -> list[str]:
    """The names of an import list, without their `as` parts."""
    text = _COMMENT.sub("", raw.decode("utf-8", "replace")).replace("\\\n", " ").strip("() \t\r\n")
    heads = (_DOTTED.match(part.strip()) for part in text.split(","))
    return ["".join(head[0].split()) for head in heads if head]


def _absolute(module: str, file: SourceFile) -> str | None:
    """`..b` of `a.x.c` is `a.b`; None if it climbs above the source root."""
    inner = module.lstrip(".")
    level = len(module) - len(inner)
    if not level:
        return inner
    package = file.module.split(".")
    if not file.path.endswith("__init__.py"):
        package.pop()
    if level - 1 > len(package):
        return None
    kept = package[: len(package) - (level - 1)]
    return ".".join([*kept, inner] if inner else kept)
