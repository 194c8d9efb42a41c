"""What may be copied to and from the device: checked views of bytes-like objects and arrays.

The GPU counts bytes from the little end. An array of the other byte order is copied by its values:
its bytes are exchanged on the way up, and again on the way down.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.core.errors import InvalidArgument

_BUFFERS = "bytes, a bytearray, a memoryview or a NumPy array"
# struct's and PEP 3118's format characters.
_DOUBLE_FORMATS = frozenset({"d", "g", "Zd", "Zg"})
_PLAIN_FORMATS = frozenset({*"?cbBhHiIlLqQnNef", "Zf"})


def source_view(op: str, name: str, value: Any) -> memoryview:
    """The elements of ``value`` in C order and the GPU's byte order, to be read. An array that is
    strided or big-endian is copied."""
    view = _view(op, name, value)
    if _is_big_endian(view):
        return np.array(view, order="C").byteswap(inplace=True).data
    if not view.c_contiguous:
        return memoryview(view.tobytes())
    return view


def target_view(op: str, name: str, value: Any) -> memoryview:
    """The memory of ``value``, to be written: by :func:`receiver` and :func:`deliver`."""
    view = _view(op, name, value)
    if view.readonly:
        raise InvalidArgument(op, name, value, "writable memory")
    if not view.c_contiguous:
        raise InvalidArgument(op, name, value, "a C-contiguous array (np.empty makes one)")
    return view


def receiver(target: memoryview) -> memoryview:
    """What the device's bytes for a target are read into: the target itself, or for a big-endian
    one memory of its own."""
    return memoryview(bytearray(target.nbytes)) if _is_big_endian(target) else target


def deliver(received: memoryview, target: memoryview) -> None:
    """Brings what was read into :func:`receiver`'s memory to the target."""
    if received is not target:
        array = np.asarray(target)
        array[...] = np.frombuffer(received, array.dtype).reshape(array.shape).byteswap()


def _is_big_endian(view: memoryview) -> bool:
    return view.format[0] in ">!" and view.itemsize > 1


def _view(op: str, name: str, value: Any) -> memoryview:
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        raise InvalidArgument(op, name, value, _BUFFERS) from None
    form = view.format.lstrip("<>=@^")
    if form not in _PLAIN_FORMATS | _DOUBLE_FORMATS:
        # Of objects and strings, the memory holds pointers of this interpreter.
        raise InvalidArgument(op, name, value, "plain numbers")
    if form in _DOUBLE_FORMATS:
        raise InvalidArgument(
            op,
            name,
            value,
            "float32, as the GPU has no float64",
            "Cast it with .astype(np.float32).",
        )
    return view


def _kind(value: Any) -> str:
    return type(value).__name__
