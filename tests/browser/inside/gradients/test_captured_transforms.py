"""Jacobians, linearization and vmap in a captured block: a replay equals running it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native
X = np.float32([[0.5, -1.5, 2.0], [1.25, 0.75, -0.5]])


def _wave(bg: Any, x: Any) -> Any:
    return bg.sin(x) * (x * x).sum()


BLOCKS: dict[str, Callable[[Any, Any], Any]] = {
    "hessian": lambda bg, x: bg.hessian(lambda v: _wave(bg, v).sum())(x[0]),
    "jacfwd": lambda bg, x: bg.jacfwd(lambda v: _wave(bg, v))(x[0]),
    "jacrev": lambda bg, x: bg.jacrev(lambda v: _wave(bg, v))(x[0]),
    "linearize": lambda bg, x: bg.linearize(lambda v: _wave(bg, v), x)[1](x + 1),
    "vmap": lambda bg, x: bg.vmap(lambda v: _wave(bg, v))(x),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_replay_computes_from_new_values(bg: Any, name: str) -> None:
    x = bg.asarray(X)
    with bg.capture() as graph:
        found = BLOCKS[name](bg, x)
    first = np.asarray(found).copy()
    x[...] = bg.asarray(X[::-1] * 2)
    graph.replay()
    expected = BLOCKS[name](bg, bg.asarray(X[::-1] * 2))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert not np.allclose(first, found)
    graph.close()
