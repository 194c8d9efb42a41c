"""The Python calls of a layer, which the time of a small layer consists of."""

from __future__ import annotations

import cProfile
from typing import Any

import pytest

pytestmark = [pytest.mark.native, pytest.mark.fast]


def calls_of(f: Any, times: int = 50) -> float:
    """Return the calls of the package's functions in one call of ``f``."""
    for _ in range(20):  # plans and programs are cached
        f()
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(times):
        f()
    profile.disable()
    found = 0
    for one in profile.getstats():
        file = "" if isinstance(one.code, str) else one.code.co_filename
        found += one.callcount if "browsergpu/" in file else 0
    return found / times


def test_a_convolution_makes_few_calls(bg: Any) -> None:
    """It makes 125 natively. It made 161 when generators searched its options for arrays."""
    x, layer = bg.zeros((1, 4, 8, 8)), bg.nn.Conv2d(4, 4, 3, padding=1)
    with bg.no_grad():
        assert calls_of(lambda: layer(x)) <= 145
