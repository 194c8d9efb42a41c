"""Kernels for inference beside NumPy, and their refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.fast]


def test_rms_norm(bg: Any) -> None:
    from browsergpu.functions.language.attention import rms_norm

    x = np.random.default_rng(0).standard_normal((3, 5, 300)).astype(np.float32)
    weight = np.linspace(0.5, 2, 300, dtype=np.float32)
    found = np.asarray(rms_norm(bg.asarray(x)[:, 1:], bg.asarray(weight), 1e-5))
    own = x[:, 1:].astype(np.float64)
    expected = own / np.sqrt((own**2).mean(-1, keepdims=True) + 1e-5) * weight
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"weight must have shape \(300,\)"):
        rms_norm(bg.asarray(x), bg.ones(3), 1e-5)


def test_gradients_are_refused(bg: Any) -> None:
    from browsergpu.functions.language.attention import cached_attention, rms_norm

    x = bg.ones((2, 1, 8)).requires_grad_(True)
    cache, position = bg.ones((1, 4, 8)), bg.zeros(1, dtype="int32")
    with pytest.raises(bg.errors.NotDifferentiable, match="no gradient"):
        rms_norm(x, bg.ones(8), 1e-5)
    with pytest.raises(bg.errors.NotDifferentiable, match="scaled_dot_product_attention"):
        cached_attention(x, cache, cache, position, 1.0)
    with bg.no_grad():
        assert cached_attention(x, cache, cache, position, 1.0).shape == (2, 1, 8)


def test_attention_refuses_other_shapes(bg: Any) -> None:
    from browsergpu.functions.language.attention import cached_attention, rotate, store

    q, cache, position = bg.ones((2, 4, 8)), bg.ones((2, 4, 8)), bg.zeros(1, dtype="int32")
    with pytest.raises(ValueError, match="keys must have shape"):
        cached_attention(q, bg.ones((3, 4, 8)), bg.ones((3, 4, 8)), position, 1.0)
    with pytest.raises(ValueError, match="values must have shape"):
        cached_attention(q, cache, bg.ones((2, 5, 8)), position, 1.0)
    with pytest.raises(TypeError, match="position must be an int32 array"):
        cached_attention(q, cache, cache, bg.zeros(1), 1.0)
    with pytest.raises(ValueError, match="multiple of 4"):
        cached_attention(bg.ones((2, 4, 6)), bg.ones((2, 4, 6)), bg.ones((2, 4, 6)), position, 1.0)
    with pytest.raises(ValueError, match="angles must have shape"):
        rotate(q, bg.ones((4, 5, 2)), position)
    with pytest.raises(ValueError, match="cache must have shape"):
        store(q, cache, bg.ones((4, 2, 2)), position)
