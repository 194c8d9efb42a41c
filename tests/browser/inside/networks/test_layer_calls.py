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


#: A layer, the shape of its input, and the most calls without gradients and recorded. Natively they
#: make 3 to 10 calls fewer. They made about twice as many when each call looked the arguments up
#: by name and made views of the memory anew.
LAYERS = {
    "Linear": (lambda nn: nn.Linear(16, 16), (8, 16), 55, 62),
    "Conv2d": (lambda nn: nn.Conv2d(4, 4, 3, padding=1), (1, 4, 8, 8), 65, 75),
    "LayerNorm": (lambda nn: nn.LayerNorm(16), (8, 16), 70, 80),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_makes_few_calls(bg: Any, name: str) -> None:
    """Each call in Python takes about as long as a hundred bytecodes, and longer in a page."""
    make, shape, most, most_recorded = LAYERS[name]
    layer, x, variable = make(bg.nn), bg.zeros(shape), bg.zeros(shape).requires_grad_()
    with bg.no_grad():
        assert calls_of(lambda: layer(x)) <= most
    assert calls_of(lambda: layer(variable)) <= most_recorded


def test_a_chain_of_operations_makes_few_calls(bg: Any) -> None:
    """Ten operations and their kernel made 190 calls when each looked its trace up."""
    x, factor = bg.ones(64), bg.ones(64)
    bg.eval(x, factor)

    def chain() -> None:
        found = x
        for _ in range(5):
            found = found * factor + 1.0
        bg.eval(found)

    assert calls_of(chain) <= 140
