"""All network and image functions have gradients, except the listed ones."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

WITHOUT = {"nn.one_hot", "image.sobel", "image.threshold"}


def test_all_functions_declare_their_gradients(bg: Any) -> None:
    from browsergpu.arrays.autograd.rules import RULES

    for space in ("nn", "image"):
        names = getattr(bg, space)
        for name in names.__all__:
            function = getattr(names, name)
            if not isinstance(function, FunctionType):  # skip layers
                continue
            found = RULES[f"{function.__module__}.{function.__qualname__}"]
            assert bool(found) is (f"{space}.{name}" not in WITHOUT), name
