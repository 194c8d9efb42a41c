"""Gradients of special functions and of step functions, against central differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = pytest.mark.native

_NORMAL = NormalDist()


def polygamma(n: int, x: np.ndarray) -> np.ndarray:
    """Return the derivative of order ``n`` of digamma for positive numbers, in float64."""
    sign = (-1) ** (n + 1)
    terms = np.arange(60)[:, None] + np.ravel(x)
    end = np.ravel(x) + 60
    # The rest of the sum, by the Euler-Maclaurin formula. Its next term is below 1e-12.
    if n == 0:
        found = np.log(end) - 0.5 / end - 1 / (12 * end**2) - (1 / terms).sum(0)
    else:
        rest = 1 / (n * end**n) + 0.5 / end ** (n + 1) + (n + 1) / (12 * end ** (n + 2))
        found = sign * math.factorial(n) * ((1.0 / terms ** (n + 1)).sum(0) + rest)
    return found.reshape(np.shape(x))


def _each(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    return np.vectorize(function, otypes=[float])


#: The functions in float64, and the tested ranges.
ONE: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float, float]] = {
    "digamma": (lambda x: polygamma(0, x), 0.5, 4), "erf": (_each(math.erf), -2, 2),
    "entr": (lambda x: -x * np.log(x), 0.25, 3), "erfc": (_each(math.erfc), -2, 2),
    "erfinv": (_each(lambda x: _NORMAL.inv_cdf(0.5 + x / 2) / math.sqrt(2)), -0.8, 0.8),
    "erfcx": (_each(lambda x: math.exp(x * x) * math.erfc(x)), -2, 2),
    "gamma": (_each(math.gamma), 0.5, 4), "gammaln": (_each(math.lgamma), 0.5, 4),
    "sinc": (np.sinc, -2, 2),
    "log_ndtr": (_each(lambda x: math.log(_NORMAL.cdf(x))), -2, 2),
    "ndtr": (_each(_NORMAL.cdf), -2, 2), "ndtri": (_each(_NORMAL.inv_cdf), 0.1, 0.9),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_of_special_functions(bg: Any, name: str) -> None:
    theirs, low, high = ONE[name]
    x = np.random.default_rng(0).uniform(low, high, (2, 3)).astype(np.float32)
    gradients_agree(bg, getattr(bg.special, name), theirs, [x])
    second_gradients_agree(bg, getattr(bg.special, name), theirs, [x[0]])
    found = bg.vmap(bg.grad(getattr(bg.special, name)))(bg.asarray(x[0])).numpy()
    expected = bg.grad(lambda v: getattr(bg.special, name)(v).sum())(bg.asarray(x[0])).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_slope_of_sinc_near_0(bg: Any) -> None:
    x = np.float32([0, 1e-3, 0.149, 0.151])
    slope = (np.cos(np.pi * x[1:]) - np.sinc(x[1:].astype(float))) / x[1:]
    found = bg.grad(lambda v: bg.special.sinc(v).sum())(bg.asarray(x)).numpy()
    np.testing.assert_allclose(found[0], 0)
    np.testing.assert_allclose(found[2:], slope[1:], rtol=1e-5)
    np.testing.assert_allclose(found[1], -(np.pi**2) / 3 * 1e-3, rtol=1e-5)


def test_of_products_with_logarithms(bg: Any) -> None:
    x = np.float32([0, 0.5, -2]), np.float32([0.5, 3, 2])
    gradients_agree(bg, bg.special.xlogy, lambda a, b: a * np.log(b), [*x])
    gradients_agree(bg, bg.special.xlog1py, lambda a, b: a * np.log1p(b), [*x])
    assert bg.grad(bg.special.xlogy)(0.0, 0.0).item() == 0
    assert bg.grad(bg.special.entr)(0.0).item() == np.inf


def test_of_polygamma(bg: Any) -> None:
    x = np.float32([0.5, 1.5, 4])
    for n in range(4):
        gradients_agree(
            bg, lambda v, n=n: bg.special.polygamma(n, v), lambda v, n=n: polygamma(n, v), [x]
        )
    for orders in ([0, 1, 2], np.arange(3), bg.arange(3)):
        found = bg.grad(lambda v, n=orders: bg.special.polygamma(n, v).sum())(bg.asarray(x[1]))
        expected = sum(float(polygamma(n + 1, x[1])) for n in range(3))
        assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.fast
@pytest.mark.parametrize("name", ["ceil", "floor", "round", "sign", "trunc"])
def test_steps_have_the_gradient_0(bg: Any, name: str) -> None:
    x = bg.asarray(np.float32([0.3, -1.7, 2, np.inf])).requires_grad_()
    y = getattr(bg, name)(x)
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 0]
    value = bg.asarray(np.float32([1.5]))
    assert bg.jvp(getattr(bg, name), (value,), (value,))[1].tolist() == [0]
    assert bg.vmap(bg.grad(getattr(bg, name)))(value).tolist() == [0]
