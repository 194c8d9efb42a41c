"""Gradients of elementwise functions against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = pytest.mark.all

NEAR_ONE = (-0.9, 0.9)
POSITIVE = (0.3, 3.0)
ANY = (-2.0, 2.0)
#: Functions of one array: NumPy's name and the tested range.
ONE: dict[str, tuple[str, tuple[float, float]]] = {
    "abs": ("abs", ANY), "acos": ("arccos", NEAR_ONE), "acosh": ("arccosh", (1.2, 3.0)),
    "asin": ("arcsin", NEAR_ONE), "asinh": ("arcsinh", ANY), "atan": ("arctan", ANY),
    "atanh": ("arctanh", NEAR_ONE), "conj": ("conj", ANY), "cos": ("cos", ANY),
    "cosh": ("cosh", ANY), "exp": ("exp", ANY), "expm1": ("expm1", ANY), "log": ("log", POSITIVE),
    "log10": ("log10", POSITIVE), "log1p": ("log1p", POSITIVE), "log2": ("log2", POSITIVE),
    "negative": ("negative", ANY), "positive": ("positive", ANY), "real": ("real", ANY),
    "reciprocal": ("reciprocal", POSITIVE), "sin": ("sin", ANY), "sinh": ("sinh", ANY),
    "sqrt": ("sqrt", POSITIVE), "square": ("square", ANY), "tan": ("tan", (-1.0, 1.0)),
    "tanh": ("tanh", ANY),
}  # fmt: skip
COMPLEX = (
    "abs", "acos", "asin", "atan", "conj", "cos", "cosh", "exp", "imag", "log", "negative", "real",
    "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
)  # fmt: skip
TWO = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide",
    "atan2": "arctan2", "hypot": "hypot", "logaddexp": "logaddexp", "maximum": "maximum",
    "minimum": "minimum", "pow": "power", "remainder": "remainder", "copysign": "copysign",
}  # fmt: skip


def _values(shape: tuple[int, ...], bounds: tuple[float, float], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(*bounds, shape).astype(np.float32)


@pytest.mark.parametrize("name", ONE)
def test_of_one_array(bg: Any, name: str) -> None:
    theirs, bounds = ONE[name]
    gradients_agree(bg, getattr(bg, name), getattr(np, theirs), [_values((2, 3), bounds)])
    second_gradients_agree(bg, getattr(bg, name), getattr(np, theirs), [_values((3,), bounds)])


@pytest.mark.parametrize("name", COMPLEX)
def test_of_complex_numbers(bg: Any, name: str) -> None:
    x = (_values((4,), (0.2, 0.8)) + 1j * _values((4,), (-0.8, 0.8), 1)).astype(np.complex64)

    # Rotated, because only the real part counts.
    def ours(v: Any) -> Any:
        return getattr(bg, name)(v) * (1 - 2j)

    def theirs(v: np.ndarray) -> Any:
        if name == "sign":  # NumPy 1 returns the sign of the real part
            return v / np.abs(v) * (1 - 2j)
        return getattr(np, ONE[name][0] if name in ONE else name)(v) * (1 - 2j)

    gradients_agree(bg, ours, theirs, [x])


def test_of_complex_numbers_from_their_parts(bg: Any) -> None:
    from browsergpu.functions.elementwise import complex_number

    gradients_agree(
        bg, lambda x, y: complex_number(x, y) * (1 - 2j), lambda x, y: (x + 1j * y) * (1 - 2j),
        [_values((2, 3), ANY), _values((3,), ANY, 1)],
    )  # fmt: skip


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 1), (3,)), ((), (2, 2)), ((1, 3), (2, 3))])
@pytest.mark.parametrize("name", TWO)
def test_of_two_arrays(bg: Any, name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    arrays = [_values(shape, POSITIVE, seed) for seed, shape in enumerate(shapes)]
    gradients_agree(bg, getattr(bg, name), getattr(np, TWO[name]), arrays)
    if shapes == ((2, 1), (3,)):
        second_gradients_agree(bg, getattr(bg, name), getattr(np, TWO[name]), arrays)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_of_two_complex_arrays(bg: Any, name: str) -> None:
    x, y = (
        (_values((3,), POSITIVE, n) + 1j * _values((3,), ANY, n + 2)).astype(np.complex64)
        for n in (0, 5)
    )
    gradients_agree(bg, getattr(bg, name), getattr(np, name), [x, y])
    gradients_agree(bg, getattr(bg, name), getattr(np, name), [x, y.real])


def test_of_numbers_beside_arrays(bg: Any) -> None:
    x = _values((5,), POSITIVE)
    for ours in (
        lambda v: 2 - v, lambda v: v - 2, lambda v: 3 / v, lambda v: v / 3, lambda v: v**3,
        lambda v: 2**v, lambda v: v**0.5, lambda v: v % 0.7, lambda v: -v * 2 + 1,
        lambda v: abs(v), lambda v: v**0 + v,
    ):  # fmt: skip
        gradients_agree(bg, ours, ours, [x])


def test_of_complex_numbers_beside_arrays(bg: Any) -> None:
    x = (_values((3,), POSITIVE) + 1j * _values((3,), ANY, 1)).astype(np.complex64)
    for ours in (
        lambda v: v * (1 + 2j), lambda v: v / (1 + 2j), lambda v: (2 - 1j) / v, lambda v: v - 1j,
    ):  # fmt: skip
        gradients_agree(bg, ours, ours, [x])


def test_of_where_and_clip(bg: Any) -> None:
    x, y, condition = _values((2, 3), ANY), _values((3,), ANY, 1), _values((2, 3), ANY, 2) > 0
    gradients_agree(
        bg, lambda a, b: bg.where(bg.asarray(condition), a, b),
        lambda a, b: np.where(condition, a, b), [x, y],
    )  # fmt: skip
    gradients_agree(bg, lambda a: bg.clip(a, -1, 0.5), lambda a: np.clip(a, -1, 0.5), [x])
    low, high = np.float32([-1, -1, -1]), np.float32([1, 0.5, 0.1])
    gradients_agree(bg, bg.clip, np.clip, [x, low, high])


def test_of_bounds_the_wrong_way_round(bg: Any) -> None:
    """The upper bound is the result, and gets the gradient."""
    x, low, high = np.float32([-3, 0.5, 3]), np.float32([2, 2, 2]), np.float32([1, 1, 1])
    gradients_agree(bg, bg.clip, np.clip, [x, low, high])
    gradients_agree(bg, lambda a, b: bg.clip(a, b, 1), lambda a, b: np.clip(a, b, 1), [x, low])
    gradients_agree(bg, lambda a, b: bg.clip(a, 2, b), lambda a, b: np.clip(a, 2, b), [x, high])


def test_of_exponents_of_numbers_that_are_not_positive(bg: Any) -> None:
    z = np.complex64([0.5 + 1j, -1 + 0.25j])
    for base in (1 + 2j, -2.0, -2):
        gradients_agree(
            bg, lambda v, b=base: (b**v) * (1 - 2j), lambda v, b=base: (b**v) * (1 - 2j), [z]
        )
    negative = np.float32([-2, 0.5])
    gradients_agree(
        bg, lambda b, v: bg.pow(b, v) * (1 - 2j), lambda b, v: np.power(b + 0j, v) * (1 - 2j),
        [negative, z],
    )  # fmt: skip
    x = bg.asarray(np.float32([2, 3]))
    assert np.isnan(bg.grad(lambda v: ((-2.0) ** v).sum())(x)).all()  # as in PyTorch and JAX
    zero, two = bg.asarray(np.complex64([0])), bg.asarray(np.complex64([2]))
    assert bg.grad(lambda v: bg.pow(zero, v).real.sum())(two).tolist() == [0]


def test_half_precision(bg: Any) -> None:
    x = _values((4,), POSITIVE).astype(np.float16)
    gradients_agree(bg, lambda v: bg.exp(v) * v, lambda v: np.exp(v) * v, [x], tolerance=5e-3)


def test_the_gradient_of_a_power_at_zero(bg: Any) -> None:
    x = bg.asarray(np.float32([0, 2]))
    assert bg.grad(lambda v: (v**2).sum())(x).tolist() == [0, 4]
    assert bg.grad(lambda v: (v**0).sum())(x).tolist() == [0, 0]
    assert bg.grad(lambda v: (v ** bg.asarray(np.float32([2, 0]))).sum())(x).tolist() == [0, 0]
