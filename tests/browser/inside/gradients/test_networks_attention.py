"""Gradients of attention against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays import nn_reference as nn
from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]

RNG = np.random.default_rng(0)


def _numbers(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


SEEN = np.array([[True, False, True, True], [True, True, False, True], [True] * 4])
NOTHING_SEEN = np.array([[False, True, True, True], [False] * 4, [True] * 4])
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "scaled": {"scale": 0.7},
    "seen": {"attn_mask": SEEN},
    "seen and causal": {"attn_mask": SEEN, "is_causal": True},
    "nothing seen": {"attn_mask": NOTHING_SEEN},
    "nothing seen and causal": {"attn_mask": NOTHING_SEEN, "is_causal": True},
}


@pytest.mark.parametrize("most", [1 << 20, 8])
@pytest.mark.parametrize("name", CASES)
def test_attention(bg: Any, name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _at_most(monkeypatch, most)
    settings = dict(CASES[name])
    mask = settings.pop("attn_mask", None)
    own = None if mask is None else bg.asarray(mask)

    def ours(q: Any, k: Any, v: Any) -> Any:
        return bg.nn.scaled_dot_product_attention(q, k, v, own, **settings)

    def theirs(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        causal, scale = settings.get("is_causal", False), settings.get("scale")
        return nn.attention(q, k, v, mask, causal=causal, scale=scale)

    gradients_agree(bg, ours, theirs, [_numbers(2, 3, 2), _numbers(2, 4, 2), _numbers(2, 4, 3)])


def _at_most(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Limit the number of scores per head that are computed at a time."""
    from browsergpu.functions.nn import attention_gradients

    monkeypatch.setattr(attention_gradients, "_MOST_OF_A_HEAD", most)


