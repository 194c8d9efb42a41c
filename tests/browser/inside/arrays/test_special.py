"""``browsergpu.special`` against SciPy in float64, within stated tolerances."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same

pytestmark = [pytest.mark.native, pytest.mark.firefox]

_WIDE = np.linspace(-12, 12, 1201)
_ABOVE = np.concatenate([np.linspace(1e-3, 34, 801), np.linspace(-8.7, -0.013, 397)])
#: Arguments of each function, and its relative and absolute tolerance (the latter near zeros).
ONE: dict[str, tuple[np.ndarray, float, float]] = {
    "erf": (_WIDE, 3e-7, 0), "erfc": (np.linspace(-5, 9, 801), 6e-7, 0),
    "erfcx": (np.linspace(-5, 50, 801), 8e-7, 0),
    "erfinv": (np.linspace(-0.999999, 0.999999, 801), 3e-6, 0),
    "erfcinv": (np.logspace(-35, 0.29, 801), 1e-6, 1e-6),
    "ndtr": (np.linspace(-13, 8, 801), 6e-7, 0),
    "ndtri": (np.logspace(-37, -0.001, 801), 1e-6, 1e-6),
    "log_ndtr": (np.linspace(-100, 8, 801), 6e-7, 0), "gamma": (_ABOVE, 1e-6, 0),
    "gammaln": (np.concatenate([_ABOVE, np.logspace(-8, 20, 397)]), 1e-6, 1e-6),
    "rgamma": (np.linspace(-5.3, 30, 801), 1e-6, 1e-5),
    "digamma": (np.concatenate([np.linspace(-4.7, 30, 801), np.logspace(-3, 9, 400)]), 2e-6, 3e-6),
    "i0": (np.linspace(-80, 80, 801), 6e-7, 0), "i0e": (np.linspace(-800, 800, 801), 6e-7, 0),
    "i1": (np.linspace(-80, 80, 801), 1e-6, 0), "i1e": (np.linspace(-800, 800, 801), 1e-6, 0),
    "j0": (np.linspace(-200, 200, 1201), 0, 1e-6), "j1": (np.linspace(-200, 200, 1201), 0, 1e-6),
    "y0": (np.linspace(0.01, 200, 1201), 1e-6, 1e-6),
    "y1": (np.linspace(0.01, 200, 1201), 1e-6, 1e-6),
    "expit": (5 * _WIDE, 5e-7, 0), "log_expit": (7 * _WIDE, 5e-7, 0),
    "logit": (np.linspace(1e-3, 0.999, 801), 1e-6, 1e-6), "exprel": (_WIDE, 5e-7, 0),
    "entr": (np.linspace(-1, 10, 801), 5e-7, 1e-7), "exp2": (3 * _WIDE, 3e-7, 0),
    "exp10": (3 * _WIDE, 3e-7, 0), "expm1": (_WIDE, 5e-7, 0),
    "log1p": (np.linspace(-0.9, 9, 801), 5e-7, 0),
    "psi": (np.linspace(1, 30, 99), 2e-6, 3e-6),
}  # fmt: skip
TWO: dict[str, tuple[tuple[float, float], tuple[float, float], float, float]] = {
    "beta": ((0.1, 20), (0.1, 20), 2e-5, 0), "betaln": ((0.01, 2000), (0.01, 20), 4e-6, 2e-5),
    "boxcox": ((0.1, 5), (-2, 2), 1e-6, 1e-7), "boxcox1p": ((0.1, 5), (-2, 2), 1e-6, 1e-7),
    "huber": ((0, 3), (-5, 5), 5e-7, 0), "inv_boxcox": ((-0.4, 0.4), (-2, 2), 1e-6, 0),
    "kl_div": ((0, 5), (0, 5), 1e-6, 3e-6), "rel_entr": ((0, 5), (0, 5), 1e-6, 1e-6),
    "xlog1py": ((0, 5), (-0.9, 5), 1e-6, 1e-6), "xlogy": ((0, 5), (0, 5), 1e-6, 1e-6),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(bg: Any, scipy_special: Any, name: str) -> None:
    places, share, distance = ONE[name]
    x = places.astype(np.float32)
    found = getattr(bg.special, name)(bg.asarray(x)).numpy()
    expected = getattr(scipy_special, name)(x.astype(float))
    assert found.dtype == np.float32
    with np.errstate(over="ignore"):
        expected = np.where(np.abs(expected) < 2e-38, 0, expected)
        found = np.where(np.abs(found) < 2e-38, 0, found)
    np.testing.assert_allclose(found, expected, rtol=share, atol=distance)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_polygamma(bg: Any, scipy_special: Any, n: int) -> None:
    x = np.concatenate([np.linspace(0.05, 30, 801), np.logspace(1, 3, 99)]).astype(np.float32)
    found = bg.special.polygamma(n, bg.asarray(x)).numpy()
    expected = scipy_special.polygamma(n, x.astype(float))
    expected = np.where(np.abs(expected) > 2e-38, expected, 0)  # WebGPU flushes subnormal numbers
    np.testing.assert_allclose(found, expected, rtol=2e-6 + 2e-7 * n, atol=3e-6 * (n == 0))
    # ψ(1 - x) - ψ(x) = π / tan(π x), with known derivatives
    below = np.float32(-np.arange(1, 30) / 7 - 0.03)
    found = bg.special.polygamma(1, bg.asarray(below)).numpy()
    turned = np.pi * below.astype(float)
    mirrored = (np.pi / np.sin(turned)) ** 2 - scipy_special.polygamma(1, 1 - below.astype(float))
    np.testing.assert_allclose(found, mirrored, rtol=3e-6)


def test_polygamma_of_poles_and_wrong_orders(bg: Any) -> None:
    found = bg.special.polygamma(1, bg.asarray(np.float32([np.inf, -1, 0, np.nan]))).numpy()
    np.testing.assert_array_equal(found, [0, np.inf, np.inf, np.nan])
    found = bg.special.polygamma(2, bg.asarray(np.float32([np.inf, -1, 0, np.nan]))).numpy()
    np.testing.assert_array_equal(found, [0, -np.inf, -np.inf, np.nan])
    for n in (-1, 101, 1.5):
        with pytest.raises(ValueError, match="n must be"):
            bg.special.polygamma(n, bg.asarray([1.0]))


def test_polygamma_of_orders(bg: Any, scipy_special: Any) -> None:
    n, x = np.arange(6), np.linspace(0.1, 20, 50).astype(np.float32)[:, np.newaxis]
    expected = scipy_special.polygamma(n, x.astype(float))
    for orders in (n, n.tolist(), bg.asarray(n)):
        found = bg.special.polygamma(orders, bg.asarray(x)).numpy()
        np.testing.assert_allclose(found, expected, rtol=5e-6, atol=3e-6)
    assert np.isnan(bg.special.polygamma([-1, 0.5, 101, np.nan], 2.0)).all()
    assert bg.special.polygamma(np.arange(0), x).shape == (50, 0)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(bg: Any, scipy_special: Any, name: str) -> None:
    first, second, share, distance = TWO[name]
    rng = np.random.default_rng(3)
    x, y = (rng.uniform(*bounds, 1000).astype(np.float32) for bounds in (first, second))
    x[0] = y[1] = 0 if first[0] <= 0 <= first[1] else first[0]
    found = getattr(bg.special, name)(bg.asarray(x), bg.asarray(y)).numpy()
    expected = getattr(scipy_special, name)(x.astype(float), y.astype(float))
    np.testing.assert_allclose(found, expected, rtol=share, atol=distance)
    column = getattr(bg.special, name)(bg.asarray(x[:3, None]), bg.asarray(y[:4]))
    assert column.shape == (3, 4)


@pytest.mark.parametrize("name", ["beta", "betaln"])
def test_beta_functions_of_numbers_below_zero(bg: Any, scipy_special: Any, name: str) -> None:
    """The result may be finite where one of the gamma functions has a pole."""
    some = np.float32([-3, -2, -1, 0, -2.5, -1.5, -0.5, 0.5, 1, 2, 3, 5, 40, -40.5, 1.25])
    x, y = np.meshgrid(some, some)
    found = getattr(bg.special, name)(bg.asarray(x), bg.asarray(y)).numpy()
    expected = getattr(scipy_special, name)(x.astype(float), y.astype(float))
    expected[np.abs(expected) > 3.4e38] = np.inf
    if name == "betaln":  # SciPy gives inf for log(0) where only a + b is a pole
        is_zero = (x + y <= 0) & (np.floor(x + y) == x + y) & (np.floor(x) != x)
        expected[is_zero] = -np.inf
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-5)


@pytest.fixture(scope="module")
def scipy_special() -> Any:
    if sys.platform == "emscripten":
        from inside.arrays.test_consumers import load

        load("scipy")
    from scipy import special

    return special


def test_special_values(bg: Any, scipy_special: Any) -> None:
    x = np.float32([0, np.inf, -np.inf, np.nan, 1, -1, -2])
    for name in ONE:
        if name in ("j0", "j1", "y0", "y1", "i0", "i1", "expm1", "log1p", "exp2", "exp10"):
            x = x[[0, 3, 4]]  # skip infinities
        found = getattr(bg.special, name)(bg.asarray(x)).numpy()
        with np.errstate(all="ignore"):
            expected = getattr(scipy_special, name)(x.astype(float))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=name)
        x = np.float32([0, np.inf, -np.inf, np.nan, 1, -1, -2])
    halves = np.linspace(-3, 3, 41)
    np.testing.assert_allclose(
        bg.special.sinc(bg.asarray(halves.astype(np.float32))).numpy(), np.sinc(halves),
        rtol=1e-5, atol=1e-6,
    )  # fmt: skip


def test_sums_of_exponentials(bg: Any, scipy_special: Any) -> None:
    rng = np.random.default_rng(5)
    x, b = (rng.normal(size=(5, 7)).astype(np.float32) for _ in range(2))
    x *= 30
    a, factors = bg.asarray(x), bg.asarray(b)
    for options in (
        {},
        {"axis": 0},
        {"axis": (0, 1), "keepdims": True},
        {"axis": -1, "keepdims": True},
    ):
        np.testing.assert_allclose(
            bg.special.logsumexp(a, **options).numpy(),
            scipy_special.logsumexp(x.astype(float), **options), rtol=1e-6,
        )  # fmt: skip
    found, sign = bg.special.logsumexp(a, 1, factors, return_sign=True)
    expected, signs = scipy_special.logsumexp(x.astype(float), 1, b.astype(float), return_sign=True)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)
    np.testing.assert_array_equal(sign.numpy(), signs)
    assert bg.special.logsumexp(bg.asarray([-np.inf, -np.inf])).item() == -np.inf
    for name in ("softmax", "log_softmax"):
        for axis in (None, 0, 1, (0, 1)):
            np.testing.assert_allclose(
                getattr(bg.special, name)(a, axis=axis).numpy(),
                getattr(scipy_special, name)(x.astype(float), axis=axis), rtol=2e-5,
                atol=1e-12 if name == "softmax" else 2e-6,
            )  # fmt: skip


def test_operands(bg: Any) -> None:
    special = bg.special
    assert_same(special.erf(bg.asarray([0, 1])), [0.0, math.erf(1)], rtol=1e-6)
    assert special.gamma(bg.asarray(np.float16([3, 4]))).dtype == np.float16
    assert special.gamma(5.0).item() == pytest.approx(24)
    assert special.erf([1, 2]).shape == (2,)
    assert "gamma" in bg.explain(special.gamma(bg.ones(3)) * 2)
    with pytest.raises(TypeError, match="real numbers"):
        special.erf(bg.asarray([1j]))
    with pytest.raises(bg.errors.UnknownName, match=r"Use scipy\.special"):
        special.hyp2f1(1, 2, 3, 4)
    with pytest.raises(ValueError, match="elements to add up"):
        special.logsumexp(bg.zeros(0))


def test_gradients_of_composed_functions(bg: Any) -> None:
    x = bg.asarray(np.float32([0.3, 0.8]))
    found = bg.grad(lambda v: bg.special.logsumexp(v))(x)
    np.testing.assert_allclose(found.numpy(), bg.special.softmax(x).numpy(), rtol=1e-6)
    with pytest.raises(bg.errors.NotDifferentiable):
        bg.grad(lambda v: bg.special.i0(v).sum())(x)


def test_ufuncs_of_scipy_special_take_arrays(bg: Any) -> None:
    scipy_special = pytest.importorskip("scipy.special")
    x = np.linspace(0.1, 2, 20, dtype=np.float32)
    for name in ("erf", "gammaln", "expit", "psi", "i0e"):
        found = getattr(scipy_special, name)(bg.asarray(x))
        assert isinstance(found, bg.Array)
        assert_same(found, getattr(scipy_special, name)(x), name, rtol=2e-6)
    found = scipy_special.xlogy(bg.asarray(x), 2.0)
    assert_same(found, scipy_special.xlogy(x, np.float32(2)), "xlogy", rtol=2e-6)
    with pytest.raises(TypeError, match=r"jv: function must be .*, got the function jv"):
        scipy_special.jv(1.0, bg.asarray(x))
