"""The allowed error of a float32 result, per op, with the reason.

The bounds follow from WGSL's "Accuracy of Concrete Floating Point Expressions" for f32:

    x + y, x - y, x * y     correctly rounded (half an ULP)
    x / y                   2.5 ULP
    exp(x), exp2(x)         3 + 2 |x| ULP
    log(x), log2(x)         2^-21 absolute for 0.5 <= x <= 2, else 3 ULP
    inverseSqrt(x)          2 ULP
    sqrt(x)                 that of 1 / inverseSqrt(x)
    tanh(x)                 1e-5 absolute at worst
    abs, max, min, -x       exact

and from the standard bound for sums (Higham, "Accuracy and Stability of Numerical Algorithms",
3.1): n additions in any order have an error of at most n u times the sum of magnitudes.
Implementations may flush subnormal numbers to zero, which SUBNORMAL allows for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from inside import reference

ULP = 2.0**-23  # relative size of an ULP, at most
U = 2.0**-24  # unit roundoff
SUBNORMAL = 2.0**-126
F16_U = 2.0**-11


class Tolerance(NamedTuple):
    """Arguments for assert_matches: ``**tolerance._asdict()``."""

    rtol: np.ndarray | float
    atol: np.ndarray | float
    why: str


def unary(op: str, x: np.ndarray) -> Tolerance:
    """The tolerance of a unary op at each x."""
    with np.errstate(all="ignore"):
        rtol, atol, why = _UNARY[op](x.astype(np.float64))
    # NaN and infinite results are compared by position, so any finite tolerance will do.
    return Tolerance(np.nan_to_num(rtol, posinf=0.0), np.nan_to_num(atol, posinf=0.0), why)


def binary(op: str, a: np.ndarray, b: np.ndarray) -> Tolerance:
    """The tolerance of a binary op at each pair."""
    if op in ("max", "min"):
        return Tolerance(0.0, 0.0, "chooses one of its arguments: exact")
    if op == "div":
        return Tolerance(2.5 * ULP, SUBNORMAL, "division: 2.5 ULP")
    if op == "pow":
        return Tolerance(2 * ULP, SUBNORMAL, "pow: log2 and exp2 to more digits than float32's")
    return Tolerance(U, SUBNORMAL, "correctly rounded")


def gemm(magnitude: np.ndarray, k: int) -> Tolerance:
    """Return gemm's tolerance: k products, k sums, two scalings, one sum.

    `magnitude` is |alpha| |A| |B| + |beta| |C|.
    """
    return Tolerance(0.0, (2 * k + 4) * U * magnitude + SUBNORMAL, f"sum over k={k} in float32")


def gemm_f16(magnitude: np.ndarray, k: int) -> Tolerance:
    """Return the tolerance of float32 sums with one rounding to float16."""
    atol = (2 * k + 4) * U * magnitude + 2.0**-24
    return Tolerance(1.01 * F16_U, atol, "float32 sums, one rounding to float16 (2^-11)")


def conv2d(magnitude: np.ndarray, terms: int) -> Tolerance:
    """Return conv2d's tolerance.

    `magnitude` is the convolution of the magnitudes; `terms` = C R S.
    """
    return Tolerance(0.0, 2 * terms * U * magnitude + SUBNORMAL, f"sum of {terms} products")


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float) -> Tolerance:
    """Return attention's tolerance.

    Scores are sums of head_dim products. An error e of a score multiplies its weight by exp(e). exp
    itself adds 3 + 2 |score - max| ULP, and the weighted sum one ULP per key.
    """
    q, k, v = (np.abs(x.astype(np.float64)) for x in (q, k, v))
    head_dim, keys = q.shape[-1], k.shape[2]
    size = scale * np.einsum("bhqd,bhkd->bhqk", q, k)
    score_error = (2 * head_dim + 3) * U * size.max(axis=-1, keepdims=True)
    # Scores far below the maximum have no weight: exp(-40) < 2^-57.
    spread = np.minimum(2 * size.max(axis=-1, keepdims=True), 40.0)
    weight_error = 2 * score_error + (3 + 2 * spread) * ULP + 2 * keys * U + 4 * ULP
    largest = v.max(axis=2, keepdims=True)
    return Tolerance(0.0, 2 * weight_error * largest + SUBNORMAL, "softmax of float32 scores")


def reduce(op: str, x: np.ndarray, axis: int) -> Tolerance:
    """Return reduce's tolerance.

    Sums have an error of at most (n - 1) u times the sum of magnitudes; max and min are exact.
    """
    if op in ("max", "min"):
        return Tolerance(0.0, 0.0, "chooses one of its arguments: exact")
    n = max(x.shape[axis], 1)
    magnitude = np.nan_to_num(np.sum(np.abs(x.astype(np.float64)), axis=axis))
    atol = n * U * magnitude + SUBNORMAL
    if op == "mean":
        # Multiplying by 1/n adds the quotient's 2.5 ULP and one rounding.
        atol = atol / n + 3 * ULP * magnitude / n + SUBNORMAL
    return Tolerance(0.0, atol, f"sum of n={n} in float32")


def _exact(x: np.ndarray) -> tuple[float, float, str]:
    return 0.0, 0.0, "changes no digit: exact"


def _exp(x: np.ndarray) -> tuple[np.ndarray, float, str]:
    return (3 + 2 * np.abs(x)) * ULP, SUBNORMAL, "exp: 3 + 2|x| ULP"


def _log(x: np.ndarray) -> tuple[float, np.ndarray, str]:
    near_one = (x >= 0.5) & (x <= 2.0)
    return 3 * ULP, np.where(near_one, 2.0**-21, 0.0), "log: 2^-21 in [0.5, 2], else 3 ULP"


def _sqrt(x: np.ndarray) -> tuple[float, float, str]:
    return 4.5 * ULP, SUBNORMAL, "1 / inverseSqrt: 2 + 2.5 ULP"


def _tanh(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    small = np.abs(x) < 0.25
    return (
        np.where(small, 8 * ULP, 0.0),
        np.where(small, SUBNORMAL, 1e-5),
        "tanh: 1e-5; below 0.25, where that would hide everything, 8 ULP",
    )


def _sigmoid(x: np.ndarray) -> tuple[np.ndarray, float, str]:
    return (7 + 2 * np.abs(x)) * ULP, SUBNORMAL, "1 / (1 + exp(-x)): exp, + and /"


# WGSL guarantees division for divisors up to 2^126. Beyond, the divisor's reciprocal is subnormal,
# and a GPU may flush it to 0 (an NVIDIA H200 does). The exact value is then below 90 × 2^-126.
_OVERFLOWN_QUOTIENT = 90 * 2.0**-126


def _silu(x: np.ndarray) -> tuple[np.ndarray, float, str]:
    return (7 + 2 * np.abs(x)) * ULP, _OVERFLOWN_QUOTIENT, "x / (1 + exp(-x)): exp, + and /"


def _gelu(x: np.ndarray) -> tuple[np.ndarray, float, str]:
    u = np.abs(reference.gelu_argument(x))
    # u has an error of 5 roundings, which exp(-2u) magnifies by 2u; exp adds 3 + 2·2u ULP.
    return (8 + 10 * u) * ULP, _OVERFLOWN_QUOTIENT, "x / (1 + exp(-2u)), u of degree 3"


def _gelu_erf(x: np.ndarray) -> tuple[np.ndarray, float, str]:
    # exp(p - z²), z² = x²/2: the roundings of the exponent scale with its size, and exp adds 3 + 2
    # z² ULP.
    size = np.minimum(x * x / 2, 100.0)
    return 1.5e-7 + (12 + 8 * size) * ULP, _OVERFLOWN_QUOTIENT, "erfc's fit, 1.2e-7, and exp(-x²/2)"


_UNARY: dict[str, Callable[[np.ndarray], tuple[np.ndarray | float, np.ndarray | float, str]]] = {
    "relu": _exact,
    "abs": _exact,
    "neg": _exact,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "gelu": _gelu,
    "gelu_erf": _gelu_erf,
}
