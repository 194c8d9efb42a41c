"""Writing messages to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from browsergpu.onnx.wire import fields as wire
from browsergpu.onnx.wire.messages import FLOATS, Message


def message_bytes(message: Message) -> bytes:
    """Return a message's bytes. Fields with their default are left out."""
    return b"".join(_parts(message))


def _parts(message: Message) -> Iterator[bytes]:
    usual = type(message)()
    for number, (name, of, repeats) in type(message).FIELDS.items():
        value = getattr(message, name)
        if repeats:
            if value is not None and len(value):
                yield from _repeated(number, of, value)
        elif value is not None and value != getattr(usual, name):
            yield _one(number, of, value)


def _repeated(number: int, of: Any, value: Any) -> Iterator[bytes]:
    if of == "ints":
        packed = b"".join(map(wire.varint_bytes, value))
        yield wire.field_bytes(number, wire.BYTES, packed)
    elif of in FLOATS:
        yield wire.field_bytes(number, wire.BYTES, value.astype(FLOATS[of]).tobytes())
    else:
        for one in value:
            yield _one(number, of, one)


def _one(number: int, of: Any, value: Any) -> bytes:
    if of == "int":
        return wire.field_bytes(number, wire.VARINT, value)
    if of == "float":
        return wire.field_bytes(number, wire.FIXED32, value)
    if isinstance(of, type):
        return wire.field_bytes(number, wire.BYTES, message_bytes(value))
    raw = value.encode() if isinstance(value, str) else value
    return wire.field_bytes(number, wire.BYTES, raw)
