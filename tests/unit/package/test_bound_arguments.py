"""Arguments of recorded calls, compared with those that ``inspect`` binds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsergpu.arrays.autograd.rules import Rules

pytestmark = pytest.mark.fast


def _positional(x: Any, y: Any, /) -> None: ...
def _mixed(x: Any, /, y: Any, z: Any = 3, *, u: Any = None, v: Any = "v") -> None: ...
def _several(*arrays: Any, axis: Any = 0) -> None: ...
def _named(x: Any, **more: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "name", "args", "options"),
    [
        (_positional, "x", (1, 2), {}),
        (_mixed, "y", (1, 2), {}),
        (_mixed, "y", (1,), {"y": 2}),
        (_mixed, "y", (1, 2, 4), {"v": 0}),
        (_mixed, "y", (1,), {"v": 0, "z": 5, "y": 2, "u": 7}),
        (_several, "arrays", (1, 2, 3), {}),
        (_several, "arrays", (), {"axis": 1}),
        (_named, "x", (1,), {"z": 2, "y": 3}),
    ],
)
def test_arguments_have_the_names_and_defaults_of_the_signature(
    function: Callable[..., None], name: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    rules = Rules(function, function.__name__, {name: lambda g: g}, None)
    expected = rules.signature.bind(*args, **options)
    expected.apply_defaults()
    assert rules.bound(args, options) == expected.arguments
