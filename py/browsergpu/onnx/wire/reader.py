"""Reading messages from bytes, without copies of arrays."""

from __future__ import annotations

import struct
from typing import Any, TypeVar

import numpy as np

from browsergpu.onnx.wire import fields as wire
from browsergpu.onnx.wire.fields import malformed
from browsergpu.onnx.wire.messages import FLOATS, Message, Model

M = TypeVar("M", bound=Message)
#: Messages within each other, so that a file cannot exhaust Python's stack.
_MOST_LEVELS = 100
_WIRE_OF = {
    "int": wire.VARINT, "float": wire.FIXED32, "str": wire.BYTES, "bytes": wire.BYTES,
    "strs": wire.BYTES,
}  # fmt: skip


def read_model(data: memoryview) -> Model:
    """Return the model of a file's bytes.

    Raises InvalidArgument for anything else, before it allocates more than the bytes describe.
    """
    model = _read(Model, data, 0)
    if model.graph is None:
        raise malformed("a file without a graph" if len(data) else "an empty file")
    return model


def _read(kind: type[M], data: memoryview, level: int) -> M:
    if level > _MOST_LEVELS:
        raise malformed(f"messages within each other of more than {_MOST_LEVELS} levels")
    found = kind()
    for number, sort, value in wire.fields(data):
        row = kind.FIELDS.get(number)
        if row is None:
            continue  # such as documentation
        name, of, repeats = row
        one = _value(of, sort, value, f"{kind.__name__}.{name}", level)
        if not repeats:
            setattr(found, name, one)
        elif of in FLOATS:
            before = getattr(found, name)
            setattr(found, name, one if before is None else np.concatenate([before, one]))
        elif of == "ints":
            getattr(found, name).extend(one)
        else:
            getattr(found, name).append(one)
    return found


def _value(of: Any, sort: int, value: Any, name: str, level: int) -> Any:
    if of in FLOATS:
        kind = FLOATS[of]
        if sort not in (wire.BYTES, wire.FIXED32 if kind.itemsize == 4 else wire.FIXED64):
            raise malformed(f"{name} of wire type {sort}")
        if len(value) % kind.itemsize:
            raise malformed(f"{name} of {len(value)} bytes")
        return np.frombuffer(value, kind)
    if of == "ints":
        if sort == wire.VARINT:
            return (wire.signed(value),)
        if sort == wire.BYTES:
            return wire.packed_varints(value)
        raise malformed(f"{name} of wire type {sort}")
    wanted = wire.BYTES if isinstance(of, type) else _WIRE_OF[of]
    if sort != wanted:
        raise malformed(f"{name} of wire type {sort}")
    if isinstance(of, type):
        return _read(of, value, level + 1)
    if of == "int":
        return wire.signed(value)
    if of == "float":
        return float(struct.unpack("<f", value)[0])
    if of == "bytes":
        return value
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise malformed(f"{name} with bytes that are not UTF-8") from None
