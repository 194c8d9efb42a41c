"""Loss functions and distances."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from inside.gradients.losses_reference import REDUCTIONS
from inside.networks.known import Known, Table, random

X, Y, Z = (random(3, 4, seed=n) for n in (0, 1, 2))
SHARES = [random(3, 4, seed=n, low=0.05, high=0.95) for n in (3, 4, 5)]
SIGNS = np.random.default_rng(1).choice(np.float32([-1, 1]), (3, 4))
CLASSES, SEVERAL = np.int32([1, 0, 3]), np.int32([[1, 0, -1, 2], [3, -1, 0, 0], [-1, 0, 1, 2]])
WEIGHT = np.float32([0.5, 2, 1, 0.25])


def _each(name: str, arrays: Any, theirs: Any, *given: Any, **more: Any) -> list[Known]:
    """Return a call for each reduction, with constants after the arrays."""

    def ours(bg: Any, arrays: Any, reduction: str) -> Any:
        own = [bg.asarray(x) if isinstance(x, np.ndarray) else x for x in given]
        return getattr(bg.nn, name)(*arrays, *own, reduction=reduction, **more)

    return [
        Known(tuple(arrays), lambda bg, *v, r=reduction: ours(bg, v, r),
              lambda *v, r=reduction: REDUCTIONS[r](theirs(*v)))
        for reduction in REDUCTIONS
    ]  # fmt: skip


def _positive(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def _stirling(t: np.ndarray) -> np.ndarray:
    own = np.where(t > 1, t, 1)
    return np.where(t > 1, own * np.log(own) - own + np.log(2 * np.pi * own) / 2, 0)


def _distance(a: np.ndarray, b: np.ndarray, p: float = 2.0) -> np.ndarray:
    return (np.abs(a - b + 1e-6) ** p).sum(-1) ** (1 / p)


def _cosine(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
    size = np.sqrt((a * a).sum(axis) * (b * b).sum(axis))
    return (a * b).sum(axis) / size


def _triplets(a: np.ndarray, b: np.ndarray, c: np.ndarray, p: float, swap: bool) -> np.ndarray:
    far = _distance(a, c, p)
    return _positive(_distance(a, b, p) - (np.minimum(far, _distance(b, c, p)) if swap else far)
                     + 1.2)  # fmt: skip


def _multi_margin(x: np.ndarray, p: int, margin: float, weight: Any = (1, 1, 1, 1)) -> np.ndarray:
    rows = []
    for row, y in zip(x, CLASSES, strict=True):
        terms = [_positive(margin - row[y] + row[i]) ** p for i in range(4) if i != y]
        rows.append(sum(terms) * weight[y] / 4)
    return np.stack(rows)


def _multilabel(x: np.ndarray) -> np.ndarray:
    rows = []
    for row, goals in zip(x, SEVERAL, strict=True):
        known = list(goals[: list(goals).index(-1)])
        terms = [_positive(1 - row[y] + row[i]) for y in known for i in range(4) if i not in known]
        rows.append(sum(terms, row[0] * 0) / 4)
    return np.stack(rows)


def _log_sigmoid(x: np.ndarray) -> np.ndarray:
    return -np.logaddexp(-x, 0)


def paths(logs: np.ndarray, labels: Any, blank: int) -> np.ndarray:
    """Return the CTC loss of [T, C] by definition: the sum over all alignments of the steps."""
    total = -np.inf
    for path in product(range(logs.shape[1]), repeat=logs.shape[0]):
        merged = [c for n, c in enumerate(path) if n == 0 or c != path[n - 1]]
        if [c for c in merged if c != blank] == list(labels):
            total = np.logaddexp(total, sum(logs[n, c] for n, c in enumerate(path)))
    return -total


#: Samples with repeated labels, fewer steps than T, fewer labels than S, and no labels.
_LABELS = np.int32([[1, 2, 0], [2, 2, 1], [1, 0, 0], [2, 1, 2]])
_STEPS, _NUMBERS = np.int32([4, 4, 3, 2]), np.int32([2, 2, 1, 0])


def _ctc(x: np.ndarray, reduction: str) -> Any:
    losses = np.stack([
        paths(x[:t, n], _LABELS[n, :count], 0)
        for n, (t, count) in enumerate(zip(_STEPS, _NUMBERS, strict=True))
    ])  # fmt: skip
    if reduction == "mean":
        losses = losses / np.maximum(_NUMBERS, 1)
    return REDUCTIONS[reduction](losses)


_LOGS = np.log(np.random.default_rng(7).dirichlet(np.ones(3), (4, 4))).astype(np.float32)

CASES: Table = {
    "binary_cross_entropy": [
        *_each("binary_cross_entropy", SHARES[:2],
               lambda x, t: -(t * np.log(x) + (1 - t) * np.log(1 - x))),
        *_each("binary_cross_entropy", [*SHARES[:2], WEIGHT],
               lambda x, t, w: -(t * np.log(x) + (1 - t) * np.log(1 - x)) * w),
    ],
    "kl_div": [
        *_each("kl_div", [X, SHARES[0]], lambda x, t: t * (np.log(t) - x)),
        *_each("kl_div", [X, -SHARES[0]], lambda x, t: np.exp(t) * (t - x), log_target=True),
        Known((X, SHARES[0]), lambda bg, x, t: bg.nn.kl_div(x, t, reduction="batchmean"),
              lambda x, t: (t * (np.log(t) - x)).sum() / 3),
    ],
    "poisson_nll_loss": [
        *_each("poisson_nll_loss", [X, SHARES[0] * 4 + 0.06], lambda x, t: np.exp(x) - t * x),
        *_each("poisson_nll_loss", [SHARES[0], SHARES[1] * 3 + 1.1],
               lambda x, t: x - t * np.log(x + 0.1) + _stirling(t), False, True, 0.1),
    ],
    "gaussian_nll_loss": [
        *_each("gaussian_nll_loss", [X, Y, SHARES[0]],
               lambda x, t, v: (np.log(v) + (x - t) ** 2 / v) / 2),
        *_each("gaussian_nll_loss", [X, Y, SHARES[0][:, 0]],
               lambda x, t, v: (np.log(v[:, None]) + (x - t) ** 2 / v[:, None]
                                + np.log(2 * np.pi)) / 2, full=True),
        *_each("gaussian_nll_loss", [X, Y], lambda x, t: (np.log(0.5) + (x - t) ** 2 / 0.5) / 2,
               0.5),
    ],
    "hinge_embedding_loss": _each(
        "hinge_embedding_loss", [X], lambda x: np.where(SIGNS > 0, x, _positive(0.7 - x)),
        SIGNS, 0.7,
    ),
    "margin_ranking_loss": _each(
        "margin_ranking_loss", [X, Y], lambda x, y: _positive(SIGNS * (y - x) + 0.3), SIGNS, 0.3,
    ),
    "soft_margin_loss": _each(
        "soft_margin_loss", [X], lambda x: np.logaddexp(-SIGNS * x, 0), SIGNS,
    ),
    "multilabel_soft_margin_loss": [
        *_each("multilabel_soft_margin_loss", [X, SHARES[0]],
               lambda x, t: -(t * _log_sigmoid(x) + (1 - t) * _log_sigmoid(-x)).mean(-1)),
        *_each("multilabel_soft_margin_loss", [X, SHARES[0], WEIGHT],
               lambda x, t, w: -(w * (t * _log_sigmoid(x) + (1 - t) * _log_sigmoid(-x))).mean(-1)),
    ],
    "multi_margin_loss": [
        *_each("multi_margin_loss", [X], lambda x: _multi_margin(x, 1, 1.0), CLASSES),
        *_each("multi_margin_loss", [X], lambda x: _multi_margin(x, 2, 0.8, WEIGHT), CLASSES, 2,
               0.8, WEIGHT),
    ],
    "multilabel_margin_loss": _each("multilabel_margin_loss", [X], _multilabel, SEVERAL),
    "cosine_similarity": [
        Known((X, Y), lambda bg, x, y: bg.nn.cosine_similarity(x, y), _cosine),
        Known((X, Y[:, :1]), lambda bg, x, y: bg.nn.cosine_similarity(x, y, 0),
              lambda x, y: _cosine(x, np.broadcast_to(y, x.shape), 0)),
    ],
    "pairwise_distance": [
        Known((X, Y), lambda bg, x, y: bg.nn.pairwise_distance(x, y), _distance),
        Known((X, Y[0]), lambda bg, x, y: bg.nn.pairwise_distance(x, y, 1.0, keepdim=True),
              lambda x, y: _distance(x, y, 1)[:, None]),
    ],
    "cosine_embedding_loss": _each(
        "cosine_embedding_loss", [X, Y],
        lambda x, y: np.where(SIGNS[:, 0] > 0, 1 - _cosine(x, y), _positive(_cosine(x, y) - 0.1)),
        SIGNS[:, 0], 0.1,
    ),
    "triplet_margin_loss": [
        *_each("triplet_margin_loss", [X, Y, Z], lambda *v: _triplets(*v, 2, False), 1.2),
        *_each("triplet_margin_loss", [X, Y, Z], lambda *v: _triplets(*v, 3, True), 1.2, 3,
               swap=True),
    ],
    "ctc_loss": [
        Known((_LOGS,), lambda bg, x, r=reduction: bg.nn.ctc_loss(
            x, bg.asarray(_LABELS), bg.asarray(_STEPS), bg.asarray(_NUMBERS), reduction=r
        ), lambda x, r=reduction: _ctc(x, r))
        for reduction in REDUCTIONS
    ],
}  # fmt: skip
