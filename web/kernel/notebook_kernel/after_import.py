"""Calls functions after the import of modules, so that nothing is imported for them."""

import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class _Finder(MetaPathFinder):
    """Finder for modules that need preparation."""

    def __init__(self) -> None:
        self.prepare: dict[str, Callable[[], None]] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the module's specification, with a loader that also prepares."""
        prepare = self.prepare.get(name)
        spec = PathFinder.find_spec(name, path, target) if prepare else None
        if prepare is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            prepare()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_finder = _Finder()


def call(name: str, prepare: Callable[[], None]) -> None:
    """Call `prepare()` after each execution of the module `name`."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.prepare[name] = prepare
