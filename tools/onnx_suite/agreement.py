"""A model's results beside expected ones. This module also runs in a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import browsergpu as bg


def compare(model: Any, inputs: Mapping[str, Any], expected: Sequence[Any]) -> tuple[float, int]:
    """Return the largest difference of a model, plain and compiled, and the values it read.

    Nothing may be computed by NumPy on the host, and `bg.jit` must capture the model.
    """
    # A number stays on the host, where models choose a branch by it.
    own = {name: x.item() if x.ndim == 0 else x for name, x in inputs.items()}
    compiled = bg.jit(model)
    worst, reads = 0.0, 0
    with _strict():
        for call in (model, compiled, compiled, compiled):
            found = call(**own)
            results = found if isinstance(found, tuple) else (found,)
            for got, want in zip(results, expected, strict=True):
                assert got.shape == want.shape, f"{got.shape} instead of {want.shape}"
                worst = max(worst, float(np.abs(got.numpy() - want).max()))
            reads = max(reads, model.explain().reads)
    return worst, reads


@contextmanager
def _strict() -> Iterator[None]:
    before = bg.set_fallback("error")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", bg.jit.__globals__["JitWarning"])
            yield
    finally:
        bg.set_fallback(before)
