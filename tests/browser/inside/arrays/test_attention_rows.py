"""Attention of heads that are parts of rows, as linear layers make them: nothing is copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def near(got: Any, want: Any) -> None:
    """Within 16 roundings: both compute in float32 and round once, tiles differ in order."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    eps = float(np.finfo(want.dtype).eps)
    np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=0, atol=16 * eps)


def heads_of(bg: Any, batch: int, rows: int, heads: int, width: int, dtype: str) -> list[Any]:
    """Queries, keys and values as parts of one array, [batch, heads, rows, width]."""
    values = np.random.default_rng([batch, rows, heads, width]).standard_normal
    whole = bg.asarray((0.3 * values((batch, rows, 3, heads, width))).astype(dtype))
    return [whole[:, :, part].swapaxes(1, 2) for part in range(3)]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("batch", "rows", "heads", "width"),
    [(1, 1, 1, 8), (1, 7, 3, 8), (2, 5, 4, 32), (1, 70, 2, 64), (3, 33, 2, 20), (2, 40, 1, 128)],
)
def test_parts_of_one_array(
    bg: Any, batch: int, rows: int, heads: int, width: int, causal: bool, dtype: str
) -> None:
    attention = bg.nn.scaled_dot_product_attention
    q, k, v = heads_of(bg, batch, rows, heads, width, dtype)
    want = attention(q.copy(), k.copy(), v.copy(), is_causal=causal)
    near(attention(q, k, v, is_causal=causal), want)
    near(attention(q[0], k[0], v[0], is_causal=causal), want[0])


def test_rows_of_different_lengths(bg: Any) -> None:
    """Queries are an array of their own, with more or fewer rows than keys."""
    attention = bg.nn.scaled_dot_product_attention
    _, k, v = heads_of(bg, 2, 9, 4, 16, "float32")
    for rows in (1, 5, 20):
        q = heads_of(bg, 2, rows, 4, 16, "float32")[0]
        for causal in (False, True):
            want = attention(q.copy(), k.copy(), v.copy(), is_causal=causal)
            near(attention(q, k, v, is_causal=causal), want)


def other_layouts(bg: Any) -> dict[str, Callable[[Any, Any, Any], tuple[Any, Any, Any]]]:
    return {
        "keys packed": lambda q, k, v: (q, k.copy(), v),
        "reversed rows": lambda q, k, v: (q[:, :, ::-1], k, v),
        "every second row": lambda q, k, v: (q[:, :, ::2], k[:, :, ::2], v[:, :, ::2]),
        "some heads": lambda q, k, v: (q[:, 1:3], k[:, 1:3], v[:, 1:3]),
        "every second head": lambda q, k, v: (q[:, ::2], k[:, ::2], v[:, ::2]),
        "some columns": lambda q, k, v: (q[..., :8], k[..., :8], v[..., :8]),
        "one batch": lambda q, k, v: (q[1:], k[1:], v[1:]),
        "a batch for all": lambda q, k, v: (q, k[:1], v[:1]),
        "fewer value columns": lambda q, k, v: (q, k, v[..., :4]),
        "query later than key": lambda q, k, v: (v, q, k),
        "one for all": lambda q, k, v: (q, q, q),
    }


@pytest.mark.parametrize("name", other_layouts(None))
def test_other_layouts(bg: Any, name: str) -> None:
    attention = bg.nn.scaled_dot_product_attention
    q, k, v = other_layouts(bg)[name](*heads_of(bg, 2, 12, 4, 16, "float32"))
    near(attention(q, k, v), attention(q.copy(), k.copy(), v.copy()))


def test_masks_and_shared_heads(bg: Any) -> None:
    attention = bg.nn.scaled_dot_product_attention
    q, k, v = heads_of(bg, 2, 6, 4, 16, "float32")
    mask = bg.asarray(np.random.default_rng(0).random((6, 6)) < 0.7)
    near(attention(q, k, v, mask), attention(q.copy(), k.copy(), v.copy(), mask))
    few = [x[:, :2] for x in (k, v)]
    want = attention(q.copy(), *(x.copy() for x in few), enable_gqa=True)
    near(attention(q, *few, enable_gqa=True), want)


def test_a_layer_copies_nothing(bg: Any) -> None:
    q = heads_of(bg, 2, 9, 4, 16, "float32")[0]
    x = q.swapaxes(1, 2).reshape(2, 9, 64).copy()
    weights = [bg.asarray(np.eye(64, 192, n, dtype=np.float32)) for n in (0, 3)]

    def layer(x: Any) -> Any:
        three = (x @ (weights[0] + weights[1])).reshape(2, 9, 3, 4, 16)
        parts = [three[:, :, part].swapaxes(1, 2) for part in range(3)]
        y = bg.nn.scaled_dot_product_attention(*parts, is_causal=True)
        return y.swapaxes(1, 2).reshape(2, 9, 64)

    fast = bg.jit(layer)
    for _ in range(3):
        near(fast(x), layer(x))
    (variant,) = fast.explain().variants
    assert variant["kernels"] == 2  # the product and attention


def test_results_are_arrays_of_their_own(bg: Any) -> None:
    q, k, v = heads_of(bg, 1, 5, 2, 8, "float32")
    y = bg.nn.scaled_dot_product_attention(q, k, v)
    want = np.asarray(y).copy()
    q[...] = 0.0
    assert np.array_equal(np.asarray(y), want)
    y[0, 1] = 7.0
    want[0, 1] = 7.0
    assert np.array_equal(np.asarray(y), want)
    assert not np.asarray(q).any()


def test_gradients(bg: Any) -> None:
    values = np.random.default_rng(3).standard_normal((2, 7, 3, 2, 8)).astype(np.float32)

    def gradient(copies: bool) -> Any:
        whole = bg.asarray(values)
        whole.requires_grad_()
        parts = [whole[:, :, part].swapaxes(1, 2) for part in range(3)]
        if copies:
            parts = [part.copy() for part in parts]
        y = bg.nn.scaled_dot_product_attention(*parts, is_causal=True)
        (y * y).sum().backward()
        return whole.grad

    near(gradient(False), gradient(True))


def test_scaled_queries_are_copied_instead_of_keys_and_values(bg: Any) -> None:
    attention = bg.nn.scaled_dot_product_attention
    for batch, rows, heads, width in ((2, 12, 4, 16), (1, 7, 3, 8), (2, 9, 1, 8)):
        q, k, v = heads_of(bg, batch, rows, heads, width, "float32")
        want = attention((q * 0.5).copy(), k.copy(), v.copy())
        near(attention(q * 0.5, k, v), want)
        near(attention(q[0] * 0.5, k[0], v[0]), want[0])
        near(attention((q * 0.5).copy(), k, v), want)
    compiled = bg.jit(lambda q, k, v: attention(q * 0.5, k, v).swapaxes(1, 2).reshape(-1) + 1)
    q, k, v = heads_of(bg, 2, 12, 4, 16, "float32")
    for _ in range(3):
        found = compiled(q, k, v)
    near(found, attention((q * 0.5).copy(), k.copy(), v.copy()).swapaxes(1, 2).reshape(-1) + 1)
