"""Modules as text, as PyTorch shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown(name: str, extra: str, modules: Mapping[str, Any]) -> str:
    """A module's name, what it says of itself, and the modules in it, a line for each."""
    lines = [f"({key}): {_indented(repr(module))}" for key, module in modules.items()]
    if not lines:
        return f"{name}({extra})"
    first = [extra] if extra else []
    return "\n  ".join([f"{name}(", *first, *lines]) + "\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
