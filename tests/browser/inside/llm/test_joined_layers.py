"""Layers of the same input as one product: kernels of a token, memory, and mixed formats."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from inside.llm import tiny
from inside.llm.reference import Decoder
from inside.spies import dispatched

pytestmark = pytest.mark.native

TOKENS = [1, 20, 33, 250, 7]


def _kernels(bg: Any, llm: Any) -> Counter[str]:
    """The kernels of one decoded token, of a model's two layers."""
    from browsergpu.llm.models.cache import Cache

    cache = Cache(llm.config, 32, llm.device)
    token = bg.asarray(np.array([5], np.int32))
    with bg.no_grad():
        np.asarray(llm.model.logits(llm.model(token, cache)))
        with dispatched(llm.device) as found:
            np.asarray(llm.model.logits(llm.model(token, cache)))
    return Counter(found)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("kind", "each", "rest"),
    [("llama", 5, 3), ("qwen2", 5, 3), ("qwen3", 5, 3), ("phi3", 5, 3), ("gemma3", 7, 4)],
)
def test_kernels_of_a_token(bg: Any, kind: str, each: int, rest: int) -> None:
    """Of a layer: 4 products and attention. Gemma has norms of results."""
    tensors = {
        name: x.astype(np.float16) if x.ndim == 2 else x for name, x in tiny.weights(kind).items()
    }
    llm = bg.llm.load(tiny.file_of(bg, tensors, tiny.metadata(kind)), context=32)
    found = _kernels(bg, llm)
    assert found["token_attention"] == tiny.LAYERS
    assert found["quantized_thin_floats"] == 4 * tiny.LAYERS + 1
    assert found.total() == each * tiny.LAYERS + rest, found
    llm.close()


@pytest.mark.fast
def test_layers_share_the_memory(bg: Any) -> None:
    weights = tiny.weights("llama")
    llm = bg.llm.load(tiny.file_of(bg, weights, tiny.metadata("llama")), context=32)
    own = llm.model.blocks[1]
    for layers, joined, names in (
        ((own.attention.q, own.attention.k, own.attention.v), own.attention.joined, "qkv"),
        ((own.mlp.gate, own.mlp.up), own.mlp.joined, ("gate", "up")),
    ):
        prefix = "blk.1.attn_" if names == "qkv" else "blk.1.ffn_"
        whole = joined.whole.weight.node.in_memory().storage
        for layer, name in zip(layers, names, strict=True):
            assert np.array_equal(np.asarray(layer.weight), weights[f"{prefix}{name}.weight"])
            assert layer.weight.node.in_memory().storage is whole
    llm.close()


def _of_blocks(bg: Any, weight: np.ndarray, form: str) -> tuple[Any, np.ndarray]:
    """A matrix in a format of 8 or 4 bits, and its numbers."""
    rows, columns = weight.shape
    blocks = weight.reshape(-1, 32)
    scale = (np.abs(blocks).max(1) / (127 if form == "Q8_0" else 7)).astype(np.float16)
    numbers = np.round(blocks / scale.astype(np.float32)[:, None])
    if form == "Q8_0":
        numbers = numbers.clip(-127, 127)
        data = numbers.astype(np.int8).view(np.uint8)
    else:
        numbers = numbers.clip(-8, 7)
        nibbles = (numbers + 8).astype(np.uint8)
        data = nibbles[:, :16] | nibbles[:, 16:] << 4
    both = np.concatenate([scale.view(np.uint8).reshape(-1, 2), data], 1)
    exact = (numbers * scale.astype(np.float32)[:, None]).astype(np.float32).reshape(rows, columns)
    return bg.llm.QuantizedArray(both.tobytes(), weight.shape, form), exact


