"""Loops, branches and slices with JAX's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def _array(x: Any) -> np.ndarray:
    return np.asarray(x)


def test_loops(bg: Any) -> None:
    from browsergpu.jax import lax

    x = bg.asarray([1.0, 2.0, 4.0])
    carry, sums = lax.scan(lambda c, v: (c + v, {"s": c * v}), bg.asarray(1.0), x)
    assert carry.item() == 8
    assert sums["s"].tolist() == [1, 4, 16]
    carry, back = lax.scan(lambda c, v: (c + v, c), 0.0, x, reverse=True)
    assert back.tolist() == [6, 4, 0]
    assert lax.scan(lambda c, _: (c * 2, None), bg.asarray(1.0), None, 5)[0].item() == 32
    assert lax.map(lambda v: v * v, x).tolist() == [1, 4, 16]
    assert lax.fori_loop(0, 4, lambda n, v: v + n, bg.asarray(1)).item() == 7
    assert lax.while_loop(lambda v: v < 100, lambda v: v * 3, bg.asarray(1)).item() == 243
    slope = bg.grad(lambda v: lax.scan(lambda c, w: (c * w, None), 1.0, v)[0])(x)
    assert slope.tolist() == [8, 4, 2]
    compiled = bg.jit(lambda v: lax.scan(lambda c, w: (c * w, c), 1.0, v)[0])
    assert [compiled(x * n).item() for n in (1.0, 2.0, 3.0)] == [8, 64, 216]
    with pytest.raises(ValueError, match="one number of steps"):
        lax.scan(lambda c, v: (c, v), 0.0, x, length=2)


def test_branches(bg: Any) -> None:
    from browsergpu.jax import lax

    up, down = (lambda v: v + 1), (lambda v: v - 1)
    assert lax.cond(bg.asarray(True), up, down, 5) == 6
    assert lax.cond(False, up, down, 5) == 4
    assert lax.switch(bg.asarray(7), [up, down], 5) == 4
    x = bg.asarray([1.0, -2.0, 3.0])
    assert bg.vmap(lambda v: lax.cond(v > 0, up, down, v))(x).tolist() == [2, -3, 4]
    at = bg.asarray([0, 1, 9])
    assert bg.vmap(lambda n, v: lax.switch(n, [up, down], v))(at, x).tolist() == [2, -3, 2]
    assert lax.select(x > 0, x, -x).tolist() == [1, 2, 3]
    assert bg.grad(lambda v: v * lax.stop_gradient(v))(3.0).item() == 3
    np.testing.assert_allclose(_array(lax.rsqrt(bg.asarray([4.0, 16.0]))), [0.5, 0.25], rtol=1e-6)


def test_slices(bg: Any) -> None:
    from browsergpu.jax import lax

    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = bg.asarray(host)
    for start in ((1, 2), (bg.asarray(1), bg.asarray(2)), (9, 9), (bg.asarray(9), -5)):
        rows, columns = (min(max(int(n), 0), most) for n, most in zip(start, (1, 2), strict=True))
        found = lax.dynamic_slice(x, start, (2, 2))
        np.testing.assert_array_equal(_array(found), host[rows : rows + 2, columns : columns + 2])
    expected = host.copy()
    expected[1:3, 2:4] = -1
    found = lax.dynamic_update_slice(x, bg.full((2, 2), -1.0), (bg.asarray(5), 2))
    np.testing.assert_array_equal(_array(found), expected)
    np.testing.assert_array_equal(_array(x), host)
    row = lax.dynamic_index_in_dim(x, bg.asarray(2), keepdims=False)
    assert row.tolist() == host[2].tolist()
    several = bg.vmap(lambda n: lax.dynamic_slice(x[0], (n,), (2,)))(bg.asarray([0, 2, 9]))
    assert several.tolist() == [[0, 1], [2, 3], [2, 3]]
    with pytest.raises(ValueError, match="at most 3"):
        lax.dynamic_slice(x, (0, 0), (4, 1))
