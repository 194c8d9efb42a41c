"""matmul(precision="high"): split operands, within the error bound of its docstring.

The tests force the method on devices that would not select it, and compare with float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.gpu import each_variant

pytestmark = [pytest.mark.native, pytest.mark.firefox]


@pytest.fixture(params=["split", "matrices"])
def split(request: pytest.FixtureRequest, backend: Any) -> Iterator[Any]:
    """All matrix products use split operands, with each kernel and with subgroup matrices."""
    variants = backend.device.variants
    if request.param not in [one.name for one in variants.available("gemm_high")]:
        pytest.skip("this device has no subgroup matrices")
    with variants.only("gemm_high", request.param) as forced:
        yield forced


def wide_range(seed: int, *shape: int, decades: float = 3.0) -> np.ndarray:
    """Return random numbers of both signs, with magnitudes within ``decades`` decades of 1."""
    generator = np.random.default_rng(seed)
    numbers = generator.standard_normal(shape) * 10 ** generator.uniform(-decades, decades, shape)
    return numbers.astype(np.float32)


def bound(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the error bound in matmul's docstring, plus the error of flushed subnormals.

    A GPU may flush operands and results below float32's smallest normal number to 0.
    """
    k = a.shape[-1]
    a, b = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
    largest = a.max(-1, keepdims=True) * b.max(-2, keepdims=True)
    flushed = 2.0**-126 * (1 + a.sum(-1, keepdims=True) + b.sum(-2, keepdims=True))
    return (6 + 1.3 * k) * 2.0**-23 * (a @ b) + k * 2.0**-27 * largest + flushed


def check(bg: Any, a: np.ndarray, b: np.ndarray) -> None:
    got = bg.matmul(bg.asarray(a), bg.asarray(b), precision="high").numpy()
    left, right = a.astype(np.float64), b.astype(np.float64)
    expected = np.matmul(left, right)
    assert got.shape == expected.shape
    assert got.dtype == np.float32
    left = left[None] if a.ndim == 1 else left
    right = right[:, None] if b.ndim == 1 else right
    allowed = bound(left, right).reshape(expected.shape)
    excess = np.abs(got - expected) / allowed
    assert excess.max(initial=0) <= 1, f"{excess.max()} of the bound"


SHAPES = [
    (1, 1, 1), (3, 5, 7), (8, 8, 8), (33, 41, 17), (64, 64, 64), (65, 130, 67), (130, 100, 9),
    (1, 300, 40), (40, 300, 1), (16, 1030, 24),
]  # fmt: skip


@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
def test_within_the_bound(bg: Any, split: Any, m: int, k: int, n: int) -> None:
    check(bg, wide_range(m, m, k), wide_range(n, k, n))
    assert split.was_used
    check(bg, wide_range(m, m, k, decades=0), wide_range(n, k, n, decades=0))


def test_every_kernel_of_halves(bg: Any, backend: Any, split: Any) -> None:
    for _name in each_variant(backend.device, "gemm_f16"):
        for m, k, n in ((5, 70, 33), (40, 48, 40), (140, 35, 139)):
            check(bg, wide_range(m, m, k), wide_range(n, k, n))


def test_it_is_nearer_than_one_product_of_halves(bg: Any, split: Any) -> None:
    a, b = (wide_range(seed, 48, 48, decades=0) for seed in (1, 2))
    exact = a.astype(np.float64) @ b
    got = bg.matmul(bg.asarray(a), bg.asarray(b), precision="high").numpy()
    of_halves = a.astype(np.float16).astype(np.float64) @ b.astype(np.float16)
    assert np.abs(got - exact).max() < np.abs(of_halves - exact).max() / 200


