"""Text representation of modules, as in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown(name: str, extra: str, modules: Mapping[str, Any]) -> str:
    """Return a module's repr from its name, its extra text, and its submodules."""
    lines = [f"({key}): {_indented(repr(module))}" for key, module in modules.items()]
    if not lines:
        return f"{name}({extra})"
    first = [extra] if extra else []
    return "\n  ".join([f"{name}(", *first, *lines]) + "\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
