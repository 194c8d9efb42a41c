"""Comparisons and logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.onnx.operators.elements.elementwise import binary
from browsergpu.onnx.registry import operator

_NAMES = {
    "And": ("logical_and", 7), "Or": ("logical_or", 7), "Xor": ("logical_xor", 7),
    "Equal": ("equal", 7), "Greater": ("greater", 7), "Less": ("less", 7),
    "GreaterOrEqual": ("greater_equal", 12), "LessOrEqual": ("less_equal", 12),
}  # fmt: skip


def _comparison(name: str) -> Callable[..., Any]:
    def function(a: Any, b: Any) -> Any:
        return binary(name, a, b)

    return function


for _name, (_numpys, _since) in _NAMES.items():
    operator(_name, since=_since, folds=True)(_comparison(_numpys))
