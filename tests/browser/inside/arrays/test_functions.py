"""Array creation, shape functions, reductions and products, against NumPy."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import DTYPES, REALS, assert_same, by_default, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def test_asarray(bg: Any) -> None:
    for dtype in DTYPES:
        for shape in ((), (0,), (3,), (2, 3), (1, 0, 4)):
            x = sample(dtype, shape)
            assert_same(bg.asarray(x), x, f"{dtype} {shape}")
    assert bg.asarray([1, 2]).dtype == np.int64
    assert bg.asarray(1.5).dtype == np.float32
    assert bg.asarray([1j]).dtype == np.complex64
    assert bg.asarray([[True]]).dtype == np.bool_
    assert bg.asarray([1, 2], dtype=bg.asarray([1.0]).dtype).dtype == np.float32
    x = sample("float32", (4, 6))
    assert_same(bg.asarray(x.T), x.T)
    assert_same(bg.asarray(x.astype(">f4")), x)
    assert_same(bg.asarray([bg.asarray(1.0), 2.0]), [1.0, 2.0])
    array = bg.asarray(x)
    assert bg.asarray(array) is array
    assert bg.asarray(array, copy=True) is not array


def test_asarray_refuses_invalid_data(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(ValueError, match="3000000000"):
        bg.asarray([3_000_000_000], dtype="int32")
    with pytest.raises(ValueError, match="-1"):
        bg.asarray([-1], dtype="uint8")
    with pytest.raises(ValueError, match="copy"):
        bg.asarray([1.0], copy=False)
    before = bg.set_fallback("error")
    for data in (["a"], [object()], np.array(["2020"], "M8[Y]")):
        with pytest.raises(TypeError):
            bg.asarray(data)
    bg.set_fallback(before)
    with pytest.warns(bg.HostFallbackWarning, match=r"np\.asarray"):
        assert bg.asarray(["a"]).tolist() == ["a"], "which stays on the host"
    with pytest.raises(TypeError):
        bg.zeros(3, dtype="no such dtype")
    for shape in (-1, (2, -3), "ab", 1.5):
        with pytest.raises(InvalidArgument):
            bg.zeros(shape)


def test_64_bits_are_demoted_or_refused(bg: Any) -> None:
    wide = np.array([1.0, 2.0])
    bg.set_x64("demote")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert bg.zeros(2, dtype="float64").dtype == np.float32
            assert bg.asarray([1, 2], dtype=np.int64).dtype == np.int64
            assert bg.asarray(wide.astype(">f8")).dtype == np.float32
            assert (bg.zeros(2) + wide.astype(complex)).dtype == np.complex64
        assert bg.set_x64("quiet") == "demote"
        assert bg.asarray(wide, dtype=bg.float64).dtype == np.float32
    assert [str(w.message).split(",")[0] for w in caught] == [
        "the GPU has no float64", "the GPU has no complex128",
    ]  # fmt: skip
    assert all(Path(w.filename).name == Path(__file__).name for w in caught)
    bg.set_x64("raise")
    try:
        for call in (
            lambda: bg.zeros(2, dtype=bg.float64), lambda: bg.asarray(wide),
            lambda: bg.ones(2) * wide, lambda: bg.ones(2).astype("complex128"),
        ):  # fmt: skip
            with pytest.raises(TypeError, match=r"float32|int32|complex64"):
                call()
        for good in (
            bg.asarray([1.0, 2.0]), bg.asarray(wide, dtype="float32"), bg.ones(2) * np.float64(2),
            bg.asarray(3), bg.ones(2, dtype=float),
        ):  # fmt: skip
            assert good.dtype in (np.float32, np.int64)
    finally:
        bg.set_x64("demote")
    with pytest.raises(ValueError, match="mode"):
        bg.set_x64("promote")


def test_making_arrays(bg: Any) -> None:
    assert_same(bg.zeros((2, 3)), np.zeros((2, 3)))
    assert_same(bg.ones(4, dtype="int8"), np.ones(4, np.int8))
    assert_same(bg.full((2, 2), 7), by_default(np.full((2, 2), 7)))
    assert_same(bg.full((), True), np.full((), True))
    assert_same(bg.full(3, 1 + 2j), np.full(3, 1 + 2j))
    assert_same(bg.empty((0, 2)), np.empty((0, 2)))
    x = bg.asarray(sample("int16", (2, 3)))
    assert_same(bg.zeros_like(x), np.zeros((2, 3), np.int16))
    assert_same(bg.ones_like(x, dtype="float32"), np.ones((2, 3)))
    assert_same(bg.full_like(x, 5), np.full((2, 3), 5, np.int16))
    for arguments in ((10,), (3, 9), (9, 3), (9, 3, -2), (0, 1, 0.125), (2.5,), (5, 5)):
        expected = by_default(np.arange(*arguments))
        assert_same(bg.arange(*arguments), expected, str(arguments), rtol=1e-6)
    assert_same(bg.arange(256, dtype="uint8"), np.arange(256).astype(np.uint8))
    for arguments in ((0, 1, 11), (5, -5, 7), (2, 3, 1), (1, 2, 0)):
        assert_same(bg.linspace(*arguments), np.linspace(*arguments), str(arguments), rtol=1e-6)
    assert float(bg.linspace(0.1, 0.7, 13)[-1]) == np.float32(0.7)
    for arguments, k in (((3,), 0), ((3, 5), 1), ((4, 2), -1)):
        assert_same(bg.eye(*arguments, k=k), np.eye(*arguments, k=k))
    y = sample("float32", (2, 4, 5))
    for k in (-1, 0, 2):
        assert_same(bg.tril(bg.asarray(y), k=k), np.tril(y, k))
        assert_same(bg.triu(bg.asarray(y), k=k), np.triu(y, k))
    for indexing in ("xy", "ij"):
        vectors = (sample("float32", 3), sample("float32", 4), sample("float32", 2))
        got = bg.meshgrid(*map(bg.asarray, vectors), indexing=indexing)
        for one, expected in zip(got, np.meshgrid(*vectors, indexing=indexing), strict=True):
            assert_same(one, expected, indexing)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shapes_and_orders(bg: Any, dtype: str) -> None:
    x = sample(dtype, (3, 4, 2))
    a = bg.asarray(x)
    y = sample(dtype, (2, 4, 2), 1)
    b = bg.asarray(y)
    for got, expected in (
        (bg.reshape(a, (4, -1)), x.reshape(4, -1)),
        (bg.reshape(a.T, (6, 4)), x.T.reshape(6, 4)),
        (bg.reshape(a[:, ::2], (3, 2, 2, 1)), x[:, ::2].reshape(3, 2, 2, 1)),
        (bg.permute_dims(a, (2, 0, 1)), x.transpose(2, 0, 1)),
        (bg.moveaxis(a, (0, 1), (2, 0)), np.moveaxis(x, (0, 1), (2, 0))),
        (bg.matrix_transpose(a), x.swapaxes(1, 2)),
        (bg.expand_dims(a, axis=-2), np.expand_dims(x, -2)),
        (bg.expand_dims(a, (0, -1)), np.expand_dims(x, (0, -1))),
        (bg.expand_dims(a, ()), x),
        (bg.squeeze(a[:, 1:2], 1), x[:, 1]),
        (bg.flip(a, axis=(0, 2)), np.flip(x, (0, 2))),
        (bg.roll(a, 5), np.roll(x, 5)),
        (bg.roll(a, (1, -3), axis=(0, 1)), np.roll(x, (1, -3), axis=(0, 1))),
        (bg.concat([a, b]), np.concatenate([x, y])),
        (bg.concat([a, b], axis=None), np.concatenate([x, y], axis=None)),
        (bg.concat([a[..., :1], a], axis=2), np.concatenate([x[..., :1], x], 2)),
        (bg.stack([a, a], axis=1), np.stack([x, x], axis=1)),
        (bg.repeat(a, 2), np.repeat(x, 2)),
        (bg.repeat(a, [0, 2, 1, 3], axis=1), np.repeat(x, [0, 2, 1, 3], axis=1)),
        (bg.tile(a, (2, 1, 3)), np.tile(x, (2, 1, 3))),
        (bg.tile(a, (2,)), np.tile(x, (2,))),
        (bg.broadcast_to(a, (2, 3, 4, 2)), np.broadcast_to(x, (2, 3, 4, 2))),
        (bg.unstack(a, axis=1)[2], x[:, 2]),
        (bg.broadcast_arrays(a[0], a[:, :1])[0], np.broadcast_arrays(x[0], x[:, :1])[0]),
    ):  # fmt: skip
        assert_same(got, expected, dtype)


def test_repetitions_of_any_integers(bg: Any) -> None:
    x = sample("float32", (3, 4))
    a = bg.asarray(x)
    for kind in ("int8", "uint16", "int32", "uint32", "int64", "uint64"):
        counts = np.array([0, 2, 1, 3], kind)
        assert_same(bg.repeat(a, counts, axis=1), np.repeat(x, [0, 2, 1, 3], 1), kind)
        assert_same(bg.repeat(a, counts[1]), np.repeat(x, 2), kind)
    for counts in (np.int64([2**32, 0, 0, 0]), [2**31, 0, 0, 2**31], np.int64(2**31)):
        with pytest.raises(ValueError, match="repeat: repeats must be at most"):
            bg.repeat(a, counts, axis=1)


def test_many_arrays_in_one(bg: Any) -> None:
    parts = [sample("float32", (n, 3), n) for n in range(30)]
    assert_same(bg.concat([bg.asarray(x) for x in parts]), np.concatenate(parts))
    mixed = [sample(dtype, 3) for dtype in ("int8", "float16", "bool")]
    assert bg.concat([bg.asarray(x) for x in mixed]).dtype == np.float16


def test_shapes_that_are_refused(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    a = bg.asarray(sample("float32", (3, 4)))
    for call in (
        lambda: bg.reshape(a, (5, 3)), lambda: bg.reshape(a, (-1, -1)), lambda: bg.squeeze(a, 0),
        lambda: bg.permute_dims(a, (0, 0)), lambda: bg.concat([a, a[:, :2]]), lambda: bg.concat([]),
        lambda: bg.broadcast_to(a, (2, 4)), lambda: bg.expand_dims(a, axis=4),
        lambda: bg.expand_dims(a, (0, 0)), lambda: bg.broadcast_shapes((2,), (3, 4)),
        lambda: bg.reshape(a.T, (12,), copy=False), lambda: bg.roll(a, (1, 2), axis=0),
        lambda: bg.sum(a, axis=2), lambda: bg.max(a[:0]), lambda: bg.matmul(a, a),
        lambda: bg.moveaxis(a, (0, 1), (1, 1)), lambda: bg.arange(1, 2, 0),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            call()


#: Reductions of rows, of four columns per thread, of single columns, and in two steps.
AXES: list[tuple[tuple[int, ...], Any]] = [
    ((3, 7), None), ((3, 7), -1), ((5, 8), 0), ((4, 3, 5), 1), ((3, 5, 4), (0, 2)),
]  # fmt: skip


@pytest.mark.parametrize("function", ["sum", "prod", "max", "min", "mean", "any", "all"])
def test_reductions(bg: Any, function: str) -> None:
    dtypes = ("bool", "int8", "uint16", "float16", "float32", "complex64")
    for number, dtype in enumerate(dtypes):
        if function in ("max", "min") and dtype in ("bool", "complex64"):
            continue
        if (function, number % 2) in (("any", 0), ("all", 1)):
            continue  # any and all take alternate dtypes: both read them by the same expression
        # Each layout of threads is a kernel of its own. Sums of float32 test all of them; other
        # reductions take turns.
        every = (function, dtype) == ("sum", "float32")
        for shape, axis in AXES if every else AXES[(number + len(function)) % len(AXES) :: 5]:
            x = sample(dtype, shape)
            if function == "prod":
                x = (x % 3).astype(dtype) if dtype != "complex64" else x
            keepdims = number % 2 == 0
            with np.errstate(all="ignore"):
                wide = x
                if function in ("sum", "prod", "mean") and dtype in ("float16", "float32"):
                    wide = x.astype(np.float64)
                expected = getattr(np, function)(wide, axis=axis, keepdims=keepdims)
            if function in ("sum", "prod"):
                kind = np.dtype(dtype).kind
                name = {"b": "int64", "i": "int64", "u": "uint64"}.get(kind, dtype)
                expected = np.asarray(expected).astype(name)
            elif dtype == "float16" and function == "mean":
                expected = np.asarray(expected).astype(dtype)
            got = getattr(bg, function)(bg.asarray(x), axis=axis, keepdims=keepdims)
            rtol = 0.0 if np.dtype(dtype).kind in "biu" and function != "mean" else 1e-6
            rtol = 2e-3 if dtype == "float16" else rtol
            assert_same(got, expected, f"{function} of {dtype}, {shape}, {axis}", rtol=rtol)


def test_reductions_in_several_passes(bg: Any) -> None:
    for shape, axis in (((3, 70_001), 1), ((70_000, 5), 0), ((9000, 8), 0), ((40_000,), None)):
        x = sample("int32", shape)
        a = bg.asarray(x)
        assert_same(bg.sum(a, axis=axis), by_default(x.sum(axis)), str(shape))
        expected = by_default((x * 3 - 1).sum(axis))
        assert_same(bg.sum(a * 3 - 1, axis=axis), expected, f"{shape}, pending")
        ones = bg.ones(shape, dtype="float32")
        assert_same(bg.mean(ones * 4, axis=axis), np.mean(np.full(shape, 4.0), axis=axis))


def test_parts_in_the_middle_of_memory(bg: Any) -> None:
    """Their elements are contiguous, but do not start at the buffer's beginning."""
    x = sample("float32", (6, 4))
    a = bg.asarray(x)
    part, row = a[2:5], a[3]
    y, z = x[2:5], x[3]
    for got, expected in (
        (bg.sort(part), np.sort(y)), (bg.argsort(row), np.argsort(z)),
        (part @ a.T, y @ x.T), (a @ row, x @ z), (bg.cumulative_sum(row), np.cumsum(z)),
        (bg.argmax(part, axis=0), y.argmax(0)), (bg.sum(part, axis=0), y.sum(0)),
        (bg.var(part, axis=1), y.var(1)), (bg.unique_values(row), np.unique(z)),
        (bg.nonzero(row > 0)[0], np.nonzero(z > 0)[0]), (part[part > 0], y[y > 0]),
        (bg.searchsorted(bg.sort(a[:, 0]), a[4, 1]), np.searchsorted(np.sort(x[:, 0]), x[4, 1])),
        (bg.fft.fft(row), np.fft.fft(z)), (bg.diff(row), np.diff(z)),
        (bg.take(a, bg.asarray([9, 9, 2, 1])[2:], axis=1), x[:, [2, 1]]),
        (bg.nn.softmax(part, -1), np.exp(y) / np.exp(y).sum(-1, keepdims=True)),
        (bg.linalg.vector_norm(row), np.linalg.norm(z)),
        (bg.linalg.qr(part).R, np.linalg.qr(y).R),
    ):  # fmt: skip
        assert_same(got, by_default(expected), rtol=1e-4)


