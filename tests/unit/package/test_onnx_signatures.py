"""Operators read the parameters of their functions as inspect.signature does."""

from __future__ import annotations

import inspect
from functools import partial, wraps
from typing import Any

import pytest

from browsergpu import onnx
from browsergpu.onnx.registry import _parameters

pytestmark = pytest.mark.fast


def of_inspect(function: Any) -> list[tuple[Any, ...]]:
    parameters = inspect.signature(function).parameters.values()
    return [(one.name, one.kind, one.default) for one in parameters]


def test_all_operators() -> None:
    functions = [one.function for one in onnx.list_operators()]
    assert len(functions) > 150
    for function in functions:
        assert list(_parameters(function)) == of_inspect(function)


def mixed(a: Any, b: Any = 1, *rest: Any, c: Any, d: Any = None, **options: Any) -> Any:
    return a, b, rest, c, d, options


class Called:
    def __call__(self, x: Any, *, factor: float = 2.0) -> Any:
        return x * factor


@wraps(mixed)
def wrapped(*args: Any, **options: Any) -> Any:
    return mixed(*args, **options)


@pytest.mark.parametrize(
    "function", [mixed, wrapped, partial(mixed, b=2), Called(), Called().__call__, lambda x, /: x],
    ids=["function", "wrapped", "partial", "object", "method", "lambda"],
)  # fmt: skip
def test_other_callables(function: Any) -> None:
    if inspect.isfunction(function) and function.__code__.co_posonlyargcount:
        assert [one[0] for one in _parameters(function)] == ["x"]
    else:
        assert list(_parameters(function)) == of_inspect(function)