def test_rows_and_columns_of_every_size(bg: Any, split: Any) -> None:
    # A row near 3e38 and columns near 1e-37, and values in between: float32 holds the products, but
    # not their scales.
    for exponents in (range(-37, 39, 5), range(38, -38, -5)):
        powers = 10.0 ** np.array([*exponents])
        a = (wide_range(3, len(powers), 20, decades=0) / 8 * powers[:, None]).astype(np.float32)
        b = wide_range(4, 20, 12, decades=0)
        b = (b / np.abs(b).max()).astype(np.float32)
        check(bg, a, b)
        check(bg, b.T.copy(), a.T.copy())
    huge, tiny = np.float32(3e38), np.float32(1e-37)
    row, column = np.full((2, 3), huge), np.full((3, 2), tiny)
    check(bg, row, column)
    check(bg, column.T.copy(), row.T.copy())


def test_infinities_and_nan_are_where_float32_has_them(bg: Any, split: Any) -> None:
    a, b = wide_range(5, 12, 30, decades=1), wide_range(6, 30, 11, decades=1)
    a[1, 3], a[2, 4], a[3, 5], a[3, 6] = np.inf, -np.inf, np.nan, 1
    a[4, 7], a[4, 8] = np.inf, -np.inf
    b[9, 2], b[10, 3] = np.nan, np.inf
    b[3, 5] = 0.0  # multiplied by an infinity
    b[3, 6] = 1e-30  # far below its column's largest, multiplied by an infinity
    a[5], b[:, 7] = 0.0, 0.0
    a[6] = 3e38  # sums overflow for columns that do not cancel
    b[:, 8] = 1.0
    b[:, 9] = -1.0
    x, y = bg.asarray(a), bg.asarray(b)
    got = bg.matmul(x, y, precision="high").numpy()
    with np.errstate(all="ignore"):
        expected = a @ b
    plain = bg.matmul(x, y).numpy()
    # Row 6 overflows during the sum, depending on its order.
    ordered = np.delete(np.arange(12), 6)
    for one in (got, plain):
        np.testing.assert_array_equal(np.isnan(one[ordered]), np.isnan(expected[ordered]))
        np.testing.assert_array_equal(np.isposinf(one[ordered]), np.isposinf(expected[ordered]))
        np.testing.assert_array_equal(np.isneginf(one[ordered]), np.isneginf(expected[ordered]))
    assert np.isposinf(got[6, 8])
    assert np.isneginf(got[6, 9])
    assert not got[5, [0, 1, 4, 5, 6, 7]].any()
    finite = np.isfinite(expected)
    finite[6] = False
    allowed = bound(np.nan_to_num(a, posinf=0, neginf=0), np.nan_to_num(b, posinf=0, neginf=0))
    exact = np.where(np.isfinite(a), a, 0).astype(np.float64) @ np.where(np.isfinite(b), b, 0)
    assert (np.abs(got - exact) <= allowed)[finite].all()


def test_subnormal_numbers(bg: Any, split: Any) -> None:
    a = np.full((9, 10), 1e-40, np.float32)  # a GPU may flush it to 0
    b = np.full((10, 9), 1e30, np.float32)
    got = bg.matmul(bg.asarray(a), bg.asarray(b), precision="high").numpy()
    exact = a.astype(np.float64) @ b
    assert ((np.abs(got - exact) <= 1e-5 * exact) | (got == 0)).all()
    a[0, 0] = 1.0
    got = bg.matmul(bg.asarray(a), bg.asarray(b), precision="high").numpy()
    np.testing.assert_allclose(got[0], 1e30, rtol=1e-6)


def test_batches_views_and_vectors(bg: Any, split: Any) -> None:
    a, b = wide_range(7, 3, 2, 9, 20, decades=1), wide_range(8, 2, 20, 13, decades=1)
    check(bg, a, b)
    check(bg, a[:, :1], b)
    check(bg, a, b[0])
    check(bg, a[0, 0], b)
    check(bg, a[0, 0, 0], b)
    check(bg, a, b[0, :, 0])
    check(bg, a[0, 0, 0], b[0, :, 0])
    x, y = bg.asarray(a), bg.asarray(b)
    for left, right, own, other in (
        (a.swapaxes(-1, -2), a, bg.matrix_transpose(x), x),
        (b[0].T, b[1], y[0].T, y[1]),
        (a[0, 0], b[1].T[:, :20].T, x[0, 0], y[1].T[:, :20].T),
        (a[..., ::2], b[:, ::2], x[..., ::2], y[:, ::2]),
        (b[0].T[1:], a[0, 0].T, y[0].T[1:], x[0, 0].T),
        (a, a.swapaxes(-1, -2), x, bg.matrix_transpose(x)),
    ):
        got = bg.matmul(own, other, precision="high").numpy()
        wide = left.astype(np.float64), right.astype(np.float64)
        assert (np.abs(got - np.matmul(*wide)) <= bound(*wide)).all()


