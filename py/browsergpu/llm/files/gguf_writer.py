"""Writing GGUF files."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.files import opened
from browsergpu.engine.core.showing import Description
from browsergpu.engine.kernels.quantized.formats import FORMATS
from browsergpu.functions.language.quantized import QuantizedArray

_ALIGNMENT = 32
_OP = "save_gguf"
_STRING, _ARRAY = 8, 9
#: GGUF's numbers of NumPy's dtypes in metadata and tensors.
_METADATA = {
    "uint8": 0, "int8": 1, "uint16": 2, "int16": 3, "uint32": 4, "int32": 5, "float32": 6,
    "bool": 7, "uint64": 10, "int64": 11, "float64": 12,
}  # fmt: skip
_TENSORS = {
    "float32": 0, "float16": 1, "int8": 24, "int16": 25, "int32": 26, "int64": 27, "float64": 28,
}  # fmt: skip


class Encoded(NamedTuple):
    """A tensor as a file stores it: its format's number, its shape and its bytes."""

    code: int
    shape: tuple[int, ...]
    data: bytes


def save_gguf(file: Any, tensors: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Save tensors and metadata to a GGUF file of version 3. Blocks.

    Parameters
    ----------
    file : path or file object
        A path, or a binary file open for writing. An existing file is replaced at the end.
    tensors : mapping
        By name: GPU arrays and NumPy arrays of floats or integers, and quantized arrays.
    metadata : mapping
        By name: strings, bools, integers, floats, lists of strings, and arrays of numbers. Integers
        are stored as uint32 if they fit, else as int64, and floats as float32.

    Raises
    ------
    InvalidType
        If a value has another type.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> bg.llm.save_gguf(file, {"bias": bg.ones(3)}, {"general.architecture": "llama"})
    >>> bg.llm.GGUF(file.getvalue())["bias"].tolist()
    [1.0, 1.0, 1.0]
    """
    encoded = {name: _encoded(name, tensor) for name, tensor in tensors.items()}
    write_encoded(file, encoded, metadata)


def write_encoded(file: Any, tensors: Mapping[str, Encoded], metadata: Mapping[str, Any]) -> None:
    """Write encoded tensors and metadata, as ``save_gguf``. Needs no device."""
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    for key, value in metadata.items():
        head += [_text(key), _value(key, value)]
    parts: list[bytes] = []
    at = 0
    for name, (code, shape, data) in tensors.items():
        head.append(_text(name) + struct.pack("<I", len(shape)))
        head.append(struct.pack(f"<{len(shape)}QIQ", *shape[::-1], code, at))
        parts += [data, bytes(-len(data) % _ALIGNMENT)]
        at += len(data) + len(parts[-1])
    first = b"".join(head)
    with opened(_OP, file) as target:
        target.write(first + bytes(-len(first) % _ALIGNMENT))
        for part in parts:
            target.write(part)


def _text(value: str) -> bytes:
    own = value.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(own)) + own


def _value(key: str, value: Any) -> bytes:
    """Return the type and the bytes of a value."""
    if isinstance(value, str):
        return struct.pack("<I", _STRING) + _text(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], str):
        if any(not isinstance(one, str) for one in value):
            raise InvalidType(_OP, key, value, "a list of strings only")
        head = struct.pack("<IIQ", _ARRAY, _STRING, len(value))
        return head + b"".join(map(_text, value))
    own = np.asarray(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise InvalidArgument(_OP, key, value, "an integer of 64 bits")
        own = np.asarray(value, np.uint32 if 0 <= value < 2**32 else np.int64)
    elif isinstance(value, float):
        own = np.asarray(value, np.float32)
    code = _METADATA.get(own.dtype.name)
    if code is None or own.ndim > 1:
        raise InvalidType(_OP, key, value, "a string, number, bool or a list of them")
    data = np.asarray(own, order="C").tobytes()
    if own.ndim == 0:
        return struct.pack("<I", code) + data
    return struct.pack("<IIQ", _ARRAY, code, own.size) + data


def _encoded(name: str, value: Any) -> Encoded:
    if isinstance(value, QuantizedArray):
        return Encoded(FORMATS[value.format].code, value.shape, value.tobytes())
    if not isinstance(value, Array | np.ndarray):
        raise InvalidType(_OP, name, value, "an array or a quantized array")
    own = np.asarray(value)
    code = _TENSORS.get(own.dtype.name)
    if code is None:
        raise InvalidType(_OP, name, Description(own.dtype.name), f"one of {', '.join(_TENSORS)}")
    return Encoded(code, own.shape, np.asarray(own, order="C").tobytes())
