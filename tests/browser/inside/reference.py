"""Reference results of the operations, in float64 NumPy, from their definitions.

The code is simple and slow on purpose, and shares no code with the package.
"""

from __future__ import annotations

import math

import numpy as np


def gemm(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    *,
    trans_a: bool,
    trans_b: bool,
    alpha: float,
    beta: float,
) -> np.ndarray:
    """Return alpha op(A) op(B) + beta C; C is not read when beta is 0."""
    left = a.astype(np.float64).T if trans_a else a.astype(np.float64)
    right = b.astype(np.float64).T if trans_b else b.astype(np.float64)
    with np.errstate(all="ignore"):
        product = alpha * (left @ right)
        return product if beta == 0 else product + beta * c.astype(np.float64)


def gemm_magnitude(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, *, trans_a: bool, trans_b: bool, **scalars: float
) -> np.ndarray:
    """Return |alpha| |op(A)| |op(B)| + |beta| |C|, the scale of gemm's rounding errors."""
    return gemm(
        np.abs(a),
        np.abs(b),
        np.abs(c),
        trans_a=trans_a,
        trans_b=trans_b,
        alpha=abs(scalars["alpha"]),
        beta=abs(scalars["beta"]),
    )


def conv2d_shape(
    inputs: tuple[int, ...],
    filters: tuple[int, ...],
    stride: tuple[int, int],
    padding: tuple[int, int],
) -> tuple[int, int, int, int]:
    """Return the output shape of a convolution of [N, C, H, W] with [K, C, R, S]."""
    high = (inputs[2] + 2 * padding[0] - filters[2]) // stride[0] + 1
    wide = (inputs[3] + 2 * padding[1] - filters[3]) // stride[1] + 1
    return inputs[0], filters[0], high, wide


def conv2d(
    images: np.ndarray, filters: np.ndarray, stride: tuple[int, int], padding: tuple[int, int]
) -> np.ndarray:
    """Return the cross-correlation, which deep-learning libraries call convolution."""
    images, filters = images.astype(np.float64), filters.astype(np.float64)
    shape = conv2d_shape(images.shape, filters.shape, stride, padding)
    high, wide = shape[2:]
    (ph, pw), (sh, sw) = padding, stride
    padded = np.pad(images, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    result = np.zeros(shape)
    with np.errstate(invalid="ignore"):
        for r in range(filters.shape[2]):
            for s in range(filters.shape[3]):
                window = padded[:, :, r : r + sh * high : sh, s : s + sw * wide : sw]
                window = window[:, :, :high, :wide]
                result += np.einsum("nchw,kc->nkhw", window, filters[:, :, r, s])
    return result


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, *, scale: float, causal: bool
) -> np.ndarray:
    """Return softmax(scale q kᵀ) v over [batch, heads, sequence, head_dim].

    With ``causal``, a query sees only keys up to its own position.
    """
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = scale * np.einsum("bhqd,bhkd->bhqk", q, k)
    if causal:
        later = np.arange(k.shape[2])[None, :] > np.arange(q.shape[2])[:, None]
        scores = np.where(later, -np.inf, scores)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", weights, v)


def reduce(op: str, x: np.ndarray, axis: int) -> np.ndarray:
    """Return the sum, max, min or mean along an axis."""
    with np.errstate(all="ignore"):
        return getattr(np, op)(x.astype(np.float64), axis=axis)


def unary(op: str, x: np.ndarray) -> np.ndarray:
    """Return a unary op's result."""
    with np.errstate(all="ignore"):
        return UNARY[op](x.astype(np.float64))


def binary(op: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the result of one of the seven binary ops."""
    with np.errstate(all="ignore"):
        return _BINARY[op](a.astype(np.float64), b.astype(np.float64))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def _gelu(x: np.ndarray) -> np.ndarray:
    # The tanh form, 0.5 x (1 + tanh u), uses 1 + tanh u = 2 / (1 + exp(-2u)), because the sum would
    # cancel for negative x even in float64.
    return x / (1.0 + np.exp(-2.0 * gelu_argument(x)))


def gelu_argument(x: np.ndarray) -> np.ndarray:
    """Return u in gelu's tanh form."""
    return np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)


UNARY = {
    "relu": lambda x: np.maximum(x, 0.0),
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "neg": np.negative,
    "gelu": _gelu,
    "silu": lambda x: x * _sigmoid(x),
    "gelu_erf": lambda x: 0.5 * x * np.vectorize(math.erfc, otypes=[np.float64])(-x / np.sqrt(2.0)),
}

_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
}

UNARY_OPS = tuple(UNARY)
BINARY_OPS = tuple(_BINARY)
REDUCE_OPS = ("sum", "max", "min", "mean")
