"""What has gradients of the networks' and the pictures' functions: all but these."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

WITHOUT = {"one_hot", "sobel", "threshold"}


def test_all_functions_say_what_their_gradients_are(bg: Any) -> None:
    from browsergpu.arrays.autograd.rules import RULES

    for names in (bg.nn, bg.image):
        for name in names.__all__:
            function = getattr(names, name)
            if not isinstance(function, FunctionType):  # a layer
                continue
            found = RULES[f"{function.__module__}.{function.__qualname__}"]
            assert bool(found) is (name not in WITHOUT), name
