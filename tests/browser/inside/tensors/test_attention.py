"""attention with masks, against float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.tensors import reference, tolerances
from inside.tensors.lab import DTYPES, FLOATS, assert_close, floats, on_bench, sent

pytestmark = pytest.mark.native


def check(
    tensors: Any,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: np.ndarray | None = None,
    scale: float | None = None,
    out: str = "f32",
) -> None:
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    with on_bench(tensors) as bench:
        result = bench.new(q.shape, out)
        given_mask = None if mask is None else bench.up(mask)
        tensors.attention(bench.up(q), bench.up(k), bench.up(v), result, given_mask, scale)
        expected = reference.attention(q, k, v, mask, factor)
        assert_close(bench.get(result), expected, tolerances.attention(q, k, v, mask, factor))


def inputs(lead: tuple[int, ...], seq_q: int, seq_kv: int, dim: int, dtype: str = "f32") -> Any:
    q = floats(1, *lead, seq_q, dim, dtype=dtype)
    return q, *(floats(seed, *lead, seq_kv, dim, dtype=dtype) for seed in (2, 3))


def random_mask(shape: tuple[int, ...], kind: str, seed: int = 4) -> np.ndarray:
    """Return a mask of bools that keeps the first key, or of floats, some of them -infinity."""
    random = np.random.default_rng(seed)
    kept = np.asarray(random.random(shape) > 0.4)
    kept[..., :1] = True
    if kind == "bool":
        return kept
    added = np.where(kept, random.normal(size=shape), -np.inf)
    return np.asarray(added).astype(DTYPES[kind])


@pytest.mark.fast
@pytest.mark.parametrize("scale", [None, 0.3, 2.0])
@pytest.mark.parametrize(
    "sizes",
    [((), 1, 1, 1), ((), 37, 41, 67), ((3,), 5, 7, 2), ((2, 3), 17, 35, 8), ((2, 1, 3), 4, 33, 130),
     ((1,), 1, 300, 5), ((1,), 300, 1, 5)],
    ids=str,
)  # fmt: skip
def test_without_a_mask(tensors: Any, sizes: Any, scale: float | None) -> None:
    check(tensors, *inputs(*sizes), scale=scale)


LEAD = (2, 3)
MASK_SHAPES = [
    shape[skip:]
    for shape in itertools.product((1, 2), (1, 3), (1, 17), (1, 35))
    for skip in range(4)
    if all(extent == 1 for extent in shape[:skip])
] + [()]


@pytest.mark.parametrize("kind", ["f32", "f16", "bool"])
@pytest.mark.parametrize("shape", MASK_SHAPES, ids=str)
def test_every_broadcast_of_a_mask(tensors: Any, shape: tuple[int, ...], kind: str) -> None:
    mask = random_mask(shape, kind) if shape else np.array(True).astype(DTYPES[kind])
    check(tensors, *inputs(LEAD, 17, 35, 8), mask)


@pytest.mark.parametrize("kind", ["f32", "bool"])
@pytest.mark.parametrize(
    "shape",
    [(2, 3, 4, 5, 7), (4, 5, 7), (2, 1, 1, 5, 7), (1, 3, 4, 1, 7), (2, 3, 1, 5, 1), (2, 1, 1, 1, 1),
     (1, 1, 4, 5, 7)],
    ids=str,
)  # fmt: skip
def test_folded_leading_axes(tensors: Any, shape: tuple[int, ...], kind: str) -> None:
    check(tensors, *inputs((2, 3, 4), 5, 7, 3), random_mask(shape, kind))


@pytest.mark.parametrize("shape", [(2, 1, 4, 5, 7), (3, 1, 5, 7)])
def test_a_mask_that_cannot_be_folded_is_refused(
    backend: Any, tensors: Any, shape: tuple[int, ...]
) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        q, k, v = (bench.up(x) for x in inputs((2, 3, 4), 5, 7, 3))
        mask = bench.new(shape, "f16")  # would be cast first
        before = sent(backend)
        with pytest.raises(InvalidArgument, match="at most two groups"):
            tensors.attention(q, k, v, bench.new((2, 3, 4, 5, 3)), mask, None)
        after = sent(backend)
        assert (after["dispatches"], after["copies"]) == (before["dispatches"], before["copies"])


@pytest.mark.parametrize("kind", ["f32", "bool"])
def test_a_query_without_keys_is_zero(tensors: Any, kind: str) -> None:
    q, k, v = inputs((2,), 40, 70, 5)
    mask = np.ones((2, 40, 70), bool)
    mask[0, 3] = mask[1, 39] = False
    if kind == "f32":
        mask = np.where(mask, 0.0, -np.inf).astype(np.float32)
    expected = reference.attention(q, k, v, mask, 0.5)
    assert (expected == 0).all(-1).sum() == 2
    check(tensors, q, k, v, mask, 0.5)


@pytest.mark.parametrize("kind", ["f32", "bool"])
def test_values_of_masked_keys_do_not_matter(tensors: Any, kind: str) -> None:
    # Padding may contain anything; NaN times a weight of 0 would be NaN.
    q, k, v = inputs((2,), 40, 70, 5)
    mask = np.ones((2, 1, 70), bool)
    mask[0, :, 33:] = mask[1, :, :50] = False
    added = mask if kind == "bool" else np.where(mask, 0.0, -np.inf).astype(np.float32)
    expected = reference.attention(q, k, v, mask, 0.5)
    tolerance = tolerances.attention(q, k, v, mask, 0.5)
    v[0, 33:], v[1, :50] = np.nan, np.inf
    with on_bench(tensors) as bench:
        out = bench.new(q.shape)
        tensors.attention(bench.up(q), bench.up(k), bench.up(v), out, bench.up(added), 0.5)
        assert_close(bench.get(out), expected, tolerance)


def test_nan_reaches_its_rows_only(tensors: Any) -> None:
    q, k, v = inputs((2,), 40, 70, 5)
    tolerance = tolerances.attention(q, k, v, None, 0.5)
    q[1, 35, 4], v[0, 20, 3] = np.nan, np.nan
    with on_bench(tensors) as bench:
        out = bench.new(q.shape)
        tensors.attention(bench.up(q), bench.up(k), bench.up(v), out, None, 0.5)
        assert_close(bench.get(out), reference.attention(q, k, v, None, 0.5), tolerance)


@pytest.mark.parametrize("size", [30.0, 1e4])
def test_large_scores(tensors: Any, size: float) -> None:
    q, k, v = inputs((2,), 33, 65, 8)
    with on_bench(tensors) as bench:
        out = bench.new(q.shape)
        tensors.attention(bench.up(q), bench.up(k), bench.up(v), out, None, size)
        result = bench.get(out)
    largest = v.max(1, keepdims=True)
    assert np.isfinite(result).all()
    assert (result <= largest + 1e-5).all()
    check(tensors, q, k, v, None, size)


@pytest.mark.parametrize("dtypes", ["f16 f16 f16 f16", "f16 f32 f16 f32", "f32 f16 f32 f16"])
def test_mixed_floats(tensors: Any, dtypes: str) -> None:
    a, b, c, out = dtypes.split()
    q, k, v = (
        floats(1, 2, 9, 8, dtype=a),
        floats(2, 2, 35, 8, dtype=b),
        floats(3, 2, 35, 8, dtype=c),
    )
    check(tensors, q, k, v, random_mask((9, 35), "f16"), None, out)


@pytest.mark.parametrize("same", ["q", "k", "v", "mask", "all"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_into_an_input(tensors: Any, same: str, dtype: str) -> None:
    arrays = dict(zip("qkv", inputs((2,), 33, 33, 33, dtype), strict=True))
    arrays["mask"] = random_mask((2, 33, 33), dtype)
    arrays["mask"][np.isinf(arrays["mask"])] = -8.0
    if same == "all":
        arrays = dict.fromkeys(arrays, arrays["q"])
    with on_bench(tensors) as bench:
        handles = {name: bench.up(array) for name, array in arrays.items()}
        if same == "all":
            handles = dict.fromkeys(handles, handles["q"])
        out = handles["q" if same == "all" else same]
        q, k, v, mask = handles.values()
        tensors.attention(q, k, v, out, mask, 0.1)
        expected = reference.attention(*arrays.values(), 0.1)
        assert_close(bench.get(out), expected, tolerances.attention(*arrays.values(), 0.1))


@pytest.mark.parametrize("sizes", [((0,), 3, 4, 5), ((2,), 0, 4, 5), ((2,), 3, 4, 0)], ids=str)
def test_nothing(tensors: Any, sizes: Any) -> None:
    q, k, v = inputs(*sizes)
    with on_bench(tensors) as bench:
        out = bench.new(q.shape)
        mask = bench.up(np.ones((sizes[1], sizes[2]), bool))
        for given_mask in (None, mask):
            tensors.attention(bench.up(q), bench.up(k), bench.up(v), out, given_mask, None)
        assert bench.get(out).size == 0


def test_no_keys_give_0(tensors: Any) -> None:
    q, k, v = inputs((2,), 3, 0, 5)
    with on_bench(tensors) as bench:
        out = bench.new(q.shape)
        tensors.attention(bench.up(q), bench.up(k), bench.up(v), out, None, None)
        assert (bench.get(out) == 0).all()


@given(data=st.data())
def test_any_mask(tensors: Any, data: st.DataObject) -> None:
    lead = tuple(data.draw(st.lists(st.integers(1, 3), max_size=2)))
    seq_q, seq_kv, dim = (data.draw(st.integers(1, 40)) for _ in range(3))
    full = (*lead, seq_q, seq_kv)
    shape = tuple(data.draw(st.sampled_from([1, extent])) for extent in full)
    shape = shape[data.draw(st.integers(0, len(lead))) :] if set(shape[:-2]) <= {1} else shape
    kind = data.draw(st.sampled_from(["f32", "f16", "bool"]))
    mask = random_mask(shape, kind, data.draw(st.integers(0, 99)))
    check(tensors, *inputs(lead, seq_q, seq_kv, dim), mask, data.draw(st.floats(0.01, 2.0)))
