"""Checked views of bytes-like objects and arrays for copies to and from the device.

The GPU is little-endian. The bytes of a big-endian array are swapped on upload and download.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument

_BUFFERS = "bytes, a bytearray, a memoryview or a NumPy array"
# Format characters of struct and PEP 3118.
_DOUBLE_FORMATS = frozenset({"d", "g", "Zd", "Zg"})
_PLAIN_FORMATS = frozenset({*"?cbBhHiIlLqQnNef", "Zf"})


def source_view(op: str, name: str, value: Any) -> memoryview:
    """Return the elements of ``value`` in C order and the GPU's byte order, for reading.

    A strided or big-endian array is copied.
    """
    view = _view(op, name, value)
    if _is_big_endian(view):
        return np.array(view, order="C").byteswap(inplace=True).data
    if not view.c_contiguous:
        return memoryview(view.tobytes())
    return view


def target_view(op: str, name: str, value: Any) -> memoryview:
    """Return the memory of ``value`` for writing by :func:`receiver` and :func:`deliver`."""
    view = _view(op, name, value)
    if view.readonly:
        raise InvalidArgument(op, name, value, "writable memory")
    if not view.c_contiguous:
        raise InvalidArgument(op, name, value, "a C-contiguous array, as np.empty makes")
    return view


def receiver(target: memoryview) -> memoryview:
    """Return the memory to read the device's bytes into.

    It is the target itself, or a temporary buffer for a big-endian target.
    """
    return memoryview(bytearray(target.nbytes)) if _is_big_endian(target) else target


def deliver(received: memoryview, target: memoryview) -> None:
    """Copy the bytes in :func:`receiver`'s memory to the target."""
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
        # The memory of objects and strings holds pointers of this interpreter.
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
