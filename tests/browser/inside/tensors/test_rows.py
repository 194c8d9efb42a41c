"""softmax, layer_norm, cross_entropy, embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.spies import dispatched
from inside.tensors import reference, tolerances
from inside.tensors.lab import DTYPES, FLOATS, LENGTHS, assert_close, floats, on_bench
from inside.tolerances import Tolerance

pytestmark = pytest.mark.native

# Rows that fill their threads' registers exactly, rows that are longer by one, in vec4s or not.
FULL = [16, 17, 4096, 4097, 4100, 8192, 8193, 16_384, 16_385, 16_388]

# ---- softmax ------------------------------------------------------------------------------------


def check_softmax(tensors: Any, x: np.ndarray, axis: int, out: str = "f32") -> None:
    with on_bench(tensors) as bench:
        result = bench.new(x.shape, out)
        tensors.softmax(bench.up(x), result, axis)
        expected, tolerance = reference.softmax(x, axis), tolerances.softmax(x, axis)
        assert_close(bench.get(result), expected, tolerance)


@pytest.mark.fast
@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize(
    "shape",
    [*((n,) for n in LENGTHS), (70_001,), (2, 66_000), (2, 3, 5, 7), (5, 1, 3), (1, 257, 2),
     (2, 33), (32, 2)],
    ids=str,
)  # fmt: skip
def test_softmax_over_every_axis(tensors: Any, shape: tuple[int, ...], scale: float) -> None:
    x = floats(1, *shape) * np.float32(scale)
    for axis in range(-len(shape), len(shape)):
        check_softmax(tensors, x, axis)


@pytest.mark.parametrize("length", FULL)
def test_softmax_of_full_registers(tensors: Any, length: int) -> None:
    check_softmax(tensors, floats(1, 3, length), 1)


@pytest.mark.parametrize(
    "shape", [(600, 40), (5000, 3), (2, 3000, 4), (3, 700, 33), (2, 2, 513)], ids=str
)
def test_softmax_of_columns(tensors: Any, shape: tuple[int, ...]) -> None:
    check_softmax(tensors, floats(1, *shape), -2)


@pytest.mark.parametrize("shape", [(66_000, 3), (3, 70_000)], ids=str)
def test_softmax_of_many_rows_or_columns(tensors: Any, shape: tuple[int, ...]) -> None:
    check_softmax(tensors, floats(1, *shape), int(np.argmin(shape)))


@pytest.mark.parametrize("out", FLOATS)
@pytest.mark.parametrize("into", FLOATS)
def test_softmax_of_mixed_floats(tensors: Any, into: str, out: str) -> None:
    for axis in (0, 1):
        check_softmax(tensors, floats(1, 7, 301, dtype=into), axis, out)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_softmax_of_nothing(tensors: Any, shape: tuple[int, ...]) -> None:
    with on_bench(tensors) as bench:
        handle = bench.new(shape)
        for axis in range(len(shape)):
            tensors.softmax(handle, handle, axis)
        assert bench.get(handle).shape == shape


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_in_place(tensors: Any, axis: int, dtype: str) -> None:
    x = floats(1, 37, 300, dtype=dtype)
    with on_bench(tensors) as bench:
        handle = bench.up(x)
        tensors.softmax(handle, handle, axis)
        expected = reference.softmax(x, axis)
        assert_close(bench.get(handle), expected, tolerances.softmax(x, axis))


@pytest.mark.parametrize("offset", [1e4, -1e4, 1e30, -1e30, 3e38])
def test_softmax_of_large_values(tensors: Any, offset: float) -> None:
    x = np.full((3, 300), offset, np.float32)
    x[1] += np.arange(300, dtype=np.float32) * np.float32(abs(offset) / 2**20)
    for axis in (0, 1):
        check_softmax(tensors, x, axis)


@pytest.mark.parametrize("order", ["ascending", "descending"])
@pytest.mark.parametrize("shape", [(3001, 1), (3001, 2)])
def test_softmax_of_sorted_values(tensors: Any, shape: tuple[int, int], order: str) -> None:
    # Each value of an ascending row is a new maximum.
    x = np.linspace(-20, 20, shape[0], dtype=np.float32)[:: 1 if order == "ascending" else -1]
    x = np.repeat(x[:, None], shape[1], 1).copy()
    rtol, atol, why = tolerances.softmax(x, 0)
    with on_bench(tensors) as bench:
        out = bench.new(shape)
        tensors.softmax(bench.up(x), out, 0)
        rescalings = Tolerance(rtol + 3 * shape[0] * 2.0**-23, atol, why)
        assert_close(bench.get(out), reference.softmax(x, 0), rescalings)


SPECIAL_ROWS = {
    "NaN": [1.0, np.nan, 2.0],
    "+inf": [1.0, np.inf, 2.0],
    "two of +inf": [np.inf, 1.0, np.inf],
    "-inf": [1.0, -np.inf, 2.0],
    "-inf first": [-np.inf, -np.inf, 2.0],
    "-inf alone": [-np.inf, -np.inf, -np.inf],
    "+inf and -inf": [-np.inf, np.inf, -np.inf],
    "all": [np.nan, np.inf, -np.inf],
}


@pytest.mark.parametrize("length", [3, 300, 301, 16_501])
@pytest.mark.parametrize("row", SPECIAL_ROWS.values(), ids=SPECIAL_ROWS.keys())
def test_softmax_of_specials(tensors: Any, row: list[float], length: int) -> None:
    x = np.stack([np.resize(np.array(row, np.float32), length), np.ones(length, np.float32)])
    for axis, array in ((1, x), (0, np.ascontiguousarray(x.T))):
        with on_bench(tensors) as bench:
            out = bench.new(array.shape)
            tensors.softmax(bench.up(array), out, axis)
            tolerance = Tolerance(1e-5, 1e-30, "specials have a few ordinary values among them")
            assert_close(bench.get(out), reference.softmax(array, axis), tolerance)


# ---- layer_norm ---------------------------------------------------------------------------------


def check_layer_norm(
    tensors: Any, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float, out: str = "f32"
) -> None:
    with on_bench(tensors) as bench:
        result = bench.new(x.shape, out)
        tensors.layer_norm(bench.up(x), bench.up(gamma), bench.up(beta), result, eps)
        expected = reference.layer_norm(x, gamma, beta, eps)
        assert_close(bench.get(result), expected, tolerances.layer_norm(x, gamma, beta, eps))


@pytest.mark.parametrize(
    "shape",
    [*((n,) for n in LENGTHS), (70_001,), (2, 66_000), (2, 3, 5, 7), (5, 1)],
    ids=str,
)
def test_layer_norm(tensors: Any, shape: tuple[int, ...]) -> None:
    gamma, beta = floats(2, shape[-1]), floats(3, shape[-1])
    check_layer_norm(tensors, floats(1, *shape), gamma, beta, 1e-5)


@pytest.mark.parametrize("length", FULL)
def test_layer_norm_of_full_registers(tensors: Any, length: int) -> None:
    check_layer_norm(tensors, floats(1, 3, length), floats(2, length), floats(3, length), 1e-5)


@pytest.mark.parametrize("mean", [1e3, -1e4])
def test_layer_norm_of_large_means(tensors: Any, mean: float) -> None:
    x = floats(1, 5, 3001) + np.float32(mean)
    ones, zeros = np.ones(3001, np.float32), np.zeros(3001, np.float32)
    check_layer_norm(tensors, x, ones, zeros, 0.0)


@pytest.mark.parametrize("value", [0.0, 1.0, 1e20, -3e38])
@pytest.mark.parametrize("length", [1, 3, 700])
def test_layer_norm_of_equal_values_is_beta(tensors: Any, length: int, value: float) -> None:
    gamma, beta = floats(1, length), floats(2, length)
    with on_bench(tensors) as bench:
        out = bench.new((2, length))
        x = bench.up(np.full((2, length), value, np.float32))
        tensors.layer_norm(x, bench.up(gamma), bench.up(beta), out, 1e-5)
        assert_same_bits(bench.get(out), np.stack([beta, beta]), f"{length} of {value}")


@pytest.mark.parametrize("dtypes", ["f16 f32 f32 f16", "f16 f16 f16 f16", "f32 f16 f32 f32"])
def test_layer_norm_of_mixed_floats(tensors: Any, dtypes: str) -> None:
    x, gamma, beta, out = dtypes.split()
    arrays = (floats(1, 5, 77, dtype=x), floats(2, 77, dtype=gamma), floats(3, 77, dtype=beta))
    check_layer_norm(tensors, *arrays, 1e-5, out)


@pytest.mark.parametrize("same", ["input", "gamma", "beta", "gamma is beta"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_norm_in_place(tensors: Any, same: str, dtype: str) -> None:
    x, gamma, beta = (floats(seed, 300, dtype=dtype) for seed in (1, 2, 3))
    if same == "gamma is beta":
        beta = gamma
    with on_bench(tensors) as bench:
        handles = {"input": bench.up(x), "gamma": bench.up(gamma)}
        handles["beta"] = handles["gamma"] if beta is gamma else bench.up(beta)
        out = handles.get(same) or bench.new((300,), dtype)
        tensors.layer_norm(*handles.values(), out, 1e-5)
        expected = reference.layer_norm(x, gamma, beta, 1e-5)
        assert_close(bench.get(out), expected, tolerances.layer_norm(x, gamma, beta, 1e-5))


def test_layer_norm_keeps_nan_in_its_row(tensors: Any) -> None:
    x = floats(1, 4, 300)
    tolerance = tolerances.layer_norm(x, np.ones(300), np.zeros(300), 1e-5)
    x[1, 7], x[3, 299] = np.nan, np.inf
    with on_bench(tensors) as bench:
        out = bench.new(x.shape)
        ones, zeros = bench.up(np.ones(300, np.float32)), bench.up(np.zeros(300, np.float32))
        tensors.layer_norm(bench.up(x), ones, zeros, out, 1e-5)
        expected = reference.layer_norm(x, np.ones(300), np.zeros(300), 1e-5)
        assert_close(bench.get(out), expected, tolerance)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_layer_norm_of_nothing(tensors: Any, shape: tuple[int, ...]) -> None:
    with on_bench(tensors) as bench:
        one = bench.new(shape[-1:])
        tensors.layer_norm(bench.new(shape), one, one, bench.new(shape), 0.0)


# ---- cross_entropy ------------------------------------------------------------------------------


def check_cross_entropy(
    tensors: Any, logits: np.ndarray, targets: np.ndarray, dtypes: str = "f32 f32"
) -> None:
    loss_dtype, probs_dtype = dtypes.split()
    expected = reference.cross_entropy(logits, targets)
    tolerance = tolerances.cross_entropy(logits, expected)
    with on_bench(tensors) as bench:
        x, goals = bench.up(logits), bench.up(targets.astype(np.int32))
        probs = bench.new(logits.shape, probs_dtype)
        loss, mean = bench.new(targets.shape, loss_dtype), bench.new((), loss_dtype)
        tensors.cross_entropy(x, goals, loss, probs)
        assert_close(bench.get(loss), expected, tolerance)
        softmax = reference.softmax(logits, -1)
        assert_close(bench.get(probs), softmax, tolerances.softmax(logits, -1))
        tensors.cross_entropy(x, goals, mean, probs)
        n = expected.size
        rtol, atol, why = tolerance
        atol = np.broadcast_to(atol, expected.shape).mean()
        sum_error = (n + 4) * 2.0**-24 * np.abs(np.nan_to_num(expected)).mean()
        why = f"mean of {n}, each {why}"
        assert_close(bench.get(mean), expected.mean(), Tolerance(rtol, atol + sum_error, why))


@pytest.mark.fast
@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1),
        (1, 2),
        (7, 3),
        (5, 257),
        (2, 66_000),
        (2, 3, 11),
        (13,),
        (4, 1),
        (3, 4096),
        (3, 4097),
        (2, 16_384),
        (2, 16_385),
    ],
    ids=str,
)
def test_cross_entropy(tensors: Any, shape: tuple[int, ...], scale: float) -> None:
    targets = np.random.default_rng(1).integers(0, shape[-1], shape[:-1])
    check_cross_entropy(tensors, floats(1, *shape) * np.float32(scale), np.asarray(targets))


@pytest.mark.parametrize("dtypes", ["f16 f16", "f32 f16", "f16 f32"])
def test_cross_entropy_of_mixed_floats(tensors: Any, dtypes: str) -> None:
    targets = np.arange(6).reshape(2, 3)
    check_cross_entropy(tensors, floats(1, 2, 3, 9, dtype="f16"), targets, dtypes)


def test_the_loss_of_a_probability_that_rounds_to_0(tensors: Any) -> None:
    logits = np.array([[0.0, 500.0, 499.0], [1e30, -1e30, 0.0]], np.float32)
    targets = np.array([0, 1], np.int32)
    with on_bench(tensors) as bench:
        loss, probs = bench.new((2,)), bench.new((2, 3))
        tensors.cross_entropy(bench.up(logits), bench.up(targets), loss, probs)
        assert bench.get(probs)[0, 0] == bench.get(probs)[1, 1] == 0.0
        expected = [500 + np.log1p(np.exp(-1)), 2e30]
        assert_close(bench.get(loss), expected, Tolerance(1e-6, 0.0, "float32 differences"))


def test_the_loss_of_a_masked_class_is_infinite(tensors: Any) -> None:
    logits = np.array([[0.0, -np.inf, 1.0], [np.nan, 0.0, 1.0], [np.inf, 0.0, 1.0]], np.float32)
    with on_bench(tensors) as bench:
        loss, probs = bench.new((3,)), bench.new((3, 3))
        targets = bench.up(np.array([1, 1, 0], np.int32))
        tensors.cross_entropy(bench.up(logits), targets, loss, probs)
        assert bench.get(loss)[0] == np.inf
        assert np.isnan(bench.get(loss)[1:]).all()
        expected = reference.softmax(logits, -1)
        assert_close(bench.get(probs), expected, Tolerance(1e-6, 0.0, "exp and a quotient"))


def test_targets_that_are_no_class_give_nan(tensors: Any) -> None:
    targets = np.array([0, -1, 4, 5, 2**31 - 1, -(2**31), 3], np.int32)
    logits = floats(1, 7, 4)
    expected = reference.cross_entropy(logits, targets)
    assert np.isnan(expected).sum() == 5
    with on_bench(tensors) as bench:
        loss, mean, probs = bench.new((7,)), bench.new(()), bench.new((7, 4))
        tensors.cross_entropy(bench.up(logits), bench.up(targets), loss, probs)
        assert_close(bench.get(loss), expected, tolerances.cross_entropy(logits, expected))
        softmax = reference.softmax(logits, -1)
        assert_close(bench.get(probs), softmax, tolerances.softmax(logits, -1))
        tensors.cross_entropy(bench.up(logits), bench.up(targets), mean, probs)
        assert np.isnan(bench.get(mean))


def test_cross_entropy_of_no_samples(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        x, targets = bench.new((0, 4)), bench.new((0,), "i32")
        loss, mean, probs = bench.new((0,)), bench.up(np.float32(1.0)), bench.new((0, 4))
        tensors.cross_entropy(x, targets, loss, probs)
        tensors.cross_entropy(x, targets, mean, probs)
        assert np.isnan(bench.get(mean))  # as NumPy's mean of an empty array


@pytest.mark.parametrize("dtype", FLOATS)
def test_cross_entropy_in_place(tensors: Any, dtype: str) -> None:
    logits = floats(1, 5, 300, dtype=dtype)
    targets = np.arange(5, dtype=np.int32)
    with on_bench(tensors) as bench:
        x, loss = bench.up(logits), bench.new((5,))
        tensors.cross_entropy(x, bench.up(targets), loss, x)
        expected = reference.cross_entropy(logits, targets)
        assert_close(bench.get(loss), expected, tolerances.cross_entropy(logits, expected))
        softmax = reference.softmax(logits, -1)
        assert_close(bench.get(x), softmax, tolerances.softmax(logits, -1))


# ---- embedding ----------------------------------------------------------------------------------


@pytest.mark.fast
@pytest.mark.parametrize(
    "dtypes", ["f32 f32", "f16 f16", "f16 f32", "f32 f16", "i32 i32", "u32 u32"]
)
def test_embedding(tensors: Any, dtypes: str) -> None:
    dtype, out = dtypes.split()
    random = np.random.default_rng(1)
    for entries, length in ((1, 1), (10, 7), (300, 257), (70_000, 1), (2, 66_000)):
        if dtype in FLOATS:
            weight = random.normal(size=(entries, length)).astype(np.float16).astype(DTYPES[dtype])
        else:
            weight = random.integers(0, 2**31, (entries, length)).astype(DTYPES[dtype]) * 2 + 1
        for shape in ((), (1,), (5,), (2, 3), (0,)):
            indices = np.asarray(random.integers(0, entries, shape), np.int32)
            expected = weight[indices].astype(DTYPES[out])
            with on_bench(tensors) as bench:
                result = bench.new(expected.shape, out)
                tensors.embedding(bench.up(indices), bench.up(weight), result)
                assert_same_bits(bench.get(result), expected, f"{entries} x {length}, {shape}")


@pytest.mark.parametrize("out", FLOATS)
def test_rows_of_halves_are_taken_as_they_are(backend: Any, tensors: Any, out: str) -> None:
    """A float16 table is not cast for a few of its rows."""
    for length in (2, 6, 8, 130):
        weight = floats(1, 50, length, dtype="f16")
        indices = np.array([3, 49, -1, 50, 0], np.int32)
        expected = np.full((5, length), np.nan, DTYPES[out])
        expected[[0, 1, 4]] = weight[[3, 49, 0]]
        with on_bench(tensors) as bench:
            result, table = bench.new(expected.shape, out), bench.up(weight)
            with dispatched(backend.device) as kernels:
                tensors.embedding(bench.up(indices), table, result)
            name = "embedding" if length % 8 else "embedding_vectors"
            assert kernels == ([name] if out == "f16" else [name, "cast"])  # casts the rows only
            assert_close(bench.get(result), expected, Tolerance(0.0, 0.0, "exact"))


def test_many_indices(tensors: Any) -> None:
    weight = floats(1, 5, 3)
    indices = np.random.default_rng(1).integers(0, 5, 70_001).astype(np.int32)
    with on_bench(tensors) as bench:
        out = bench.new((70_001, 3))
        tensors.embedding(bench.up(indices), bench.up(weight), out)
        assert_same_bits(bench.get(out), weight[indices], "rows")


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "u32"])
def test_indices_outside_the_table(tensors: Any, dtype: str) -> None:
    weight = (np.arange(12).reshape(4, 3) + 1).astype(DTYPES[dtype])
    indices = np.array([0, -1, 3, 4, 2**31 - 1, -(2**31), 1], np.int32)
    with on_bench(tensors) as bench:
        out = bench.new((7, 3), dtype)
        tensors.embedding(bench.up(indices), bench.up(weight), out)
        expected = reference.embedding(indices, weight)
        result = bench.get(out)
        if dtype in FLOATS:
            assert_close(result, expected.astype(np.float64), Tolerance(0.0, 0.0, "copies"))
        else:
            assert_same_bits(result, expected, "rows")


@pytest.mark.parametrize(("entries", "length"), [(0, 3), (4, 0)])
def test_empty_tables(tensors: Any, entries: int, length: int) -> None:
    with on_bench(tensors) as bench:
        out = bench.new((2, length))
        indices = bench.up(np.array([0, 1], np.int32))
        tensors.embedding(indices, bench.new((entries, length)), out)
        assert np.isnan(bench.get(out)).all()


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
def test_embedding_into_its_table_or_indices(tensors: Any, dtype: str) -> None:
    weight = np.arange(12).reshape(4, 3).astype(DTYPES[dtype])
    indices = np.array([3, 2, 0, 0], np.int32)
    with on_bench(tensors) as bench:
        table = bench.up(weight)
        tensors.embedding(bench.up(indices), table, table)
        assert_same_bits(bench.get(table), weight[indices], "rows")


def test_indices_that_are_overwritten(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        indices = bench.up(np.array([[2], [0], [1]], np.int32))
        # [3, 1] indices and D = 1 give [3, 1, 1]; only a scalar index could write its own row.
        weight = bench.up(np.array([[7], [8], [9]], np.int32))
        out = bench.new((3, 1, 1), "i32")
        tensors.embedding(indices, weight, out)
        assert bench.get(out).ravel().tolist() == [9, 7, 8]


# ---- any shapes ---------------------------------------------------------------------------------


@given(data=st.data())
def test_any_softmax(tensors: Any, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=4)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    scale = data.draw(st.sampled_from([0.01, 1.0, 100.0, 1e4]))
    x = floats(data.draw(st.integers(0, 99)), *shape) * np.float32(scale)
    check_softmax(tensors, x, axis, data.draw(st.sampled_from(FLOATS)))


@given(data=st.data())
def test_any_layer_norm(tensors: Any, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3)))
    seed = data.draw(st.integers(0, 99))
    gamma, beta = floats(seed + 1, shape[-1]), floats(seed + 2, shape[-1])
    check_layer_norm(tensors, floats(seed, *shape), gamma, beta, data.draw(st.floats(1e-6, 1.0)))


@given(data=st.data())
def test_any_cross_entropy(tensors: Any, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3)))
    targets = np.random.default_rng(data.draw(st.integers(0, 99))).integers(
        0, shape[-1], shape[:-1]
    )
    check_cross_entropy(tensors, floats(1, *shape), np.asarray(targets))
