"""What names stand for: in functions, at the top of modules, after imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sendonce import facts
from sendonce.program.reader import Reader
from sendonce.program.symbols import Binding, Class, Function, Module
from sendonce.program.values import (
    NONE,
    UNKNOWN,
    ClassRef,
    Const,
    Element,
    External,
    ModuleRef,
    Value,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator


class Names:
    """Answers for one program, memoised by the evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self._once = evaluator.memo.once

    def name(self, function: Function, name: str) -> Value:
        """What a name means in a function that does not bind it: enclosing functions, module, builtins."""
        outer = function.parent
        while outer is not None:
            found = self.evaluator.flow_of(outer).binding(name)
            if found is not None:
                return found
            outer = outer.parent or (self._method_home(outer))
        return self.module_name(function.module, name)

    @staticmethod
    def _method_home(function: Function) -> Function | None:
        return function.cls.parent if function.cls is not None else None

    def module_name(self, module: Module, name: str) -> Value:
        """What a name means at the top of a module, star imports and builtins included."""
        found = self.module_attr(module, name)
        return found if found is not None else External(f"builtins.{name}")

    def module_attr(self, module: Module, name: str) -> Value | None:
        """What `module.name` is; None where the module does not bind it."""
        key = ("module", module.key, name)
        return self._once(key, lambda: self._module_attr(module, name), cast("Value | None", UNKNOWN))

    def _module_attr(self, module: Module, name: str) -> Value | None:
        found = module.scope.get(name)
        if found:
            return self.evaluator.filled.reference(module, name) or self.bound(module, None, found)
        for star in module.stars:
            target = self.imported_module(module, star)
            if isinstance(target, ModuleRef):
                inner = self.program.module_named(target.name, module)
                if inner is not None and inner is not module and not name.startswith("_"):
                    value = self.module_attr(inner, name)
                    if value is not None:
                        return value
        if module.is_package and self._is_module(f"{module.file.module}.{name}"):
            return ModuleRef(f"{module.file.module}.{name}")
        return None

    def _is_module(self, dotted: str) -> bool:
        return bool(self.program.sources.by_module(dotted)) or self.program.is_package(dotted)

    def bound(self, module: Module, cls: Class | None, bindings: list[Binding]) -> Value:
        """The value of a name: its last certain binding, joined with the conditional ones after it."""
        last = max((i for i, b in enumerate(bindings) if not b.conditional), default=0)
        values = [self.binding_value(module, cls, binding) for binding in bindings[last:]]
        known = [value for value in values if value is not UNKNOWN and value is not NONE]
        return union(known) if known else (values[-1] if values else UNKNOWN)

    def binding_value(self, module: Module, cls: Class | None, binding: Binding) -> Value:
        """The value that one binding of a module or class gives."""
        key = ("binding", module.key, binding)
        return self._once(key, lambda: self._binding_value(module, cls, binding), UNKNOWN)

    def _binding_value(self, module: Module, cls: Class | None, binding: Binding) -> Value:
        match binding.node:
            case facts.Def():
                function = self.program.function(binding.imported)
                if cls is None and function.dotted in self.packs.declared:
                    return External(function.dotted)
                return self.evaluator.decorated(function)
            case facts.Class():
                return ClassRef(binding.imported)
            case facts.Import(name=name):
                dotted = binding.imported or name.partition(".")[0]
                return self._module_value(dotted, module)
            case facts.ImportFrom():
                return self.imported_name(module, binding.node, binding.imported)
            case facts.Ellipsis_() if binding.annotation is not None:
                return self.evaluator.annotations.read(binding.annotation, module, cls)
            case _:
                return self.at_path(Reader(self.evaluator, module.body, cls, binding).read(binding.node), binding.path)

    def at_path(self, value: Value, path: tuple[int | str, ...]) -> Value:
        """The part of a value that an unpacking target gets."""
        for step in path:
            if step == "*":
                value = Element(value)
            elif step == "with":
                value = Element(value, True)
            elif isinstance(step, int):
                value = self.evaluator.item(value, Const(step))
            else:
                value = UNKNOWN
        return value

    def imported_module(self, module: Module, node: facts.ImportFrom) -> Value:
        """The module that a `from … import` names."""
        if node.level == 0:
            return self._module_value(node.module, module)
        parts = module.package.split(".") if module.package else []
        kept = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
        return self._module_value(".".join([*kept, *([node.module] if node.module else [])]), module)

    def _module_value(self, dotted: str, near: Module) -> Value:
        if self._is_module(dotted):
            return ModuleRef(dotted)
        return External(self.packs.canonical(dotted))

    def imported_name(self, module: Module, node: facts.ImportFrom, name: str) -> Value:
        """The value that `from … import name` binds; a submodule where the module has no such name."""
        home = self.imported_module(module, node)
        if home == External("") and self._is_module(name):  # `from . import name` beside a module that is in no package
            return ModuleRef(name)
        if isinstance(home, External):
            return External(self.packs.canonical(f"{home.dotted}.{name}"))
        assert isinstance(home, ModuleRef)
        return self.member(home, name, module)

    def member(self, home: ModuleRef, name: str, near: Module | None = None) -> Value:
        inner = self.program.module_named(home.name, near)
        if inner is not None and inner is not near:
            found = self.module_attr(inner, name)
            if found is not None:
                return found
        if self._is_module(f"{home.name}.{name}"):
            return ModuleRef(f"{home.name}.{name}")
        if inner is None and not self.program.is_package(home.name):
            return External(self.packs.canonical(f"{home.name}.{name}"))
        return UNKNOWN
