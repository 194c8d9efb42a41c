"""Reductions of more elements than one kernel counts, computed in parts.

A software GPU would take minutes for so many elements, so the tests lower the limit.
tests/unit/package/test_large_sizes.py uses the real sizes, without values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

RNG = np.random.default_rng(7)
A = RNG.standard_normal((60, 1)).astype(np.float32)
B = RNG.standard_normal((1, 70)).astype(np.float32)
C = RNG.standard_normal((4, 1, 5, 1)).astype(np.float32)
D = RNG.standard_normal((8, 1, 7)).astype(np.float32)
K = RNG.integers(-9, 9, (13, 17)).astype(np.int32)
J = RNG.integers(-9, 9, (17, 11)).astype(np.int32)
OWN = {"A": A, "B": B, "C": C, "D": D, "K": K, "J": J}  # each has fewer elements than the limit


@pytest.fixture
def ready(bg: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The operands, uploaded under the real limit, which is then lowered.

    No other test has these shapes, because plans are cached.
    """
    from browsergpu.engine.core import grids

    arrays = {name: bg.asarray(x) for name, x in OWN.items()}
    bg.eval(*arrays.values())
    monkeypatch.setattr(grids, "MOST_ELEMENTS", 290)
    yield arrays
    arrays.clear()


#: Calls that take the namespace, NumPy or browsergpu, and the operands.
CASES: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "sum": lambda xp, o: xp.sum(o["A"] * o["B"]),
    "rows": lambda xp, o: xp.sum(o["A"] * o["B"], axis=1),
    "columns": lambda xp, o: xp.sum(o["A"] * o["B"], axis=0, keepdims=True),
    "mean": lambda xp, o: xp.mean(o["A"] * o["B"], axis=0),
    "max": lambda xp, o: xp.max(o["A"] - o["B"], axis=1),
    "min of all": lambda xp, o: xp.min(o["A"] - o["B"]),
    "product": lambda xp, o: xp.prod(1 + o["A"] * o["B"] / 100, axis=0),
    "any": lambda xp, o: xp.any(o["A"] > o["B"], axis=1),
    "all": lambda xp, o: xp.all(o["A"] > o["B"] - 9),
    "count": lambda xp, o: xp.count_nonzero(o["A"] > o["B"], axis=0),
    "four axes, first": lambda xp, o: xp.sum(o["C"] * o["D"], axis=0),
    "four axes, second": lambda xp, o: xp.sum(o["C"] * o["D"], axis=1),
    "four axes, third": lambda xp, o: xp.sum(o["C"] * o["D"], axis=2),
    "four axes, last": lambda xp, o: xp.sum(o["C"] * o["D"], axis=3),
    "four axes, outer": lambda xp, o: xp.sum(o["C"] * o["D"], axis=(0, 3)),
    "four axes, inner": lambda xp, o: xp.mean(o["C"] * o["D"], axis=(1, 2), keepdims=True),
    "four axes, mixed": lambda xp, o: xp.max(o["C"] * o["D"], axis=(0, 2)),
    "a view": lambda xp, o: xp.sum(xp.broadcast_to(o["A"], (5, 60, 70)), axis=(0, 2)),
    "turned": lambda xp, o: xp.sum(xp.broadcast_to(o["B"], (60, 70)).T[::-1, ::2], axis=0),
    "complex": lambda xp, o: xp.sum((o["A"] + 1j * o["B"]) * o["B"], axis=0),
    "variance": lambda xp, o: xp.var(o["A"] * o["B"], axis=1),
    "variance of all": lambda xp, o: xp.var(o["A"] * o["B"], keepdims=True),
    "deviation": lambda xp, o: xp.std(o["A"] * o["B"], axis=0),
    "twice": lambda xp, o: _twice(xp, o["A"] * o["B"]),
    "integers": lambda xp, o: o["K"] @ o["J"],
    "an index": lambda xp, o: xp.sum(
        xp.broadcast_to(o["A"], (60, 70))[:, xp.arange(0, 70, 2, dtype="int32")], axis=1
    ),
    "eye": lambda xp, o: xp.sum(xp.eye(90, 70, k=3), axis=1),
    "a triangle": lambda xp, o: xp.sum(xp.tril(xp.broadcast_to(o["B"], (60, 70))), axis=0),
}


def _twice(xp: Any, x: Any) -> Any:
    return xp.max(x, axis=0) - xp.min(x, axis=0)


@pytest.mark.parametrize("name", CASES)
def test_parts_add_up_to_numpys_result(bg: Any, ready: dict[str, Any], name: str) -> None:
    expected = CASES[name](np, OWN)
    found = CASES[name](bg, ready)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=3e-5, atol=3e-5)


def test_special_values_survive(bg: Any, ready: dict[str, Any]) -> None:
    x = np.ones((60, 1), np.float32)
    x[11], x[59] = np.inf, np.nan
    y = bg.asarray(x) * ready["B"]
    np.testing.assert_array_equal(np.asarray(bg.max(y, axis=0)), np.max(x * B, axis=0))


def test_ones_own_reduction(bg: Any, ready: dict[str, Any]) -> None:
    sums = bg.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "sums_of_products")
    found = sums(ready["A"], ready["B"], axis=1)
    np.testing.assert_allclose(np.asarray(found), np.sum(A * B, axis=1), rtol=3e-5, atol=3e-5)


def test_kernels_that_use_the_index_are_refused(bg: Any, ready: dict[str, Any]) -> None:
    from browsergpu.errors import Unsupported

    places = bg.ReductionKernel(
        "T x, T y", "T z", "x * y + T(i)", "a + b", "z = a", "0", "sums_with_places"
    )
    with pytest.raises(Unsupported, match=r"sums_with_places: .*got 4200"):
        places(ready["A"], ready["B"], axis=1)


def test_gradients_of_parts(bg: Any, ready: dict[str, Any]) -> None:
    def loss(a: Any) -> Any:
        return bg.sum(a * ready["B"])

    found = np.asarray(bg.grad(loss)(ready["A"]))
    np.testing.assert_allclose(found, np.broadcast_to(B.sum(), (60, 1)), rtol=3e-5)


@pytest.mark.parametrize("number", [2**32, -1, 1.5])
def test_a_number_that_fits_no_word_never_reaches_the_gpu(bg: Any, number: Any) -> None:
    """The ports check numbers too, in case a function forgets to."""
    from browsergpu.engine.gpu.program import BoundStep, picker
    from browsergpu.errors import Unsupported

    x = bg.ones(8)
    bg.eval(x)
    device, buffer = x.device, x.node.storage.buffer.id
    pipeline = device.pipeline("fill")
    with pytest.raises(Unsupported, match="fill: "):
        device.recorder.dispatch(pipeline, 1, 1, 1, buffer, number, 0)
    step = BoundStep(pipeline, (1, 1, 1), picker((0,)), (number, 0), False)
    with pytest.raises(Unsupported, match="fill: "):
        device.recorder.packed(step, (buffer,))
    np.testing.assert_array_equal(x.numpy(), np.ones(8))