@pytest.mark.fast
@pytest.mark.parametrize("cache_dtype", ["float32", "int8"])
@pytest.mark.parametrize(("kind", "other"), [("qwen3", "attn_v"), ("llama", "attn_k")])
def test_mixed_formats(bg: Any, kind: str, other: str, cache_dtype: str) -> None:
    """Values in another format are a product of their own. With other keys, all are."""
    plain, tensors = tiny.weights(kind), {}
    for name, x in plain.items():
        tensors[name] = x
        if "attn_" in name and x.ndim == 2 and "output" not in name:
            form = "Q8_0" if other in name else "Q4_0"
            tensors[name], plain[name] = _of_blocks(bg, x, form)
    about = tiny.metadata(kind)
    llm = bg.llm.load(tiny.file_of(bg, tensors, about), context=32, cache_dtype=cache_dtype)
    joined = llm.model.blocks[0].attention.joined
    assert (joined is None) == (other == "attn_k")
    expected = Decoder(plain, about).logits(TOKENS)
    error = np.abs(np.asarray(llm.logits(TOKENS)) - expected).max() / np.abs(expected).max()
    # float32 sums in another order, or numbers of the cache in 8 bits
    assert error < (2e-4 if cache_dtype == "float32" else 0.05)
    found = llm.model.blocks[0].attention.v.weight
    assert np.allclose(np.asarray(found.dequantize()), plain["blk.0.attn_v.weight"], atol=1e-6)
    llm.close()


@pytest.mark.fast
@pytest.mark.parametrize("name", ["attn_k", "ffn_up"])
def test_wrong_rows_of_one_are_named(bg: Any, name: str) -> None:
    """Rows that fit together and not each by itself are an error."""
    weights = tiny.weights("llama")
    first = "attn_q" if name == "attn_k" else "ffn_gate"
    one, other = weights[f"blk.0.{first}.weight"], weights[f"blk.0.{name}.weight"]
    weights[f"blk.0.{first}.weight"] = one[:-16]
    weights[f"blk.0.{name}.weight"] = np.concatenate([other, one[-16:]])
    with pytest.raises(ValueError, match=rf"blk\.0\.{first}\.weight must have shape"):
        bg.llm.load(tiny.file_of(bg, weights, tiny.metadata("llama")), context=32)


@pytest.mark.fast
def test_split_heads(bg: Any) -> None:
    """Against the kernels that each do one of its steps, of two sequences in another order."""
    from browsergpu.functions.language.attention import rms_norm, rotate, split_heads, store

    random = np.random.default_rng(0)
    tokens, heads, groups, width, capacity = 6, 3, 2, 40, 9  # 42 heads, in workgroups of 4
    x = random.standard_normal((tokens, heads + 2 * groups, width)).astype(np.float32)
    turns = random.uniform(0, 6, (8, 12))
    angles = bg.asarray(np.stack([np.cos(turns), np.sin(turns)], -1).astype(np.float32))
    norms = bg.asarray(random.uniform(0.5, 2, (2, width)).astype(np.float32))
    position = bg.asarray(np.array([2, 7], np.int32))  # the last token is beyond the capacity
    slots = bg.asarray(np.array([1, 0], np.int32))
    q, k, v = (bg.asarray(x[:, a:b]) for a, b in ((0, 3), (3, 5), (5, 7)))
    for adjacent in (False, True):
        caches = [bg.zeros((2, groups, capacity, width)) for _ in range(4)]
        q_own, k_own = rms_norm(q, norms[0], 1e-5), rms_norm(k, norms[1], 1e-5)
        store(k_own, caches[0], angles, position, slots, adjacent)
        store(v, caches[1], angles[:, :0], position, slots)
        expected = np.asarray(rotate(q_own, angles, position, adjacent))
        found = split_heads(
            bg.asarray(x), heads, caches[2], caches[3], angles, position, slots, adjacent, norms,
            1e-5,
        )  # fmt: skip
        # The sum of squares has another order.
        assert np.allclose(np.asarray(found), expected, rtol=2e-6, atol=2e-6)
        assert np.allclose(np.asarray(caches[2]), np.asarray(caches[0]), rtol=2e-6, atol=2e-6)
        assert np.array_equal(np.asarray(caches[3]), np.asarray(caches[1]))
    cache = bg.zeros((2, groups, capacity, width))
    with pytest.raises(ValueError, match="x must have 3 heads, and 2 or 4 for the cache"):
        split_heads(bg.asarray(x[:, :6]), heads, cache, cache, angles, position, slots)
    with pytest.raises(ValueError, match=r"norms must have shape \(2, 40\)"):
        split_heads(bg.asarray(x), heads, cache, cache, angles, position, slots, norms=norms[:1])