def test_variances(bg: Any) -> None:
    x = sample("float32", (6, 5, 3))
    for axis in (None, 0, (0, 2)):
        for correction in (0, 1):
            for function in ("var", "std"):
                expected = getattr(np, function)(x.astype(np.float64), axis=axis, ddof=correction)
                got = getattr(bg, function)(bg.asarray(x), axis=axis, correction=correction)
                assert_same(got, expected, function, rtol=1e-5)
    assert_same(bg.var(bg.asarray([1, 2, 4])), np.var([1, 2, 4]), rtol=1e-6)


def test_reductions_of_strided_and_pending_arrays(bg: Any) -> None:
    x = sample("float32", (40, 30))
    a = bg.asarray(x)
    assert_same(bg.sum(a.T[::3] * 2, axis=0), (x.T[::3] * 2).sum(0, np.float64), rtol=1e-6)
    assert_same(bg.max(a[::-1, 1:], axis=1), x[::-1, 1:].max(1))
    nan = bg.asarray([1.0, np.nan, 2.0])
    assert_same(bg.max(nan), np.nan)
    assert_same(bg.any(nan), True)
    for function, expected in (("sum", 0.0), ("prod", 1.0), ("any", False), ("all", True)):
        assert_same(getattr(bg, function)(bg.zeros((0, 3)), axis=0), np.full(3, expected))
    assert_same(bg.count_nonzero(bg.asarray([0, 3, 0, 4])), by_default(2))


