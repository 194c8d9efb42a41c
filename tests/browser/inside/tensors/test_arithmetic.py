"""pointwise_add, relu, gelu, matmul, matmul_bias, reduce_sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside import reference as plain
from inside import tolerances as plain_tolerances
from inside.comparison import assert_same_bits
from inside.gpu import whole_array
from inside.spies import dispatched
from inside.tensors import tolerances
from inside.tensors.lab import DTYPES, FLOATS, LENGTHS, assert_close, floats, on_bench
from inside.tolerances import Tolerance

pytestmark = pytest.mark.native

SHAPES = [(), (0,), (3, 0), *((n,) for n in LENGTHS), (3, 5), (2, 3, 5, 7)]


# ---- pointwise_add ------------------------------------------------------------------------------


@pytest.mark.parametrize("out", FLOATS)
@pytest.mark.parametrize("b", FLOATS)
@pytest.mark.parametrize("a", FLOATS)
def test_add_of_floats(tensors: Any, a: str, b: str, out: str) -> None:
    for shape in SHAPES:
        x, y = floats(1, *shape, dtype=a), floats(2, *shape, dtype=b)
        with on_bench(tensors) as bench:
            result = bench.new(shape, out)
            tensors.pointwise_add(bench.up(x), bench.up(y), result)
            expected = x.astype(np.float64) + y
            assert_close(bench.get(result), expected, plain_tolerances.binary("add", x, y))


@pytest.mark.parametrize("dtype", ["i32", "u32"])
def test_add_of_integers_is_modulo_2_32(tensors: Any, dtype: str) -> None:
    random = np.random.default_rng(1)
    limits = np.iinfo(DTYPES[dtype])
    for shape in SHAPES:
        x, y = (
            random.integers(limits.min, limits.max, shape, DTYPES[dtype], endpoint=True)
            for _ in range(2)
        )
        x, y = np.asarray(x, DTYPES[dtype]), np.asarray(y, DTYPES[dtype])
        with on_bench(tensors) as bench:
            result = bench.new(shape, dtype)
            tensors.pointwise_add(bench.up(x), bench.up(y), result)
            with np.errstate(over="ignore"):
                assert_same_bits(bench.get(result), np.asarray(x + y), str(shape))


@pytest.mark.fast
@pytest.mark.parametrize("same", ["out is a", "out is b", "a is b", "all"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "u32"])
def test_add_in_place(tensors: Any, dtype: str, same: str) -> None:
    for n in (1, 5, 1025):
        x, y = (whole_array(seed, n).astype(np.int32).astype(DTYPES[dtype]) for seed in (1, 2))
        with on_bench(tensors) as bench:
            a = bench.up(x)
            b = bench.up(y) if same in ("out is a", "out is b") else a
            out = {"out is a": a, "out is b": b, "a is b": bench.new((n,), dtype), "all": a}[same]
            tensors.pointwise_add(a, b, out)
            assert_same_bits(bench.get(out), x + (y if b != a else x), same)
            if same == "out is a":
                assert_same_bits(bench.get(b), y, "b")


def test_add_of_specials(tensors: Any) -> None:
    specials = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 6e4, -6e4], np.float16)
    x, y = (part.ravel().copy() for part in np.meshgrid(specials, specials))
    with np.errstate(all="ignore"):
        for dtype in FLOATS:
            with on_bench(tensors) as bench:
                result = bench.new(x.shape, dtype)
                tensors.pointwise_add(bench.up(x), bench.up(y), result)
                expected = x.astype(np.float64) + y  # 1.2e5 overflows float16
                assert_close(bench.get(result), expected, Tolerance(0.0, 0.0, "exact"))


# ---- relu, gelu ---------------------------------------------------------------------------------


@pytest.mark.parametrize("out", FLOATS)
@pytest.mark.parametrize("into", FLOATS)
@pytest.mark.parametrize("op", ["relu", "gelu"])
def test_unary(tensors: Any, op: str, into: str, out: str) -> None:
    for shape in SHAPES:
        x = floats(3, *shape, dtype=into) * np.float16(2.5)
        with on_bench(tensors) as bench:
            result = bench.new(shape, out)
            getattr(tensors, op)(bench.up(x), result)
            assert_close(bench.get(result), plain.unary(op, x), plain_tolerances.unary(op, x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ["relu", "gelu"])
def test_unary_in_place_and_specials(tensors: Any, op: str, dtype: str) -> None:
    specials = [0.0, -0.0, np.inf, -np.inf, np.nan, 100.0, -100.0, 6e4, -6e4, 1e-4, -1e-4]
    x = np.array(specials, DTYPES[dtype])
    with on_bench(tensors) as bench:
        handle = bench.up(x)
        getattr(tensors, op)(handle, handle)
        assert_close(bench.get(handle), plain.unary(op, x), plain_tolerances.unary(op, x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gelus_exact_form(tensors: Any, dtype: str) -> None:
    from browsergpu.errors import InvalidArgument

    x = floats(7, 301, dtype=dtype) * np.float16(3.0)
    with on_bench(tensors) as bench:
        handle = bench.up(x)
        tensors.gelu(handle, handle, approximate="none")
        tolerance = plain_tolerances.unary("gelu_erf", x)
        assert_close(bench.get(handle), plain.unary("gelu_erf", x), tolerance)
        with pytest.raises(InvalidArgument, match="approximate"):
            tensors.gelu(handle, handle, approximate="erf")


# ---- matmul, matmul_bias ------------------------------------------------------------------------

PRODUCTS = {
    "1 x 1": ((1, 1), (1, 1)),
    "primes": ((67, 71), (71, 73)),
    "long sum": ((3, 5003), (5003, 2)),
    "row": ((1, 37), (37, 129)),
    "column": ((129, 37), (37, 1)),
    "batch of both": ((3, 5, 7), (3, 7, 11)),
    "deep batch": ((2, 3, 9, 11), (2, 3, 11, 5)),
    "one b for all": ((2, 3, 9, 11), (11, 5)),
    "one a for all": ((9, 11), (4, 11, 5)),
    "batch of one": ((1, 5, 7), (7, 3)),
    "no rows": ((0, 5), (5, 3)),
    "no columns": ((3, 5), (5, 0)),
    "empty sum": ((3, 0), (0, 4)),
    "empty sums": ((2, 3, 0), (2, 0, 4)),
    "no matrices": ((0, 3, 5), (0, 5, 2)),
    "one b for none": ((0, 3, 5), (5, 2)),
    "one a for none": ((3, 5), (0, 5, 2)),
}


def product(tensors: Any, x: np.ndarray, y: np.ndarray, bias: np.ndarray | None, out: str) -> None:
    expected = x.astype(np.float64) @ y.astype(np.float64)
    if bias is not None:
        expected = expected + bias
    with on_bench(tensors) as bench:
        result = bench.new(expected.shape, out)
        if bias is None:
            tensors.matmul(bench.up(x), bench.up(y), result)
        else:
            tensors.matmul_bias(bench.up(x), bench.up(y), bench.up(bias), result)
        assert_close(bench.get(result), expected, tolerances.matmul(x, y, bias))


@pytest.mark.fast
@pytest.mark.parametrize("biased", [False, True], ids=["matmul", "matmul_bias"])
@pytest.mark.parametrize(("a", "b"), PRODUCTS.values(), ids=PRODUCTS.keys())
def test_products(tensors: Any, a: tuple[int, ...], b: tuple[int, ...], biased: bool) -> None:
    bias = floats(3, b[-1]) if biased else None
    product(tensors, floats(1, *a), floats(2, *b), bias, "f32")


@pytest.mark.parametrize("dtypes", ["f32 f32 f32 f16", "f16 f16 f16 f32", "f16 f32 f16 f16",
                                    "f32 f16 f32 f32", "f16 f16 f16 f16"])  # fmt: skip
def test_products_of_mixed_floats(tensors: Any, dtypes: str) -> None:
    a, b, bias, out = dtypes.split()
    x, y = floats(1, 2, 17, 33, dtype=a), floats(2, 33, 19, dtype=b)
    product(tensors, x, y, None, out)
    product(tensors, x, y, floats(3, 19, dtype=bias), out)


@pytest.mark.parametrize("shapes", [((3, 5), (5, 7)), ((2, 40, 33), (33, 19)), ((1, 9), (9, 33))])
def test_products_of_halves_are_the_executors(backend: Any, tensors: Any, shapes: Any) -> None:
    from browsergpu import KernelExecutor

    executor = KernelExecutor(backend.device)
    x, y = (floats(i, *shape, dtype="f16") for i, shape in enumerate(shapes))
    with dispatched(backend.device) as of_executor:
        expected = executor.matmul(executor.from_numpy(x), executor.from_numpy(y))
    with on_bench(tensors) as bench:
        out = bench.new(expected.shape, "f16")
        with dispatched(backend.device) as of_tensors:
            tensors.matmul(bench.up(x), bench.up(y), out)
        assert_same_bits(bench.get(out), expected.numpy(), "the product")
    assert of_tensors == of_executor
    assert "cast" not in of_tensors


@pytest.mark.parametrize("dtypes", ["f32 f16 f16 f32", "f16 f16 f16 f16", "f16 f16 f32 f32"])
def test_products_cast_nothing(backend: Any, tensors: Any, dtypes: str) -> None:
    a, b, bias, out = dtypes.split()
    with dispatched(backend.device) as kernels:
        product(
            tensors, floats(1, 17, 33, dtype=a), floats(2, 33, 19, dtype=b),
            floats(3, 19, dtype=bias), out,
        )  # fmt: skip
    assert kernels
    assert "cast" not in kernels


def test_functions_of_halves_are_one_dispatch(backend: Any, tensors: Any) -> None:
    with on_bench(tensors) as bench:
        x, y = (bench.up(floats(i, 3, 7, dtype="f16")) for i in (1, 2))
        out, wide = bench.new((3, 7), "f16"), bench.new((3, 7), "f32")
        for call in (
            lambda: tensors.pointwise_add(x, y, out),
            lambda: tensors.pointwise_add(x, y, wide),
            lambda: tensors.pointwise_add(x, wide, x),
            lambda: tensors.relu(x, out),
            lambda: tensors.gelu(x, wide),
            lambda: tensors.gelu(wide, out, "none"),
            lambda: tensors.gelu(y, y),
        ):
            with dispatched(backend.device) as kernels:
                call()
            assert kernels == ["fused"]


@pytest.mark.parametrize("same", ["a", "b", "bias", "both"])
def test_products_into_an_input(tensors: Any, same: str) -> None:
    x, y = floats(1, 33, 33), floats(2, 33, 33)
    with on_bench(tensors) as bench:
        a, b = bench.up(x), bench.up(y)
        if same == "bias":
            row, square, bias = floats(3, 1, 33), y, floats(4, 33)
            shared = bench.up(bias)
            # Only for an empty product does a bias [N] have the product's shape.
            out = bench.new((1, 33))
            tensors.matmul_bias(bench.up(row), b, shared, out)
            expected = row.astype(np.float64) @ square + bias
            assert_close(bench.get(out), expected, tolerances.matmul(row, square, bias))
            return
        if same == "both":
            b, y = a, x
        out = b if same == "b" else a
        tensors.matmul(a, b, out)
        assert_close(bench.get(out), x.astype(np.float64) @ y, tolerances.matmul(x, y))


def test_products_of_nan_and_infinity(tensors: Any) -> None:
    x, y = np.ones((4, 3), np.float32), np.ones((3, 5), np.float32)
    x[1, 2], x[2, 0], y[0, 3] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        expected = x.astype(np.float64) @ y
    with on_bench(tensors) as bench:
        out = bench.new((4, 5))
        tensors.matmul(bench.up(x), bench.up(y), out)
        assert_close(bench.get(out), expected, Tolerance(0.0, 1e-6, "sums of three ones"))


# ---- reduce_sum ---------------------------------------------------------------------------------

REDUCED = [(1,), (5,), (257,), (70_001,), (3, 5), (2, 3, 5), (3, 1, 2), (5, 66_000), (66_000, 3),
           (2, 0, 3), (0,), (2, 300, 2, 3)]  # fmt: skip


def dims(shape: tuple[int, ...]) -> list[int | None]:
    return [None, *range(-len(shape), len(shape))]


def reduced(shape: tuple[int, ...], dim: int | None) -> list[tuple[int, ...]]:
    """Return the allowed output shapes."""
    if dim is None:
        return [(), (1,) * len(shape)]
    kept = list(shape)
    kept[dim] = 1
    return [np.empty(shape).sum(dim).shape, tuple(kept)]


@pytest.mark.fast
@pytest.mark.parametrize("shape", REDUCED, ids=str)
def test_sums(tensors: Any, shape: tuple[int, ...]) -> None:
    x = floats(1, *shape)
    with on_bench(tensors) as bench:
        source = bench.up(x)
        for dim in dims(shape):
            for out_shape in reduced(shape, dim):
                out = bench.new(out_shape)
                tensors.reduce_sum(source, out, dim)
                rtol, atol, why = tolerances.total(x, dim)
                expected = x.astype(np.float64).sum(dim).reshape(out_shape)
                atol = np.broadcast_to(atol, np.shape(x.sum(dim))).reshape(out_shape)
                assert_close(bench.get(out), expected, Tolerance(rtol, atol, why))


@pytest.mark.parametrize("out_dtype", ["i32", "u32"])
@pytest.mark.parametrize("dtype", ["i32", "u32", "bool"])
def test_sums_of_integers(tensors: Any, dtype: str, out_dtype: str) -> None:
    random = np.random.default_rng(7)
    for shape in REDUCED:
        if dtype == "bool":
            x = random.integers(0, 2, shape).astype(bool)
        else:
            limits = np.iinfo(DTYPES[dtype])
            x = random.integers(limits.min, limits.max, shape, DTYPES[dtype], endpoint=True)
        with on_bench(tensors) as bench:
            source = bench.up(x)
            for dim in dims(shape):
                for out_shape in reduced(shape, dim):
                    out = bench.new(out_shape, out_dtype)
                    tensors.reduce_sum(source, out, dim)
                    exact = np.asarray(x.astype(np.int64).sum(dim)).reshape(out_shape)
                    wrapped = exact.astype(np.uint32).view(DTYPES[out_dtype])
                    assert_same_bits(bench.get(out), wrapped, f"{shape} over {dim}")


@pytest.mark.parametrize("dtypes", ["f16 f16", "f16 f32", "f32 f16"])
def test_sums_of_halves_are_made_in_float32(tensors: Any, dtypes: str) -> None:
    into, out = dtypes.split()
    x = whole_array(1, 4, 3000).astype(DTYPES[into])
    x[0] = 30.0  # 90,000 overflows float16
    with on_bench(tensors) as bench:
        result = bench.new((4,), out)
        tensors.reduce_sum(bench.up(x), result, 1)
        expected = x.astype(np.float64).sum(1)
        assert_close(bench.get(result), expected, Tolerance(0.0, 0.0, "sums of small integers"))


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "u32"])
def test_sums_into_the_input(tensors: Any, dtype: str) -> None:
    x = np.arange(1, 6).reshape(5, 1).astype(DTYPES[dtype])
    with on_bench(tensors) as bench:
        handle = bench.up(x)
        tensors.reduce_sum(handle, handle, 1)
        assert_same_bits(bench.get(handle), x, "a sum over an axis of 1")


def test_the_sum_of_a_scalar(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        out = bench.new(())
        tensors.reduce_sum(bench.up(np.float32(2.5)), out, None)
        assert float(bench.get(out)) == 2.5


@pytest.mark.parametrize("values", [[1, np.nan, 2], [np.inf, 1, 2], [np.inf, -np.inf, 0]])
def test_sums_of_specials(tensors: Any, values: list[float]) -> None:
    x = np.array(values, np.float32)
    with on_bench(tensors) as bench:
        out = bench.new(())
        tensors.reduce_sum(bench.up(x), out, None)
        with np.errstate(invalid="ignore"):
            assert_same_bits(np.isnan(bench.get(out)), np.isnan(x.sum()), "NaN")
            assert np.isnan(x.sum()) or bench.get(out) == x.sum()


# ---- any shapes ---------------------------------------------------------------------------------

small = st.integers(0, 6)


@given(data=st.data())
def test_any_product(tensors: Any, data: st.DataObject) -> None:
    lead = tuple(data.draw(st.lists(st.integers(0, 3), max_size=2), "leading dimensions"))
    m, n, k = (data.draw(st.integers(0, 40)) for _ in range(3))
    shared = data.draw(st.sampled_from(["none", "a", "b"]))
    a = (m, k) if shared == "a" else (*lead, m, k)
    b = (k, n) if shared == "b" else (*lead, k, n)
    dtypes = [data.draw(st.sampled_from(FLOATS)) for _ in range(4)]
    bias = floats(3, n, dtype=dtypes[2]) if data.draw(st.booleans()) else None
    x, y = floats(1, *a, dtype=dtypes[0]), floats(2, *b, dtype=dtypes[1])
    product(tensors, x, y, bias, dtypes[3])


@given(data=st.data())
def test_any_sum(tensors: Any, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(small, min_size=1, max_size=4)))
    dim = data.draw(st.sampled_from(dims(shape)))
    out_shape = data.draw(st.sampled_from(reduced(shape, dim)))
    x = whole_array(1, *shape)
    with on_bench(tensors) as bench:
        out = bench.new(out_shape)
        tensors.reduce_sum(bench.up(x), out, dim)
        assert_same_bits(bench.get(out), np.asarray(x.sum(dim)).reshape(out_shape), "sum")
