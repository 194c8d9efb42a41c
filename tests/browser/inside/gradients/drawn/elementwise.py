"""Calls of elementwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from inside.gradients.drawn.directions import Call
from inside.gradients.drawn.operands import (
    REAL,
    Draw,
    Shape,
    away,
    between,
    broadcast_shapes,
    numbers,
    on_grid,
    quadrants,
    seen,
    shapes,
)
from inside.gradients.drawn.table import Table, entry
from inside.gradients.test_special import ONE as OF_ONE
from inside.gradients.test_special import polygamma

ELEMENTWISE: Table = {}

#: Functions of one array: NumPy's name, a range, its kinks and poles, and whether complex.
ONE: dict[str, tuple[str, float, float, tuple[float, ...], bool]] = {
    "abs": ("abs", -2, 2, (0,), True), "acos": ("arccos", -0.95, 0.95, (), True),
    "acosh": ("arccosh", 1.1, 4, (), True), "asin": ("arcsin", -0.95, 0.95, (), True),
    "asinh": ("arcsinh", -3, 3, (), True), "atan": ("arctan", -3, 3, (), True),
    "atanh": ("arctanh", -0.95, 0.95, (), True), "conj": ("conj", -2, 2, (), True),
    "cos": ("cos", -4, 4, (), True), "cosh": ("cosh", -2, 2, (), True),
    "exp": ("exp", -3, 2, (), True), "expm1": ("expm1", -3, 2, (), True),
    "log": ("log", 0.1, 4, (), True), "log10": ("log10", 0.1, 4, (), True),
    "log1p": ("log1p", -0.9, 3, (), True), "log2": ("log2", 0.1, 4, (), True),
    "negative": ("negative", -2, 2, (), True), "positive": ("positive", -2, 2, (), True),
    "real": ("real", -2, 2, (), True), "reciprocal": ("reciprocal", -3, 3, (0,), True),
    "sin": ("sin", -4, 4, (), True), "sinh": ("sinh", -2, 2, (), True),
    "sqrt": ("sqrt", 0.1, 4, (), True), "square": ("square", -2, 2, (), True),
    "tan": ("tan", -1.3, 1.3, (), True), "tanh": ("tanh", -4, 4, (), True),
}  # fmt: skip
#: Functions of :mod:`browsergpu.special`: the same in float64, and a range.
SPECIAL: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float, float]] = {
    f"special.{name}": one for name, one in OF_ONE.items()
}
#: The distance from poles: 0.05 would leave float16 few digits.
_MARGIN = 0.2


@entry(ELEMENTWISE, *ONE)
def _(draw: Draw, name: str) -> Call:
    theirs, low, high, points, takes_complex = ONE[name]
    shape = shapes(draw)
    dtype = draw(st.sampled_from(("f4", "c8", "f2") if takes_complex else REAL))
    x = (
        quadrants(draw, shape)
        if dtype == "c8"
        else away(draw, shape, low, high, points, _MARGIN, dtype)
    )
    return Call(
        [seen(draw, x)], lambda bg, v: getattr(bg, name)(v), lambda v: getattr(np, theirs)(v)
    )


@entry(ELEMENTWISE, "ceil", "floor", "round", "trunc")
def _(draw: Draw, name: str) -> Call:
    x = on_grid(draw, shapes(draw), 0.125, draw(st.sampled_from(REAL)))
    return Call([seen(draw, x)], lambda bg, v: getattr(bg, name)(v), lambda v: getattr(np, name)(v))


@entry(ELEMENTWISE, *SPECIAL)
def _(draw: Draw, name: str) -> Call:
    theirs, low, high = SPECIAL[name]
    own = name.partition(".")[2]
    x = between(draw, shapes(draw), low, high, draw(st.sampled_from(REAL)))
    return Call([seen(draw, x)], lambda bg, v: getattr(bg.special, own)(v), theirs)


@entry(ELEMENTWISE, "special.xlogy", "special.xlog1py")
def _(draw: Draw, name: str) -> Call:
    own = name.partition(".")[2]
    log = np.log if own == "xlogy" else np.log1p
    first, second = broadcast_shapes(draw, 2)
    dtype = draw(st.sampled_from(REAL))
    operands = [
        seen(draw, x) for x in (numbers(draw, first, dtype), between(draw, second, 0.3, 2.5, dtype))
    ]
    return Call(operands, lambda bg, x, y: getattr(bg.special, own)(x, y), lambda x, y: x * log(y))


@entry(ELEMENTWISE, "special.polygamma")
def _(draw: Draw, name: str) -> Call:
    n = draw(st.integers(0, 3))
    x = between(draw, shapes(draw), 0.5, 4, draw(st.sampled_from(REAL)))
    return Call(
        [seen(draw, x)], lambda bg, v: bg.special.polygamma(n, v), lambda v: polygamma(n, v)
    )


@entry(ELEMENTWISE, "imag", "sign")
def _(draw: Draw, name: str) -> Call:
    def theirs(v: np.ndarray) -> np.ndarray:  # NumPy 1 uses the sign of the real part
        return v.imag if name == "imag" else v / np.abs(v)

    x = quadrants(draw, shapes(draw))
    return Call([seen(draw, x)], lambda bg, v: getattr(bg, name)(v), theirs)


#: Dtypes of two arrays.
_PAIRS = (("f4", "f4"), ("f4", "f2"), ("f2", "f2"), ("f2", "f4"))
_COMPLEX_PAIRS = (("c8", "c8"), ("f4", "c8"), ("c8", "f4"))
Maker = Callable[[Draw, Shape, str], np.ndarray]


def _any(draw: Draw, shape: Shape, dtype: str) -> np.ndarray:
    return numbers(draw, shape, dtype)


def _away_from_0(draw: Draw, shape: Shape, dtype: str) -> np.ndarray:
    if dtype == "c8":
        return quadrants(draw, shape)
    return away(draw, shape, -2, 2, (0,), 0.3, dtype)


def _positive(draw: Draw, shape: Shape, dtype: str) -> np.ndarray:
    return quadrants(draw, shape) if dtype == "c8" else between(draw, shape, 0.3, 2.5, dtype)


def _even(draw: Draw, shape: Shape, dtype: str) -> np.ndarray:
    return on_grid(draw, shape, 0, dtype)


def _odd(draw: Draw, shape: Shape, dtype: str) -> np.ndarray:
    return on_grid(draw, shape, 0.125, dtype)


def _dividend(draw: Draw, shape: Shape, dtype: str) -> np.ndarray:
    """Draw numbers between multiples of all divisors, at least 0.175 from each."""
    near = between(draw, shape, -0.2, 0.2)
    return np.asarray((np.rint(between(draw, shape, -5, 5)) + 0.5) * 0.75 + near, dtype)


def _divisor(draw: Draw, shape: Shape, dtype: str) -> np.ndarray:
    signs = np.sign(on_grid(draw, shape, 0.125))
    return np.asarray(0.75 * 2 ** np.abs(np.rint(between(draw, shape, -2, 2))) * signs, dtype)


#: Functions of two arrays: NumPy's name, makers of both operands, and whether complex. maximum and
#: minimum get no equal numbers, dividends are between multiples, and x1 is on no branch cut of
#: atan2.
TWO: dict[str, tuple[str, Maker, Maker, bool]] = {
    "add": ("add", _any, _any, True), "subtract": ("subtract", _any, _any, True),
    "multiply": ("multiply", _any, _any, True), "divide": ("divide", _any, _away_from_0, True),
    "atan2": ("arctan2", _away_from_0, _any, False), "hypot": ("hypot", _away_from_0, _any, False),
    "logaddexp": ("logaddexp", _any, _any, False), "maximum": ("maximum", _even, _odd, False),
    "minimum": ("minimum", _odd, _even, False), "pow": ("power", _positive, _any, True),
    "remainder": ("remainder", _dividend, _divisor, False),
    "copysign": ("copysign", _away_from_0, _away_from_0, False),
}  # fmt: skip


@entry(ELEMENTWISE, *TWO)
def _(draw: Draw, name: str) -> Call:
    theirs, first, second, takes_complex = TWO[name]
    kinds = draw(st.sampled_from(_PAIRS + (_COMPLEX_PAIRS if takes_complex else ())))
    arrays = [
        make(draw, shape, kind)
        for make, shape, kind in zip((first, second), broadcast_shapes(draw, 2), kinds, strict=True)
    ]
    alone = draw(st.sampled_from((None, 0, 1)))
    if alone is None:
        return Call(
            [seen(draw, x) for x in arrays], lambda bg, x, y: getattr(bg, name)(x, y),
            lambda x, y: getattr(np, theirs)(x, y),
        )  # fmt: skip
    number = (second if alone == 0 else first)(draw, (), kinds[1 - alone]).item()

    def pair(x: Any) -> tuple[Any, Any]:
        return (x, number) if alone == 0 else (number, x)

    return Call(
        [seen(draw, arrays[alone])], lambda bg, x: getattr(bg, name)(*pair(x)),
        lambda x: getattr(np, theirs)(*pair(x)),
    )  # fmt: skip


@entry(ELEMENTWISE, "where")
def _(draw: Draw, name: str) -> Call:
    shape, *others = broadcast_shapes(draw, 3)
    kinds = draw(st.sampled_from(_PAIRS + _COMPLEX_PAIRS))
    condition = numbers(draw, shape) > 0
    operands = [seen(draw, numbers(draw, s, k)) for s, k in zip(others, kinds, strict=True)]
    if draw(st.booleans()):
        return Call(
            operands, lambda bg, x, y: bg.where(bg.asarray(condition), x, y),
            lambda x, y: np.where(condition, x, y),
        )  # fmt: skip
    return Call(
        operands[:1], lambda bg, x: bg.where(bg.asarray(condition), 0.5, x),
        lambda x: np.where(condition, 0.5, x),
    )  # fmt: skip


@entry(ELEMENTWISE, "clip")
def _(draw: Draw, name: str) -> Call:
    """Elements and bounds have different grids, so that bounds may be in the wrong order."""
    shape, low, high = broadcast_shapes(draw, 3)
    dtype = draw(st.sampled_from(REAL))
    operands = [
        seen(draw, on_grid(draw, s, offset, dtype))
        for s, offset in ((shape, 0), (low, 0.0625), (high, 0.125))
    ]
    form = draw(st.sampled_from(("numbers", "both", "min", "max")))
    if form == "numbers":
        bounds = draw(st.sampled_from(((-0.7, 0.9), (None, 0.55), (-0.55, None), (0.55, -0.45))))
        return Call(operands[:1], lambda bg, x: bg.clip(x, *bounds), lambda x: np.clip(x, *bounds))
    if form == "both":
        return Call(operands, lambda bg, x, a, b: bg.clip(x, a, b), np.clip)
    if form == "min":
        return Call(operands[:2], lambda bg, x, a: bg.clip(x, a), lambda x, a: np.clip(x, a, None))
    return Call(
        [operands[0], operands[2]], lambda bg, x, b: bg.clip(x, max=b),
        lambda x, b: np.clip(x, None, b),
    )  # fmt: skip