def test_products(bg: Any) -> None:
    shapes = [((3, 4), (4, 5)), ((4,), (4,)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)),
              ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2)), ((0, 3), (3, 2))]  # fmt: skip
    for dtype in ("float32", "float16", "complex64", "int32", "uint8"):
        for one, other in shapes if dtype != "uint8" else shapes[:2]:
            x, y = sample(dtype, one), sample(dtype, other, 1)
            with np.errstate(all="ignore"):
                expected = np.matmul(x.astype(np.float64) if dtype == "float16" else x, y)
            rtol = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 0.0)
            got = bg.asarray(x) @ bg.asarray(y)
            assert_same(
                got, np.asarray(expected).astype(dtype), f"{dtype} {one} {other}", rtol=rtol
            )
    x, y = sample("float32", (3, 4, 5)), sample("float32", (4, 3, 2), 1)
    a, b = bg.asarray(x), bg.asarray(y)
    axes = ([1, 0], [0, 1])
    assert_same(bg.tensordot(a, b, axes=axes), np.tensordot(x, y, axes=axes), rtol=1e-5)
    assert_same(bg.tensordot(a, b, axes=0), np.tensordot(x, y, axes=0), rtol=1e-5)
    assert_same(bg.vecdot(a, a[0]), np.vecdot(x, x[0]), rtol=1e-5)
    c = sample("complex64", 6)
    assert_same(bg.vecdot(bg.asarray(c), bg.asarray(c)), np.vecdot(c, c), rtol=1e-5)


