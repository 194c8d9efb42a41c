"""Comms: messages between the Jupyter widgets of Python and those of the page.

The package `comm` is loaded when a cell needs it, and then gets this page's comms.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_NAME = "comm"


class _Connector(MetaPathFinder):
    """Finder of the package `comm` that connects it to the page as soon as it is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the package's specification, or None for all others."""
        spec = PathFinder.find_spec(name) if name == _NAME else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            from . import page_comm

            page_comm.connect(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Connect the package `comm` when it is imported."""
    sys.meta_path.insert(0, _Connector())


def receive(comm_id: str, kind: str, data: dict[str, Any], buffers: Sequence[Any]) -> None:
    """Handle a message of the page. Widgets that Python has closed meanwhile get none."""
    manager = sys.modules[_NAME].get_comm_manager()
    found = manager.comms.get(comm_id)
    if found is None:
        return
    content = {"comm_id": comm_id, "data": data}
    message = {"content": content, "metadata": {}, "header": {}, "buffers": list(buffers)}
    if kind == "comm_msg":
        found.handle_msg(message)
    else:
        manager.comm_close(None, None, message)