def test_without_steps_or_elements(bg: Any, split: Any) -> None:
    for m, k, n in ((3, 0, 4), (0, 5, 4), (3, 5, 0)):
        got = bg.matmul(bg.ones((m, k)), bg.ones((k, n)), precision="high").numpy()
        np.testing.assert_array_equal(got, np.zeros((m, n), np.float32))


def test_without_room_for_the_parts(
    bg: Any, backend: Any, split: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend.device.facts, "largest_buffer", 6 * 40 * 40 - 1)
    backend.device.variants.on_change()
    check(bg, wide_range(1, 40, 40), wide_range(2, 40, 40))
    assert not split.was_used
    check(bg, wide_range(1, 24, 32), wide_range(2, 32, 24))
    assert split.was_used


def test_other_types(bg: Any, split: Any) -> None:
    a, b = wide_range(1, 9, 10, decades=0), wide_range(2, 10, 7, decades=0)
    x, y = bg.asarray(a), bg.asarray(b)
    z = bg.matmul(x + 2j * x, y - 1j * y, precision="high").numpy()
    np.testing.assert_allclose(z, (a + 2j * a) @ (b - 1j * b), atol=1e-4)
    halves = bg.matmul(x.astype("float16"), y.astype("float16"), precision="high")
    same = bg.matmul(x.astype("float16"), y.astype("float16"))
    np.testing.assert_array_equal(halves.numpy(), same.numpy())
    whole = bg.asarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert bg.matmul(whole, whole.T, precision="high").tolist() == [[5, 14], [14, 50]]


def test_gradients_are_products_of_the_same_precision(bg: Any, backend: Any, split: Any) -> None:
    a, b = wide_range(1, 18, 20, decades=0), wide_range(2, 20, 14, decades=0)
    x, y = bg.asarray(a), bg.asarray(b)
    seen: list[str] = []

    def observe(pipeline: Any, _fields: Any) -> None:
        seen.append(pipeline.label)

    backend.device.recorder.observers.append(observe)
    try:
        gradients = bg.grad(lambda x, y: bg.sum(bg.matmul(x, y, precision="high")), argnums=(0, 1))(
            x, y
        )
        bg.eval(*gradients)
    finally:
        backend.device.recorder.observers.remove(observe)
    assert seen.count("split_join") == 3
    assert not [label for label in seen if label.startswith(("gemm.", "gemm_thin", "gemm_quads"))]
    ones = np.ones((18, 14))
    for got, left, right in zip(gradients, (ones, a.T), (b.T, ones), strict=True):
        exact = left.astype(np.float64) @ right
        assert (np.abs(got.numpy() - exact) <= bound(left, right)).all()


def test_small_products_are_as_with_highest(bg: Any, backend: Any) -> None:
    x, y = bg.asarray(wide_range(1, 30, 31)), bg.asarray(wide_range(2, 31, 29))
    got = [bg.matmul(x, y, precision=name).numpy() for name in ("high", "highest")]
    np.testing.assert_array_equal(*got)
    np.testing.assert_array_equal(got[0], (x @ y).numpy())


def test_other_precisions_are_refused(bg: Any) -> None:
    x = bg.ones((2, 2))
    for wrong in ("default", "HIGH", None, 3, ["high"]):
        with pytest.raises(ValueError, match="precision"):
            bg.matmul(x, x, precision=wrong)
