"""Encodes ONNX models with a few fields of ONNX's protobuf.

https://github.com/onnx/onnx/blob/main/onnx/onnx.proto has the numbers of the fields. Weights are
constants outside the model ("external data"), each in a file with its name.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import prod
from typing import Any

_TYPES = {"f32": 1, "u8": 2, "f16": 10, "i32": 6, "i64": 7}
_WIDTHS = {"f32": 4, "f16": 2, "u8": 1}


def _varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _attribute(name: str, value: int | float | str | Sequence[int]) -> bytes:
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    if isinstance(value, float):
        return field(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    return field(1, name) + b"".join(field(8, each) for each in value) + field(20, 7)


def node(
    op: str,
    inputs: Sequence[str],
    outputs: str | Sequence[str],
    domain: str = "",
    **attributes: Any,
) -> bytes:
    return (
        b"".join(field(1, name) for name in inputs)
        + b"".join(field(2, name) for name in ([outputs] if isinstance(outputs, str) else outputs))
        + field(4, op)
        + b"".join(field(5, _attribute(*item)) for item in attributes.items())
        + (field(7, domain) if domain else b"")
    )


def value(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    """Return a value's type. Extents may be names."""
    dimensions = b"".join(
        field(1, field(2 if isinstance(extent, str) else 1, extent)) for extent in shape
    )
    tensor = field(1, _TYPES[dtype]) + field(2, dimensions)
    return field(1, name) + field(2, field(1, tensor))


def constant(name: str, dtype: str, shape: Sequence[int], data: bytes | None) -> bytes:
    head = b"".join(field(1, extent) for extent in shape) + field(2, _TYPES[dtype])
    head += field(8, name)
    if data is not None:
        return head + field(9, data)
    length = str(_WIDTHS[dtype] * prod(shape))
    place = (("location", name), ("offset", "0"), ("length", length))
    entries = (field(13, field(1, key) + field(2, value)) for key, value in place)
    return head + b"".join(entries) + field(14, 1)


def int64(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def model(
    nodes: Sequence[bytes],
    constants: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
) -> bytes:
    """Return a model with these nodes, constants, inputs and outputs."""
    graph = b"".join(field(1, each) for each in nodes) + field(2, "row")
    for number, fields in ((5, constants), (11, inputs), (12, outputs)):
        graph += b"".join(field(number, each) for each in fields)
    versions = field(8, field(1, "") + field(2, 17))
    versions += field(8, field(1, "com.microsoft") + field(2, 1))
    return field(1, 8) + field(7, graph) + versions
