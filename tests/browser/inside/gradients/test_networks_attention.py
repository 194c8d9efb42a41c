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
