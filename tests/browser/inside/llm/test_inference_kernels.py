"""Kernels for inference beside NumPy, and their refusals."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
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
    found = np.asarray(
        rms_norm(*map(bg.asarray, (own.astype("f"), weight)), 1e-5, bg.asarray(x)[:, :4])
    )
    assert np.allclose(found, expected + x[:, :4], rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"residual must have shape \(3, 4, 300\)"):
        rms_norm(bg.asarray(x)[:, 1:], bg.asarray(weight), 1e-5, bg.ones(300))
    with pytest.raises(ValueError, match=r"weight must have shape \(300,\)"):
        rms_norm(bg.asarray(x), bg.ones(3), 1e-5)


def test_gradients_are_refused(bg: Any) -> None:
    from browsergpu.functions.language.attention import cached_attention, rms_norm

    x = bg.ones((2, 1, 8)).requires_grad_(True)
    cache, position = bg.ones((1, 1, 4, 8)), bg.zeros(1, dtype="int32")
    with pytest.raises(bg.errors.NotDifferentiable, match="no gradient"):
        rms_norm(x, bg.ones(8), 1e-5)
    with pytest.raises(bg.errors.NotDifferentiable, match="scaled_dot_product_attention"):
        cached_attention(x, cache, cache, position, position, 1.0)
    with bg.no_grad():
        assert cached_attention(x, cache, cache, position, position, 1.0).shape == (2, 1, 8)


def _attended(
    q: Any, keys: Any, values: Any, position: Any, slots: Any, window: int, softcap: float = 0.0
) -> Any:
    """Attention to [N, G, C, D] in float64."""
    tokens, heads = q.shape[:2]
    each = tokens // len(position)
    found = np.empty(q.shape)
    for n in range(tokens):
        place, slot = position[n // each] + n % each, slots[n // each]
        first = max(place + 1 - window, 0) if window else 0
        for h in range(heads):
            g = h // (heads // keys.shape[1])
            k, v = keys[slot, g, first : place + 1], values[slot, g, first : place + 1]
            scores = k @ q[n, h] * 0.3
            scores = softcap * np.tanh(scores / softcap) if softcap else scores
            shares = np.exp(scores - scores.max())
            found[n, h] = shares / shares.sum() @ v
    return found


@pytest.mark.parametrize(("width", "window"), [(64, 0), (40, 3), (256, 0)])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("each", [3, 11])
def test_attention_of_several_sequences(
    bg: Any, each: int, dtype: str, width: int, window: int
) -> None:
    """Two of three sequences at different positions, a few tokens each."""
    from browsergpu.llm.models.cache import Cache

    random = np.random.default_rng(width)
    config = SimpleNamespace(kv_heads=2, head_width=width, layers=1)
    cache = Cache(config, 150, bg.default_device(), dtype, 3)
    keys, values = random.standard_normal((2, 3, 2, 150, width)).astype(np.float32)
    as_rows = [one.transpose(0, 2, 1, 3).reshape(-1, 2, width) for one in (keys, values)]
    cache.move_to(0, 0, 0)
    cache.add(0, *(bg.asarray(one) for one in as_rows), None, adjacent=False)
    slots, position = [2, 0], [133, 5]
    cache.select(slots, position)
    q = random.standard_normal((2 * each, 4, width)).astype(np.float32)
    new = random.standard_normal((2, 2 * each, 2, width)).astype(np.float32)
    cache.add(0, bg.asarray(new[0]), bg.asarray(new[1]), None, adjacent=False)
    found = np.asarray(cache.attend(0, bg.asarray(q), 0.3, 0.0, window))
    for n, (slot, begin) in enumerate(zip(slots, position, strict=True)):
        own = new[:, each * n : each * (n + 1)]
        keys[slot, :, begin : begin + each] = own[0].transpose(1, 0, 2)
        values[slot, :, begin : begin + each] = own[1].transpose(1, 0, 2)
    if dtype == "int8":
        keys, values = _in_8_bits(keys), _in_8_bits(values)
    expected = _attended(q, keys, values, position, slots, window)
    # Without the quantization, which the expected values have, these are float32 sums. A number
    # half way between two integers may have become either: 1 / 254 of the largest of 32.
    assert np.abs(found - expected).max() < (2e-5 if dtype == "float32" else 2e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("width", [16, 32, 64, 128])
def test_attention_does_not_see_later_values(bg: Any, width: int, value: float) -> None:
    """Queries of one workgroup, some of whose keys and values are not finite."""
    from browsergpu.functions.language.attention import cached_attention

    random = np.random.default_rng(3)
    keys, values = random.standard_normal((2, 1, 1, 80, width)).astype(np.float32)
    q = random.standard_normal((60, 2, width)).astype(np.float32)
    zero = np.zeros(1, np.int32)
    expected = _attended(q, keys, values, zero, zero, 0)
    keys[0, 0, 35:], values[0, 0, 35:] = value, value
    own = [bg.asarray(one) for one in (q, keys, values, zero, zero)]
    for _, tolerance in each_attention(bg, width):
        found = np.asarray(cached_attention(*own, 0.3))
        assert np.allclose(found[:35], expected[:35], atol=tolerance)
        assert not np.isfinite(found[35:]).any()


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize(("window", "softcap"), [(0, 0.0), (37, 0.0), (100, 4.0)])
def test_attention_of_many_queries(bg: Any, width: int, window: int, softcap: float) -> None:
    """Two of three sequences at different positions, in every variant."""
    from browsergpu.functions.language.attention import cached_attention

    random = np.random.default_rng(width)
    keys, values = random.standard_normal((2, 3, 2, 190, width)).astype(np.float32)
    q = random.standard_normal((2 * 75, 4, width)).astype(np.float32)
    position, slots = np.array([113, 5], np.int32), np.array([2, 0], np.int32)
    expected = _attended(q, keys, values, position, slots, window, softcap)
    own = [bg.asarray(one) for one in (q, keys, values, position, slots)]
    for name, tolerance in each_attention(bg, width):
        found = np.asarray(cached_attention(*own, 0.3, softcap, window))
        assert np.abs(found - expected).max() < tolerance, name


def each_attention(bg: Any, width: int) -> Iterator[tuple[str, float]]:
    """Yield the variants for heads of this width, and their tolerances."""
    variants = bg.default_device().variants
    for variant in variants.available("cached_attention"):
        if variant.traits.get("head_dim", width) == width:
            with variants.only("cached_attention", variant.name) as forced:
                yield variant.name, 1e-2 if "matrix" in variant.name else 2e-5
                assert forced.was_used, variant.name


def _in_8_bits(x: np.ndarray) -> np.ndarray:
    """Each 32 numbers of a head as multiples of their largest size / 127."""
    found = np.empty_like(x)
    for at in range(0, x.shape[-1], 32):
        part = x[..., at : at + 32]
        factor = np.abs(part).max(-1, keepdims=True) / np.float32(127)
        found[..., at : at + 32] = np.round(part / factor) * factor
    return found


def test_a_cache_in_8_bits(bg: Any) -> None:
    """Zeros stay zeros, rotation happens before, and other slots and positions stay."""
    from browsergpu.functions.language.attention import rotate
    from browsergpu.llm.models.cache import Cache

    own = SimpleNamespace(kv_heads=1, head_width=16, layers=1)
    cache = Cache(own, 4, bg.default_device(), "int8", 2)
    assert cache.nbytes == 2 * 2 * 4 * (16 + 4)
    cache.select([1], [1])
    x = np.linspace(-3, 5, 64, dtype=np.float32).reshape(4, 1, 16)
    x[1] = 0
    turns = np.random.default_rng(0).uniform(0, 6, (4, 8))
    angles = bg.asarray(np.stack([np.cos(turns), np.sin(turns)], -1).astype(np.float32))
    cache.add(0, bg.asarray(x), bg.asarray(x), angles, adjacent=True)  # the last one is beyond
    words = np.asarray(cache.keys[0])
    assert not words[0].any()
    assert not words[1, 0, 0].any()
    numbers = np.ascontiguousarray(words[1, 0, 1:, :4]).view(np.int8).astype(np.float32)
    found = numbers * np.ascontiguousarray(words[1, 0, 1:, 4:]).view(np.float32)
    turned = np.asarray(rotate(bg.asarray(x), angles, cache.position, True))[:3, 0]
    assert not found[1].any()
    assert np.abs(found - turned).max() <= np.abs(turned).max() / 254 * 1.001


def test_attention_refuses_other_shapes(bg: Any) -> None:
    from browsergpu.functions.language.attention import cached_attention, rotate, store

    q, cache, position = bg.ones((2, 4, 8)), bg.ones((1, 2, 4, 8)), bg.zeros(1, dtype="int32")
    for keys in (bg.ones((1, 3, 4, 8)), bg.ones((2, 4, 8)), bg.ones((1, 2, 4, 12))):
        with pytest.raises(ValueError, match=r"keys must have shape \[N, a divisor of 4, C, 8\]"):
            cached_attention(q, keys, keys, position, position, 1.0)
    own = cache.astype("float16")
    with pytest.raises(TypeError, match="keys must be float32"):
        cached_attention(q, own, own, position, position, 1.0)
    with pytest.raises(ValueError, match="values must have shape"):
        cached_attention(q, cache, bg.ones((1, 2, 5, 8)), position, position, 1.0)
    with pytest.raises(TypeError, match="position must be an int32 array"):
        cached_attention(q, cache, cache, bg.zeros(1), position, 1.0)
    with pytest.raises(TypeError, match="slots must be an int32 array"):
        cached_attention(q, cache, cache, position, bg.zeros(2, dtype="int32"), 1.0)
    three = bg.zeros(3, dtype="int32")
    with pytest.raises(ValueError, match="position must have a divisor of 2 elements"):
        cached_attention(q, cache, cache, three, three, 1.0)
    odd, narrow = bg.ones((1, 2, 4, 6)), bg.ones((2, 4, 6))
    with pytest.raises(ValueError, match="multiple of 4"):
        cached_attention(narrow, odd, odd, position, position, 1.0)
    with pytest.raises(ValueError, match="angles must have shape"):
        rotate(q, bg.ones((4, 5, 2)), position)
    with pytest.raises(ValueError, match="cache must have shape"):
        store(q, cache, bg.ones((4, 2, 2)), position, position)