@pytest.mark.fast
@pytest.mark.parametrize("vectors", [1, 3, 20, 70])
def test_a_bias_rides_on_the_product(bg: Any, vectors: int) -> None:
    random = np.random.default_rng(vectors)
    weight, exact = _of_blocks(bg, random.standard_normal((48, 64)).astype(np.float32), "Q8_0")
    x = random.standard_normal((vectors, 64)).astype(np.float32)
    bias = random.standard_normal(48).astype(np.float32)
    own, shift = bg.asarray(x), bg.asarray(bias)
    np.asarray(bg.nn.linear(own, weight, shift))
    with dispatched(bg.default_device()) as kernels:
        found = np.asarray(bg.nn.linear(own, weight, shift))
    assert "fused" not in kernels
    expected = x @ exact.T + bias
    assert np.abs(found - expected).max() < 1e-3 * np.abs(expected).max()


@pytest.mark.fast
@pytest.mark.parametrize("vectors", [1, 3])
@pytest.mark.parametrize(
    ("form", "rows", "columns"),
    [("Q8_0", 48, 64), ("Q8_0", 4098, 64), ("Q4_0", 70, 4128), ("F16", 54, 68), ("F16", 46, 4100)],
)
def test_norm_and_gate_ride_on_the_product(
    bg: Any, form: str, rows: int, columns: int, vectors: int
) -> None:
    """Of one vector, a product is one kernel with the norm before it and the gate after it."""
    from browsergpu.functions.language.quantized import decoder_linear

    random = np.random.default_rng(columns)
    exact = random.standard_normal((rows, columns)).astype(np.float32)
    if form == "F16":
        halves = exact.astype(np.float16)
        weight, exact = bg.llm.QuantizedArray(halves.tobytes(), exact.shape, form), halves
    else:
        weight, exact = _of_blocks(bg, exact, form)
    x = 30 * random.standard_normal((vectors, columns)).astype(np.float32)
    norm = random.uniform(-2, 2, columns).astype(np.float32)
    residual = random.standard_normal((vectors, rows)).astype(np.float32)
    bias = residual[0]
    normed = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 0.5) * norm
    whole = normed @ exact.T.astype(np.float64)
    left, right = whole[:, : rows // 2] / 20, whole[:, rows // 2 :]
    silu = left / (1 + np.exp(-left))
    own, factors, scaled = bg.asarray(x), bg.asarray(norm), bg.asarray(norm / 20)
    cases: list[tuple[Any, Any]] = [
        (lambda: decoder_linear(own, weight, norm=factors, eps=0.5), whole),
        (
            lambda: decoder_linear(own, weight, bg.asarray(residual), norm=factors, eps=0.5),
            whole + residual,
        ),
        (
            lambda: decoder_linear(own, weight, bias=bg.asarray(bias), norm=factors, eps=0.5),
            whole + bias,
        ),
        (
            lambda: decoder_linear(own, weight, norm=scaled, eps=0.5, gate="silu"),
            silu * right / 20,
        ),
    ]
    for compute, expected in cases:
        np.asarray(compute())
        with dispatched(bg.default_device()) as kernels:
            found = np.asarray(compute())
        assert (len(kernels) == 1) == (vectors == 1), kernels
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() < 1e-3 * np.abs(expected).max()


@pytest.mark.fast
def test_gates_and_their_refusals(bg: Any) -> None:
    from browsergpu.functions.language.quantized import decoder_linear

    weight, exact = _of_blocks(bg, np.eye(32, dtype=np.float32)[:31], "Q8_0")
    x, one = bg.ones((1, 32)), bg.ones((1, 16))
    with pytest.raises(ValueError, match="weight must have an even number of rows"):
        decoder_linear(x, weight, gate="silu")
    weight, exact = _of_blocks(bg, np.eye(32, dtype=np.float32), "Q8_0")
    with pytest.raises(ValueError, match="gate must be 'silu' or 'gelu'"):
        decoder_linear(x, weight, gate="relu")
    with pytest.raises(ValueError, match="residual must be None"):
        decoder_linear(x, weight, one, gate="silu")
    with pytest.raises(ValueError, match=r"norm must have shape \(32,\)"):
        decoder_linear(x, weight, norm=one)
    with pytest.raises(ValueError, match="input must have 32 elements"):
        decoder_linear(one, weight)
    z = np.linspace(-4, 4, 32, dtype=np.float32)
    half = exact[:16] @ z
    expected = half / (1 + np.exp(-1.5957691216 * (half + 0.044715 * half**3))) * (exact[16:] @ z)
    found = np.asarray(decoder_linear(bg.asarray(z[None]), weight, gate="gelu"))
    assert np.allclose(found[0], expected, atol=1e-3)
    shifted = np.asarray(decoder_linear(bg.asarray(z[None]), weight, bias=bg.ones(32), gate="gelu"))
    assert shifted.shape == (1, 16)
    assert not np.allclose(shifted, found)
    tracked = bg.ones((1, 32)).requires_grad_(True)
    with pytest.raises(bg.errors.NotDifferentiable, match="no gradient"):
        decoder_linear(tracked, weight, norm=bg.ones(32))


@pytest.mark.fast
@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize(
    ("width", "window", "softcap", "adjacent", "normed"),
    [(64, 0, 0.0, False, False), (40, 520, 3.0, True, True), (256, 3, 0.0, False, True)],
)
def test_a_token_is_attended_by_one_kernel(
    bg: Any, width: int, window: int, softcap: float, adjacent: bool, normed: bool, dtype: str
) -> None:
    """Against the two kernels, of sequences at the start, in long texts, and beyond the end.

    With more than 1024 keys, workgroups share a head, and a second kernel adds up their results.
    """
    from browsergpu.functions.language.attention import (
        cached_attention,
        extend_and_attend,
        split_heads,
    )
    from browsergpu.llm.models.cache import Cache

    random = np.random.default_rng(width)
    heads, groups, capacity, places = 6, 2, 1100, [0, 700, 1024, 511, 512, 1100]
    config = SimpleNamespace(kv_heads=groups, head_width=width, layers=1)
    count = len(places)
    before = random.standard_normal((2, count * capacity, groups, width)).astype(np.float32)
    x = random.standard_normal((count, heads + 2 * groups, width)).astype(np.float32)
    turns = random.uniform(0, 6, (capacity, 12))
    angles = bg.asarray(np.stack([np.cos(turns), np.sin(turns)], -1).astype(np.float32))
    norms = bg.asarray(random.uniform(0.5, 2, (2, width)).astype(np.float32)) if normed else None
    found = []
    for is_one in (False, True):
        cache = Cache(config, capacity, bg.default_device(), dtype, count)
        cache.add(0, bg.asarray(before[0]), bg.asarray(before[1]), None, adjacent=False)
        cache.select([3, 1, 0, 5, 4, 2], places)
        own = bg.asarray(x), heads, cache.keys[0], cache.values[0], angles
        at, slots = cache.position, cache.slots
        if is_one:
            with dispatched(bg.default_device()) as kernels:
                y = extend_and_attend(*own, at, slots, 0.3, softcap, window, adjacent, norms, 1e-5)
                np.asarray(y)
            is_whole = dtype == "float32" and 0 < window <= 1024
            assert len(kernels) == (1 if is_whole else 2), kernels
        else:
            q = split_heads(*own, at, slots, adjacent, norms, 1e-5)
            y = cached_attention(q, *own[2:4], at, slots, 0.3, softcap, window)
        found.append([np.asarray(one) for one in (y, cache.keys[0], cache.values[0])])
    for one, other in zip(*found, strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-5)
