"""Arrays of a file, as NumPy arrays on the file's memory."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, byte_count
from browsergpu.onnx.graph.external import ExternalData
from browsergpu.onnx.graph.types import DTYPES, NARROW, NarrowType, type_of
from browsergpu.onnx.wire.messages import SparseTensor, Tensor

_FIELD = {
    "float32": "float_data", "complex64": "float_data", "float64": "double_data",
    "complex128": "double_data", "int64": "int64_data", "uint64": "uint64_data",
    "uint32": "uint64_data",
}  # fmt: skip


def host_array(
    tensor: Tensor, external: ExternalData, where: str
) -> tuple[np.ndarray, NarrowType | None]:
    """Return a tensor's values without a copy where possible, and its type if it is narrow.

    The values of a narrow type are codes. Raises InvalidArgument if the data does not have the size
    that the shape requires, before anything is allocated.
    """
    kind = type_of(tensor.data_type, where)
    shape = tuple(tensor.dims)
    if any(n < 0 for n in shape):
        raise _refused(where, f"the shape {shape}", "a shape of numbers of at least 0")
    count = prod(shape)
    narrow = kind if isinstance(kind, NarrowType) else None
    size = _size(kind, count)
    bits = narrow.bits if narrow else 8
    raw = _raw(tensor, size, external, where)
    if raw is None:
        return _from_fields(tensor, kind, count, where).reshape(shape), narrow
    if len(raw) != size:
        actual = f"{byte_count(len(raw))} for shape {shape}"
        raise _refused(where, actual, f"an array of {byte_count(size)}")
    if narrow:
        codes = np.frombuffer(raw, np.uint8 if bits <= 8 else "<u2")
        return _codes(codes, narrow, count).reshape(shape), narrow
    assert not isinstance(kind, NarrowType)
    if kind.kind == "b":
        flags = np.frombuffer(raw, np.uint8)
        return (flags != 0).reshape(shape), None
    return np.frombuffer(raw, kind.newbyteorder("<")).reshape(shape), None


def _raw(tensor: Tensor, size: int, external: ExternalData, where: str) -> Any:
    """Return a tensor's bytes, or None if its values are in fields of numbers."""
    if tensor.data_location == 1:
        return external.read(tensor.external_data, size, where)
    return tensor.raw_data


def gpu_bytes(tensor: Tensor, external: ExternalData, where: str) -> int:
    """Return the bytes of a tensor on the GPU. 0 if they are unknown, or the data does not fit."""
    kind = DTYPES.get(tensor.data_type)
    size = stored_bytes(tensor)
    if kind is None or kind.itemsize == 1 or not size:
        return 0
    raw = _raw(tensor, size, external, where)
    if raw is None or len(raw) != size:
        return 0
    return size // 2 if kind in (np.float64, np.complex128) else size


def stored_bytes(tensor: Tensor) -> int:
    """Return the bytes that a tensor's shape and type require, of a file that may be malformed."""
    if any(n < 0 for n in tensor.dims):
        return 0
    kind = DTYPES.get(tensor.data_type) or NARROW.get(tensor.data_type)
    return 0 if kind is None else _size(kind, prod(tensor.dims))


def _size(kind: np.dtype[Any] | NarrowType, count: int) -> int:
    bits = kind.bits if isinstance(kind, NarrowType) else kind.itemsize * 8
    return (count * bits + 7) // 8


def dense(sparse: SparseTensor, external: ExternalData, where: str, most: int) -> np.ndarray:
    """Return a sparse tensor's values, and zeros, of at most ``most`` bytes."""
    if sparse.values is None or sparse.indices is None:
        raise _refused(where, "no values or indices", "a sparse tensor with both")
    values, narrow = host_array(sparse.values, external, where)
    indices, _ = host_array(sparse.indices, external, where)
    shape = tuple(sparse.dims)
    size = prod(shape)
    if narrow or any(n < 0 for n in shape) or size * values.itemsize > most:
        actual = f"shape {shape} of {sparse.values.data_type}"
        raise _refused(where, actual, f"a sparse tensor of at most {byte_count(most)}")
    if indices.ndim == 2 and indices.shape[1] == len(shape):
        bounds = np.array(shape, np.int64)
        is_inside = ((indices >= 0) & (indices < bounds)).all()
        flat = np.ravel_multi_index(tuple(indices.T), shape) if is_inside else None
    else:
        flat = indices.reshape(-1) if ((indices >= 0) & (indices < size)).all() else None
    if flat is None or flat.size != values.size:
        raise _refused(where, "indices that do not fit", f"indices within {shape}")
    found = np.zeros(size, values.dtype)
    found[flat] = values.reshape(-1)
    return found.reshape(shape)


def _refused(where: str, actual: str, expected: str) -> InvalidArgument:
    return InvalidArgument("onnx.load", where, Description(actual), expected)


def _from_fields(tensor: Tensor, kind: Any, count: int, where: str) -> np.ndarray:
    narrow = isinstance(kind, NarrowType)
    name = "int32_data" if narrow else _FIELD.get(kind.name, "int32_data")
    given = getattr(tensor, name)
    is_complex = not narrow and kind.kind == "c"
    items = 0 if given is None else len(given)
    per_item = 8 // kind.bits if narrow and kind.bits < 8 else 1
    wanted = count * 2 if is_complex else -(-count // per_item)
    if items != wanted:
        raise _refused(where, f"{items} values in {name}", f"an array of {wanted} values")
    if not count:
        return np.empty(0, kind.codes if narrow else kind)
    if narrow:
        words = np.array(given, np.int64).astype("uint8" if kind.bits <= 8 else "uint16")
        return _codes(words, kind, count)
    if is_complex:
        floats = np.asarray(given)
        return floats.view(kind)
    if name in ("float_data", "double_data"):
        return np.asarray(given)
    if name == "uint64_data":
        return (np.array(given, np.int64).view(np.uint64)).astype(kind)
    if kind.kind == "f":  # the bits of a float16
        return np.array(given, np.int64).astype(np.uint16).view(np.float16)
    return np.array(given, np.int64).astype(kind)


def _codes(stored: np.ndarray, kind: NarrowType, count: int) -> np.ndarray:
    """Return one code for each value, of values that may share bytes."""
    if kind.bits >= 8:
        return stored
    each = 8 // kind.bits
    mask = (1 << kind.bits) - 1
    parts = [(stored >> (kind.bits * n)) & mask for n in range(each)]
    apart = np.stack(parts, -1).reshape(-1)[:count]
    if kind.codes.kind == "i":
        half = 1 << (kind.bits - 1)
        return ((apart ^ half).astype(np.int16) - half).astype(np.int8)
    return apart.astype(kind.codes)
