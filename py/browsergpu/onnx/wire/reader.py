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
    rows = kind.FIELDS
    for number, sort, value in wire.fields(data):
        row = rows.get(number)
        if row is None:
            continue  # such as documentation
        name, of, repeats = row
        one = _value(of, sort, value, level)
        if one is None:
            raise malformed(_problem(kind, name, of, sort, value))
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


def _value(of: Any, sort: int, value: Any, level: int) -> Any:
    """Return the value of a field, or None if its bytes are not of the field's type."""
    if sort == wire.VARINT:
        if of == "int":
            return wire.signed(value)
        return (wire.signed(value),) if of == "ints" else None
    if sort == wire.BYTES:
        if of in ("str", "strs"):
            try:
                return str(value, "utf-8")
            except UnicodeDecodeError:
                return None
        if of == "bytes":
            return value
        if of == "ints":
            return wire.packed_varints(value)
        if isinstance(of, type):
            return _read(of, value, level + 1)
    if of == "float":
        return float(struct.unpack("<f", value)[0]) if sort == wire.FIXED32 else None
    if of not in FLOATS:
        return None
    numbers = FLOATS[of]
    own = wire.FIXED32 if numbers.itemsize == 4 else wire.FIXED64
    if sort not in (wire.BYTES, own) or len(value) % numbers.itemsize:
        return None
    return np.frombuffer(value, numbers)


def _problem(kind: type[Message], name: str, of: Any, sort: int, value: Any) -> str:
    """Return what is wrong with a field's bytes."""
    where = f"{kind.__name__}.{name}"
    if sort == wire.BYTES and of in ("str", "strs"):
        return f"{where} with bytes that are not UTF-8"
    if sort == wire.BYTES and of in FLOATS:
        return f"{where} of {len(value)} bytes"
    return f"{where} of wire type {sort}"
