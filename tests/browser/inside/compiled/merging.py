"""Comparison of compiled functions with and without optimization."""

from __future__ import annotations

from typing import Any

import numpy as np


def data(bg: Any, *shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    values = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return bg.asarray(values.astype(dtype))


def near(x: Any, y: Any) -> None:
    """Compare within 16 roundings of the largest element: kernels differ in the order of sums."""
    x, y = np.asarray(x), np.asarray(y)
    assert x.dtype == y.dtype
    assert x.shape == y.shape
    kind = "complex128" if y.dtype.kind == "c" else "float64"
    wide = y.astype(kind)
    eps = float(np.finfo(y.dtype).eps) if y.dtype.kind in "fc" else 0.0
    atol = 16 * eps * float(np.abs(wide[np.isfinite(wide)]).max(initial=0))
    np.testing.assert_allclose(x.astype(kind), wide, rtol=0, atol=atol)


def both(bg: Any, f: Any, *args: Any) -> list[str]:
    """Compare replays with and without optimization. Return the merged kernels."""
    fast, plain = bg.jit(f), bg.jit(f, optimize=False)
    for _ in range(3):
        found, wanted = fast(*args), plain(*args)
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        for x, y in pairs:
            near(x, y)
    variant = fast.explain().variants[0]
    assert variant["kernels"] <= plain.explain().variants[0]["kernels"]
    assert not plain.explain().variants[0]["merged"]
    return [name for name, times in variant["merged"].items() for _ in range(times)]
