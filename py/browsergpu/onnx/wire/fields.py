"""Fields of protocol buffers: numbers, wire types and values in bytes.

Source: https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description

#: Wire types.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MOST_VARINT_BYTES = 10
_64_BITS = (1 << 64) - 1


def malformed(actual: str) -> InvalidArgument:
    """Return the error for bytes that are no ONNX model."""
    expected = "an ONNX model"
    return InvalidArgument("onnx.load", "source", Description(actual), expected)


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    if at < len(data) and data[at] < 0x80:  # most numbers
        return data[at], at + 1
    value = shift = 0
    for position in range(at, min(at + _MOST_VARINT_BYTES, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _64_BITS, position + 1
        shift += 7
    raise malformed(f"bytes that end within a number, at byte {at} of a message")


def signed(value: int) -> int:
    """Return a 64-bit number as a signed one."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Iterate over the fields of a message: number, wire type, and an int or bytes.

    Bytes are views of ``data``. Nothing is copied.
    """
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag > 0x7F:
            tag, at = varint(data, at - 1)
        number, wire = tag >> 3, tag & 7
        if not number or number >> 29:
            raise malformed(f"a field with the number {number}, at byte {at} of a message")
        if wire == VARINT:
            value, at = varint(data, at)
            yield number, wire, value
            continue
        if wire == BYTES:
            size, at = varint(data, at)
        elif wire in (FIXED64, FIXED32):
            size = 8 if wire == FIXED64 else 4
        else:
            raise malformed(f"a field of wire type {wire}, at byte {at} of a message")
        if size > end - at:
            raise malformed(f"a field of {size} bytes where {end - at} are left (truncated?)")
        yield number, wire, data[at : at + size]
        at += size


def packed_varints(data: memoryview) -> list[int]:
    """Return the signed numbers of a packed field."""
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(signed(value))
    return found


def varint_bytes(value: int) -> bytes:
    """Return the bytes of a number. Negative ones take ten bytes."""
    left = value & _64_BITS
    found = bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    found.append(left)
    return bytes(found)


def field_bytes(number: int, wire: int, value: Any) -> bytes:
    """Return the bytes of a field: of a number, a float, or of bytes."""
    tag = varint_bytes(number << 3 | wire)
    if wire == VARINT:
        return tag + varint_bytes(value)
    if wire == FIXED32:
        return tag + struct.pack("<f", value)
    if wire == FIXED64:
        return tag + struct.pack("<d", value)
    return tag + varint_bytes(len(value)) + bytes(value)
