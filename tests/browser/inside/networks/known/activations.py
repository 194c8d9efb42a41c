"""Activation functions."""

from __future__ import annotations

import numpy as np

from inside.networks.known import Known, Table, random, settings

#: On both sides of every kink, and on no kink.
X = np.float32([[-7, -3.4, -2.2, -0.75, -0.2], [0.3, 0.9, 2.6, 3.7, 6.5]])

_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805


def _expm1(x: np.ndarray) -> np.ndarray:
    return np.expm1(np.minimum(x, 0))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    found = np.exp(x - x.max(axis, keepdims=True))
    return found / found.sum(axis, keepdims=True)


def _glu(x: np.ndarray, axis: int) -> np.ndarray:
    a, b = np.split(x, 2, axis)
    return a * _sigmoid(b)


def _prelu(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, x * (w if w.size == 1 else w.reshape(-1, *(1,) * (x.ndim - 2))))


CASES: Table = {
    "threshold": [Known((X,), lambda bg, x: bg.nn.threshold(x, 0.5, -4),
                        lambda x: np.where(x > 0.5, x, -4))],
    "hardtanh": settings("hardtanh", X, ({}, lambda x: np.clip(x, -1, 1)),
                         ({"min_val": -3, "max_val": 2.0}, lambda x: np.clip(x, -3, 2))),
    "relu6": settings("relu6", X, ({}, lambda x: np.clip(x, 0, 6))),
    "hardsigmoid": settings("hardsigmoid", X, ({}, lambda x: np.clip(x + 3, 0, 6) / 6)),
    "hardshrink": settings(
        "hardshrink", X, ({}, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
        ({"lambd": 3}, lambda x: np.where(np.abs(x) > 3, x, 0)),
    ),
    "softshrink": settings(
        "softshrink", X, ({}, lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
        ({"lambd": 3}, lambda x: np.sign(x) * np.maximum(np.abs(x) - 3, 0)),
    ),
    "selu": settings("selu", X, ({}, lambda x: _SCALE * np.where(x > 0, x, _ALPHA * _expm1(x)))),
    "celu": settings("celu", X, ({}, lambda x: np.where(x > 0, x, _expm1(x))),
                     ({"alpha": 2.5}, lambda x: np.where(x > 0, x, 2.5 * _expm1(x / 2.5)))),
    "prelu": [
        Known((X, np.float32([0.3])), lambda bg, x, w: bg.nn.prelu(x, w), _prelu),
        Known((X.reshape(1, 2, 5), np.float32([0.3, -2])), lambda bg, x, w: bg.nn.prelu(x, w),
              _prelu),
    ],
    "rrelu": [
        Known((X,), lambda bg, x: bg.nn.rrelu(x, 0.2, 0.6), lambda x: np.where(x > 0, x, 0.4 * x)),
        Known((X,), lambda bg, x: bg.nn.rrelu(
            x, 0.5, 0.5, True, generator=bg.random.default_rng(3)
        ), lambda x: np.where(x > 0, x, 0.5 * x)),
    ],
    "mish": settings("mish", X, ({}, lambda x: x * np.tanh(np.logaddexp(x, 0)))),
    "logsigmoid": settings("logsigmoid", X, ({}, lambda x: -np.logaddexp(-x, 0))),
    "softsign": settings("softsign", X, ({}, lambda x: x / (1 + np.abs(x)))),
    "tanhshrink": settings("tanhshrink", X, ({}, lambda x: x - np.tanh(x))),
    "glu": settings("glu", random(2, 4), ({}, lambda x: _glu(x, 1)),
                    ({"dim": 0}, lambda x: _glu(x, 0))),
    "softmin": settings("softmin", random(2, 4), ({}, lambda x: softmax(-x, 1)),
                        ({"dim": 0}, lambda x: softmax(-x, 0))),
}  # fmt: skip
