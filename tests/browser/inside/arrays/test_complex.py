"""Functions of complex numbers and special values, against NumPy's in complex128."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.special_complex import POINTS, VALUES

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: The bounds of shaders/lib/complex, plus the errors of a GPU's division and square root.
ULP = 2.0**-23
BOUND = 10 * ULP
#: Each family is one kernel.
FAMILIES = (
    ("exp", "expm1"),
    ("log", "log1p", "log2", "log10", "sqrt"),
    ("sin", "cos", "tan"),
    ("sinh", "cosh", "tanh"),
    ("asin", "acos", "atan"),
    ("asinh", "acosh", "atanh"),
    ("reciprocal", "sign", "square", "abs", "round", "conj", "negative", "positive"),
)
NUMPYS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "round": "rint",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip


def usual(n: int = 200) -> np.ndarray:
    """Return numbers of many sizes, some of them near zeros, poles and branch points."""
    rng = np.random.default_rng(5)
    turn = np.exp(2j * np.pi * rng.random(n))
    parts = [rng.standard_normal(n) + 1j * rng.standard_normal(n)]
    parts.append(10.0 ** rng.uniform(-3, 1.5, n) * turn)
    parts += [at + 10.0 ** rng.uniform(-3, -1, n) * turn for at in (1, -1, 1j, np.pi / 2)]
    return np.concatenate(parts).astype(np.complex64)


def pairs(text: str) -> np.ndarray:
    """Parse "1 -0, inf nan" as complex numbers."""
    parts = [[float(part) for part in one.split()] for one in text.split(", ")]
    return np.array(parts).view(np.complex128)[:, 0]


def error(got: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest error relative to the expected value."""
    with np.errstate(all="ignore"):
        found = np.abs(got - expected) / np.maximum(np.abs(expected), 1e-30)
    return float(found.max())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[0])
def test_functions(bg: Any, family: tuple[str, ...]) -> None:
    x, corners = usual(), pairs(POINTS)
    z = bg.asarray(np.concatenate([x, corners.astype(np.complex64)]))
    found = {name: getattr(bg, name)(z) for name in family}
    for name, array in found.items():
        got = array.numpy()
        assert got.dtype == (np.float32 if name == "abs" else np.complex64)
        expected = getattr(np, NUMPYS.get(name, name))(x.astype(np.complex128))
        assert error(got[: x.size], expected) < BOUND, name
        if name in VALUES:
            for at, one, other in zip(corners, got[x.size :], pairs(VALUES[name]), strict=True):
                assert is_same(one, other), f"{name} of {at}: {one}, not {other}"


def is_same(got: complex, expected: complex) -> bool:
    given, wanted = (np.array([z.real, z.imag]) for z in (got, expected))
    near = np.allclose(given, wanted, rtol=1e-6, atol=1e-6, equal_nan=True)
    if np.isnan(wanted).any():  # the sign of the part beside a NaN is unspecified
        given, wanted = np.abs(given), np.abs(wanted)
        return bool(np.allclose(given, wanted, rtol=1e-6, atol=1e-6, equal_nan=True))
    is_zero = wanted == 0
    return bool(near and (np.signbit(given) == np.signbit(wanted))[is_zero].all())


def test_quotients_and_powers(bg: Any) -> None:
    rng = np.random.default_rng(7)
    a, b = ((rng.standard_normal(300) + 1j * rng.standard_normal(300)) for _ in range(2))
    scales = 10.0 ** rng.uniform(-30, 30, (2, 300))
    p = np.concatenate([a, a * scales[0]]).astype(np.complex64)
    q = np.concatenate([b, b * scales[1]]).astype(np.complex64)
    p[0], q[0] = 3e38 + 3e38j, 2e38 - 3e38j
    wide_p, wide_q = p.astype(np.complex128), q.astype(np.complex128)
    whole = (np.arange(600) % 13 - 6).astype(np.complex64)
    x, y, n = map(bg.asarray, (p[:300], q[:300], whole[:300]))
    quotient, size = bg.asarray(p) / bg.asarray(q), abs(bg.asarray(p))
    inside = (np.abs(wide_p / wide_q) > 1e-30) & (np.abs(wide_p / wide_q) < 1e38)
    assert inside.sum() > 400
    assert error(quotient.numpy()[inside], (wide_p / wide_q)[inside]) < BOUND
    shown = np.abs(wide_p) < 3.4e38
    assert error(size.numpy()[shown], np.abs(wide_p)[shown]) < BOUND
    with np.errstate(all="ignore"):
        powers = wide_p[1:300] ** wide_q[1:300]
        growth = 1 + np.abs(wide_q[1:300] * np.log(wide_p[1:300]))
        distance = np.abs((x**y).numpy()[1:] - powers) / np.abs(powers) / growth
    assert distance.max() < BOUND
    expected = wide_p[1:300] ** whole[1:300].real.astype(int)
    assert error((x**n).numpy()[1:], expected) < 2 * BOUND


def test_corners_of_quotients_and_powers(bg: Any) -> None:
    inf, nan = np.inf, np.nan
    rows = [  # a, b, a / b by C17 G.5.1
        (1, 0, complex(inf, nan)), (1 + 1j, complex(-0.0, 0), complex(-inf, -inf)),
        (0, 0, complex(nan, nan)), (complex(inf, 1), 2, complex(inf, nan)),
        (complex(inf, nan), 1 + 1j, complex(inf, -inf)), (1 + 1j, complex(inf, nan), 0),
        (complex(nan, 0), 1, complex(nan, nan)), (inf, inf, complex(nan, nan)),
    ]  # fmt: skip
    a, b, expected = (np.array(column, np.complex64) for column in zip(*rows, strict=True))
    got = (bg.asarray(a) / bg.asarray(b)).numpy()
    np.testing.assert_array_equal(np.abs(got.real), np.abs(expected.real))
    np.testing.assert_array_equal(np.abs(got.imag), np.abs(expected.imag))
    z = bg.asarray(np.array([0, 0, 0, 2, 1j], np.complex64))
    w = bg.asarray(np.array([0, 2, -1, 0, 2], np.complex64))
    np.testing.assert_allclose((z**w).numpy(), [1, 0, complex(nan, nan), 1, -1], atol=1e-6)
    z = bg.asarray(np.array([1, complex(inf, nan), complex(nan, 0), complex(0, -inf)], "c8"))
    for name, truths in (
        ("isnan", [0, 1, 1, 0]), ("isinf", [0, 1, 0, 1]), ("isfinite", [1, 0, 0, 0]),
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(bg, name)(z).numpy(), np.array(truths, bool))


def test_mixed_operands(bg: Any) -> None:
    z = np.array([1 + 2j, -0.5j], np.complex64)
    x = np.array([4, -2], np.int16)
    for got, expected in (
        (bg.asarray(x) / bg.asarray(z), x / z), (bg.asarray(z) ** 2, z**2),
        (2.0 ** bg.asarray(z), 2.0**z), (bg.asarray(np.float32([2, 3])) * 1j, [2j, 3j]),
        (bg.exp(1j * bg.asarray(x)), np.exp(1j * x)), (bg.asarray(z) - bg.asarray(x), z - x),
        (np.exp(bg.asarray(z)), np.exp(z)), (bg.asarray(z) / 2, z / 2),
    ):  # fmt: skip
        assert isinstance(got, bg.Array)
        assert got.dtype == np.complex64
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5)
    with pytest.raises(TypeError):
        bg.atan2(bg.asarray(z), bg.asarray(z))
