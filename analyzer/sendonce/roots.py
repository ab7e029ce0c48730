"""Source roots: the folders from which the modules of a tree are imported.

A regular package is imported from its parent. A folder without `__init__.py` may be a root of its
own or a namespace package; marks of a project (`manage.py`, `pyproject.toml`, `src/`) decide, and
where there are none, the import lines of the files inside.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

_PROJECT_MARKS = ("manage.py", "pyproject.toml", "setup.py", "setup.cfg")
_SOURCE_FOLDERS = ("src",)
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import[ \t(]+(\w*)|import[ \t]+([A-Za-z_][\w.]*))", re.MULTILINE
)
_READ_AT_MOST = 100

Read = Callable[[str], bytes]
Has = Callable[[str], bool]


def source_roots(paths: Sequence[str], has: Has, read: Read) -> dict[str, str]:
    """The source root (relative folder, empty for the top) of each path.

    `paths` are the tree's `.py` files; `has` says whether a relative path exists, `read` gives a
    file's bytes (empty if it cannot be read).
    """
    finder = _Finder(frozenset(paths), has, read)
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_folder[_parent(path)].append(path)
    chosen: dict[str, str] = {}
    for group, members in sorted(finder.groups(by_folder).items()):
        chosen[group] = finder.choose(group, [path for folder in members for path in by_folder[folder]], chosen)
    return {path: chosen[finder.group(folder)] for folder, files in by_folder.items() for path in files}


def module_name(path: str, root: str) -> str:
    """The dotted name of a file seen from its source root."""
    inner = path[len(root) + 1 :] if root else path
    parts = inner.removesuffix(".py").split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


class _Finder:
    """Decides for groups of folders: those that share the folder their outermost package stands in."""

    def __init__(self, paths: frozenset[str], has: Has, read: Read) -> None:
        self.paths = paths
        self.has = has
        self.read = read
        self._groups: dict[str, str] = {}
        self._candidates: dict[str, tuple[str, ...]] = {}

    def groups(self, folders: Iterable[str]) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for folder in sorted(folders):
            found[self.group(folder)].append(folder)
        return found

    def group(self, folder: str) -> str:
        """The folder that decides for `folder`: a marked project folder, or where the package chain ends."""
        if folder not in self._groups:
            inside = folder and f"{folder}/__init__.py" in self.paths and not self._marked(folder)
            self._groups[folder] = self.group(_parent(folder)) if inside else folder
        return self._groups[folder]

    def _marked(self, folder: str) -> bool:
        prefix = f"{folder}/" if folder else ""
        return any(self.has(prefix + mark) for mark in _PROJECT_MARKS)

    def _sure(self, folder: str) -> bool:
        """Whether nothing above can be the root of what stands in this folder."""
        if not folder:
            return True
        if f"{folder}/__init__.py" in self.paths:
            return False
        return self._marked(folder) or folder.rpartition("/")[2] in _SOURCE_FOLDERS

    def candidates(self, folder: str) -> tuple[str, ...]:
        """The folders that may be the root, outermost first."""
        if folder not in self._candidates:
            above = () if self._sure(folder) else self.candidates(_parent(folder))
            inside = f"{folder}/__init__.py" in self.paths and not self._marked(folder)
            self._candidates[folder] = above if inside and above else (*above, folder)
        return self._candidates[folder]

    def choose(self, group: str, files: Sequence[str], chosen: Mapping[str, str]) -> str:
        """The candidate under which most imports of `files` lead to files; else what holds for the folder above."""
        candidates = self.candidates(group)
        if len(candidates) == 1:
            return group
        votes = self._votes(candidates, files)
        if votes:
            most = max(votes.values())
            return next(candidate for candidate in candidates if votes[candidate] == most)
        return self._inherited(group, chosen)

    def _votes(self, candidates: Sequence[str], files: Sequence[str]) -> Counter[str]:
        votes: Counter[str] = Counter()
        for path in sorted(files)[:_READ_AT_MOST]:
            for module, name, plain in _IMPORT.findall(self.read(path)):
                parts = (module or plain).decode().split(".")
                leading = (c for c in candidates if self._leads(c, parts, name.decode()))
                votes.update(c for c in leading if not self._is_itself(c, parts, name.decode(), path))
        return votes

    def _leads(self, root: str, parts: Sequence[str], name: str) -> bool:
        """Whether an import names something below `root`.

        A bare folder needs more than its own name: `from locust import …` beside a folder `locust/` means the library.
        """
        top = f"{root}/{parts[0]}" if root else parts[0]
        if f"{top}.py" in self.paths or f"{top}/__init__.py" in self.paths:
            return len(parts) == 1 or self._is_module(f"{top}/{parts[1]}") or f"{top}/__init__.py" in self.paths
        inner = parts[1] if len(parts) > 1 else name
        return bool(inner) and self._is_module(f"{top}/{inner}")

    def _is_module(self, path: str) -> bool:
        return f"{path}.py" in self.paths or self.has(path)

    def _is_itself(self, root: str, parts: Sequence[str], name: str, path: str) -> bool:
        """Whether a file imports a library whose name its own module or package happens to have.

        `from celery import …` in `celery.py` means the library, and so does what a package asks its own name
        for without having it.
        """
        top = f"{root}/{parts[0]}" if root else parts[0]
        if path == "/".join(([root] if root else []) + list(parts)) + ".py":
            return True
        if not path.startswith(f"{top}/"):
            return False
        inner = parts[1] if len(parts) > 1 else name
        return not self._is_module(f"{top}/{inner}") and not self._binds(f"{top}/__init__.py", inner)

    def _binds(self, path: str, name: str) -> bool:
        return re.search(rf"\b{re.escape(name)}\b".encode(), self.read(path)) is not None

    def _inherited(self, group: str, chosen: Mapping[str, str]) -> str:
        above = _parent(group)
        while above and above not in chosen:
            above = _parent(above)
        if above in chosen and above in self.candidates(group):
            return chosen[above]
        return self.candidates(group)[0]
