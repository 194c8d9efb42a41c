"""Rows of tables, and their combinations."""

from __future__ import annotations

from typing import Any

import numpy as np

from inside.networks.known import Known, Table, random

INDICES = np.int32([[1, 2, 2], [0, 4, 1]])
FLAT, OFFSETS = np.int32([1, 2, 2, 0, 4, 1, 3]), [0, 3, 3, 5]
TABLE = random(5, 3)


def _bags(w: np.ndarray, bags: Any, mode: str, padding: int | None, shares: Any = None) -> Any:
    found, at = np.zeros((len(bags), w.shape[1])), 0
    for n, bag in enumerate(bags):
        rows = np.stack([w[i] for i in bag]) if len(bag) else np.zeros((0, w.shape[1]))
        if shares is not None:
            rows = rows * shares[at : at + len(bag), None]
        at += len(bag)
        rows = rows[[i != padding for i in bag]] if len(bag) else rows
        if len(rows):
            found[n] = getattr(np, mode)(rows, axis=0)
    return found


def _call(bags: Any, mode: str, *given: Any, **more: Any) -> Known:
    def ours(bg: Any, w: Any) -> Any:
        own = [bg.asarray(x) if isinstance(x, np.ndarray) else x for x in given]
        return bg.nn.embedding_bag(own[0], w, *own[1:], mode=mode, **more)

    return Known((TABLE,), ours, lambda w: _bags(w, bags, mode, more.get("padding_idx")))


_OF_OFFSETS = np.split(FLAT, OFFSETS[1:])

CASES: Table = {
    "embedding_bag": [
        *(_call(INDICES, mode, INDICES, **more) for mode in ("sum", "mean", "max")
          for more in ({}, {"padding_idx": 2})),
        *(_call(_OF_OFFSETS, mode, FLAT, OFFSETS, **more) for mode in ("sum", "mean", "max")
          for more in ({}, {"padding_idx": 4})),
        *(_call(_OF_OFFSETS, mode, FLAT, np.int32([*OFFSETS, 7]), include_last_offset=True)
          for mode in ("sum", "max")),
        Known(
            (TABLE, random(7, seed=1)),
            lambda bg, w, s: bg.nn.embedding_bag(
                bg.asarray(FLAT), w, OFFSETS, mode="sum", per_sample_weights=s
            ), lambda w, s: _bags(w, _OF_OFFSETS, "sum", None, s),
        ),
    ],
}  # fmt: skip
