"""Dtypes, and conversion of arrays and bytes to and from the device's tensor format."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.device.host_tensors import from_device, to_device
from browsergpu.errors import InvalidArgument

pytestmark = pytest.mark.fast

SIZES = {"f32": 4, "f16": 2, "i32": 4, "u32": 4, "bool": 4, "u8": 1}


def to(data: Any, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return to_device("op", "data", data, shape, DType(dtype))


# ---- dtypes -------------------------------------------------------------------------------------


def test_dtypes_are_their_strings() -> None:
    assert [*DType] == list(SIZES)
    for name in SIZES:
        assert DType(name) == name
        assert f"{DType(name)}" == name
        assert hash(DType(name)) == hash(name)


@pytest.mark.parametrize("dtype", DType)
def test_dtypes_by_numpys_names(dtype: DType) -> None:
    numpy = dtype.numpy
    for name in (numpy, numpy.type, numpy.name, numpy.str, numpy.str[1:], numpy.newbyteorder(">"),
                 numpy.newbyteorder(">").str):  # fmt: skip
        assert DType(name) is dtype
    assert DType(dtype) is dtype
    assert DType(bool) is DType.BOOL


@pytest.mark.parametrize(
    "value",
    [np.float64, "float64", "f8", "i8", np.int64, float, int, str, np.str_, object, None, "f4,f4",
     np.dtype("f4,f4"), np.dtype((np.float32, 2)), [], {}, 4, "F32", ""],
    ids=str,
)  # fmt: skip
def test_values_that_are_not_dtypes(value: Any) -> None:
    with pytest.raises(ValueError, match="DType"):
        DType(value)


def test_the_name_u8_is_one_byte_not_eight() -> None:
    assert DType("u8") is DType.U8
    assert DType("u1") is DType.U8
    with pytest.raises(ValueError, match="DType"):
        DType(np.dtype("u8"))


@pytest.mark.parametrize("dtype", DType)
def test_dtypes_sizes(dtype: DType) -> None:
    assert dtype.device_bytes(7) == 7 * SIZES[dtype]
    assert dtype.device_numpy.itemsize == SIZES[dtype]
    assert dtype.numpy.itemsize == (1 if dtype == "bool" else SIZES[dtype])
    assert dtype.is_float == (dtype in ("f32", "f16"))
    assert dtype.is_whole == (dtype in ("i32", "u32"))


# ---- to the device ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DType)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_arrays_and_bytes_give_the_same(dtype: DType, shape: tuple[int, ...]) -> None:
    array = (np.arange(math.prod(shape)).reshape(shape) % 2).astype(dtype.numpy)
    for data in (array, array.tobytes(), bytearray(array.tobytes()), memoryview(array)):
        result = to(data, shape, dtype)
        assert result.dtype == dtype.device_numpy
        assert result.flags.c_contiguous
        assert result.nbytes == dtype.device_bytes(array.size)
        assert result.tobytes() == array.astype(dtype.device_numpy).tobytes()
        back = from_device(result.reshape(shape), dtype)
        assert back.dtype == dtype.numpy
        assert back.tobytes() == array.tobytes()


def test_bools_from_bytes_are_0_or_1() -> None:
    assert to(b"\x00\x01\x02\xff", (4,), "bool").tolist() == [0, 1, 1, 1]


def test_any_word_but_0_comes_back_true() -> None:
    words = np.array([0, 1, 2, 2**32 - 1], np.uint32)
    assert from_device(words, DType.BOOL).tolist() == [False, True, True, True]
    assert from_device(words, DType.BOOL).tobytes() == b"\x00\x01\x01\x01"


def test_the_array_is_not_changed() -> None:
    array = np.arange(6, dtype=np.int64).reshape(2, 3)[:, ::-1]
    before = array.copy()
    assert to(array, (2, 3), "i32").tolist() == before.tolist()
    assert (array == before).all()


@given(data=st.data())
def test_integers_are_accepted_if_all_fit(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(["i32", "u32", "u8"]))
    source = np.dtype(data.draw(st.sampled_from(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])))
    own, limits = np.iinfo(source), np.iinfo(DType(target).numpy)
    edges = [edge + step for edge in (limits.min, limits.max) for step in (-1, 0, 1)]
    inside = [edge for edge in edges if own.min <= edge <= own.max]
    number = st.integers(own.min, own.max)
    values = data.draw(st.lists(number | st.sampled_from(inside) if inside else number))
    array = np.array(values, source)
    if all(limits.min <= value <= limits.max for value in values):
        assert to(array, array.shape, target).tolist() == values
        return
    with pytest.raises(InvalidArgument) as caught:
        to(array, array.shape, target)
    assert str(limits.max) in str(caught.value)
    assert int(caught.value.value) in values


@pytest.mark.parametrize("dtype", DType)
def test_float64_is_refused(dtype: DType) -> None:
    for data in (np.ones(2), np.float64(1.0)):
        with pytest.raises(InvalidArgument, match=r"float64.*\.astype\(np\."):
            to(data, np.shape(data), dtype)


REFUSED = [
    ("f4", "f16"), ("f4", "i32"), ("f4", "u8"), ("f2", "i32"), ("i4", "f32"), ("i8", "f16"),
    ("i4", "bool"), ("u1", "bool"), ("?", "i32"), ("?", "f32"), ("c8", "f32"), (">f4", "f16"),
    (">i4", "f32"), ("U3", "f32"), ("M8[s]", "i32"), ("O", "f32"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target"), REFUSED)
def test_conversions_that_would_change_values_are_refused(source: str, target: str) -> None:
    with pytest.raises(InvalidArgument, match="op: data must"):
        to(np.zeros(3, source), (3,), target)


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "u32"])
def test_arrays_of_the_other_byte_order_are_taken_by_their_values(dtype: str) -> None:
    array = np.array([[1, 2, 3], [70, 80, 90]], DType(dtype).numpy.newbyteorder(">"))
    for source in (array, array.T, array[:, ::2]):
        result = to(source, source.shape, dtype)
        assert result.dtype == DType(dtype).device_numpy
        assert result.dtype.isnative
        assert result.tolist() == source.tolist()
    assert to(memoryview(array), (2, 3), dtype).tolist() == array.tolist()
    assert to(np.array([1.5], ">f2"), (1,), "f32").tolist() == [1.5]


def test_float16_widens_but_not_the_reverse() -> None:
    assert to(np.array([1.5], np.float16), (1,), "f32").tolist() == [1.5]


@pytest.mark.parametrize("shape", [(), (6,), (3, 2), (2, 3, 1), (1, 2, 3)])
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgument, match=r"must have shape \(2, 3\)"):
        to(np.zeros(shape, np.float32), (2, 3), "f32")


@pytest.mark.parametrize("dtype", DType)
def test_bytes_of_another_length_are_refused(dtype: DType) -> None:
    right = 6 * dtype.numpy.itemsize
    for length in {0, right - 1, right + 1, 2 * right}:
        with pytest.raises(
            InvalidArgument, match=f"must be {right} bytes, for .*, got {length} bytes"
        ):
            to(bytes(length), (2, 3), dtype)


@pytest.mark.parametrize("data", [None, 1, 1.5, "abcd", [1.0], (1.0,), object()])
def test_other_data_is_refused(data: Any) -> None:
    with pytest.raises(InvalidArgument, match="bytes, a bytearray, a memoryview or a NumPy array"):
        to(data, (1,), "f32")