@pytest.mark.parametrize("shape", [(3, 4), (2, 1, 4), (3, 1), (4,)])
@pytest.mark.parametrize("causal", [False, True])
def test_masks_that_are_added(
    bg: Any, shape: tuple[int, ...], causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _at_most(monkeypatch, 8)
    gradients_agree(
        bg, lambda q, k, v, m: bg.nn.scaled_dot_product_attention(q, k, v, m, is_causal=causal),
        lambda q, k, v, m: nn.attention(q, k, v, m, causal=causal),
        [_numbers(2, 3, 2), _numbers(2, 4, 2), _numbers(2, 4, 2), _numbers(*shape)],
    )  # fmt: skip


def test_queries_that_see_no_key_have_no_part_in_gradients(bg: Any) -> None:
    mask = np.where(NOTHING_SEEN, 0.0, -np.inf).astype(np.float32)
    arrays = [_numbers(3, 2), _numbers(4, 2), _numbers(4, 2)]

    def loss(q: Any, k: Any, v: Any, m: Any) -> Any:
        return (bg.nn.scaled_dot_product_attention(q, k, v, m) ** 2).sum()

    found = bg.grad(loss, argnums=(0, 1, 2, 3))(*map(bg.asarray, (*arrays, mask)))
    assert all(np.isfinite(one.numpy()).all() for one in found)
    assert (found[0].numpy()[1] == 0).all()
    assert (found[3].numpy()[1] == 0).all()
    # Without this query, the other queries have the same gradients.
    others = [arrays[0][[0, 2]], *arrays[1:], mask[[0, 2]]]
    expected = bg.grad(loss, argnums=(0, 1, 2, 3))(*map(bg.asarray, others))
    for at in (1, 2):
        np.testing.assert_allclose(found[at].numpy(), expected[at].numpy(), rtol=1e-5, atol=1e-6)
    second_gradients_agree(
        bg, lambda q, k, v: bg.nn.scaled_dot_product_attention(q, k, v, bg.asarray(NOTHING_SEEN)),
        lambda q, k, v: nn.attention(q, k, v, NOTHING_SEEN), arrays,
    )  # fmt: skip


def test_heads_that_are_shared(bg: Any) -> None:
    gradients_agree(
        bg, lambda q, k, v: bg.nn.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        lambda q, k, v: nn.attention(q, np.repeat(k, 2, -3), np.repeat(v, 4, -3)),
        [_numbers(1, 4, 2, 2), _numbers(1, 2, 3, 2), _numbers(1, 1, 3, 2)],
    )  # fmt: skip
    gradients_agree(  # broadcast leading axes
        bg, bg.nn.scaled_dot_product_attention, nn.attention,
        [_numbers(2, 1, 2, 2), _numbers(3, 3, 2), _numbers(3, 2)],
    )  # fmt: skip


def test_second_gradients(bg: Any) -> None:
    arrays = [_numbers(3, 2), _numbers(3, 2), _numbers(3, 2)]
    second_gradients_agree(
        bg, lambda q, k, v: bg.nn.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda q, k, v: nn.attention(q, k, v, causal=True), arrays,
    )  # fmt: skip


SHAPES: dict[str, tuple[tuple[int, ...], int, int, int]] = {
    "a row per query": ((), 5, 3, 8),
    "odd lengths": ((2, 3), 70, 65, 64),
    "three leading axes": ((2, 1, 2), 64, 64, 40),
    "wide": ((1, 2), 65, 30, 128),
}


def _both_ways(bg: Any, monkeypatch: pytest.MonkeyPatch, run: Any) -> tuple[Any, Any]:
    """Return gradients by the kernels, which must run, and without them."""
    from browsergpu.functions.nn import attention_gradients

    by_kernels, ran = attention_gradients._by_kernels, []

    def spied(*args: Any) -> Any:
        found = by_kernels(*args)
        ran.append(found is not None)
        return found

    monkeypatch.setattr(attention_gradients, "_by_kernels", spied)
    found = run()
    assert ran == [True]
    monkeypatch.setattr(attention_gradients, "_by_kernels", lambda *args: None)
    return found, run()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("name", SHAPES)
def test_kernels_agree_with_products(
    bg: Any, name: str, kind: str, causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead, rows, keys, width = SHAPES[name]
    shapes = [(*lead, rows, width), (*lead, keys, width), (*lead, keys, width)]
    arrays = [_numbers(*shape).astype(kind) for shape in shapes]
    given = _numbers(*lead, rows, width).astype(kind)

    def run() -> list[np.ndarray]:
        own = [bg.asarray(x).requires_grad_() for x in arrays]
        y = bg.nn.scaled_dot_product_attention(*own, is_causal=causal, scale=0.2)
        y.backward(bg.asarray(given))
        return [one.grad.numpy() for one in own]

    tolerance = 2e-5 if kind == "float32" else 2e-3
    for found, expected in zip(*_both_ways(bg, monkeypatch, run), strict=True):
        assert found.dtype == kind
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("parts", [3, 2])
@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_heads_side_by_side(
    bg: Any, parts: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Query, key and value are parts of one projection, or only key and value are."""
    whole = _numbers(2, 37, parts, 3, 16).astype(kind)
    apart = _numbers(2, 41, 3, 16).astype(kind)
    given = _numbers(2, 3, 41 if parts == 2 else 37, 16).astype(kind)

    def run() -> list[np.ndarray]:
        x, q = (bg.asarray(one).requires_grad_() for one in (whole, apart))
        heads = [x[:, :, at].swapaxes(1, 2) for at in range(parts)]
        heads = [q.swapaxes(1, 2), *heads] if parts == 2 else heads
        y = bg.nn.scaled_dot_product_attention(*heads, is_causal=True)
        y.backward(bg.asarray(given))
        return [x.grad.numpy()] + ([q.grad.numpy()] if parts == 2 else [])

    tolerance = 2e-5 if kind == "float32" else 2e-3
    for found, expected in zip(*_both_ways(bg, monkeypatch, run), strict=True):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_kernels_agree_with_central_differences(bg: Any) -> None:
    arrays = [_numbers(2, 3, 4), _numbers(2, 5, 4), _numbers(2, 5, 4)]
    for causal in (False, True):
        gradients_agree(
            bg, lambda q, k, v, c=causal: bg.nn.scaled_dot_product_attention(q, k, v, is_causal=c),
            lambda q, k, v, c=causal: nn.attention(q, k, v, causal=c), arrays,
        )  # fmt: skip


def test_gradients_beyond_float16_are_infinite(bg: Any) -> None:
    """A GradScaler skips a step by them."""
    q, k, v = (bg.asarray(np.ones((2, 8), np.float16)).requires_grad_() for _ in range(3))
    y = bg.nn.scaled_dot_product_attention(q, k, v)
    y.backward(bg.full((2, 8), 60000, dtype=bg.float16))
    assert np.isfinite(v.grad.numpy()).all()
    y = bg.nn.scaled_dot_product_attention(q, k[:1], v[:1])
    y.backward(bg.full((2, 8), 60000, dtype=bg.float16))
    assert np.isinf(v.grad.numpy()[0]).all()