def test_facts_about_the_namespace(bg: Any, backend: Any) -> None:
    info = bg.__array_namespace_info__()
    assert info.default_device() is backend.device
    assert backend.device in info.devices()
    # float16 is not in the standard.
    assert set(info.dtypes()) == {*DTYPES, "int64", "uint64"} - {"float16"}
    assert bg.__array_api_version__ == "2025.12"
    assert bg.broadcast_shapes((3, 1), (), (2, 1, 4)) == (2, 3, 4)
    assert list(info.dtypes(kind="complex floating")) == ["complex64"]
    assert info.default_dtypes()["integral"] == bg.int64
    assert info.capabilities()["boolean indexing"]
    assert bg.zeros(2, dtype=bg.uint16).dtype == bg.uint16
    assert bg.asarray([1.0])[bg.newaxis].shape == (1, 1)
    assert (bg.pi, bg.inf) == (np.pi, np.inf)


def test_facts_about_dtypes(bg: Any) -> None:
    assert bg.result_type(np.int32, np.float16) == np.float32
    assert bg.result_type(np.uint32, np.int8) == np.int64
    assert bg.result_type(bg.asarray(np.float16([1])), 2.5) == np.float16
    assert bg.can_cast(np.int8, np.int16)
    assert not bg.can_cast(np.float32, np.int32)
    for dtype in DTYPES:
        assert bg.isdtype(np.dtype(dtype), "numeric") == (dtype != "bool")
        assert bg.isdtype(np.dtype(dtype), (np.dtype(dtype), "bool"))
    assert bg.finfo(bg.asarray([1.0])).bits == 32
    assert bg.finfo(np.complex64).dtype == np.float32
    assert bg.iinfo("uint8").max == 255
    assert len(REALS) == 8
