"""What may be copied to and from the device: checked views of bytes-like objects and arrays."""

from __future__ import annotations

from typing import Any

from browsergpu.errors import InvalidArgument

_BUFFERS = "bytes, a bytearray, a memoryview or a NumPy array"
# struct's and PEP 3118's format characters.
_DOUBLE_FORMATS = frozenset({"d", "g", "Zd", "Zg"})
_PLAIN_FORMATS = frozenset({*"?cbBhHiIlLqQnNef", "Zf"})


def source_view(op: str, name: str, value: Any) -> memoryview:
    """The elements of ``value`` in C order, to be read. A strided array is copied."""
    view = _view(op, name, value)
    if not view.c_contiguous:
        return memoryview(view.tobytes())
    return view


def target_view(op: str, name: str, value: Any) -> memoryview:
    """The memory of ``value``, to be written."""
    view = _view(op, name, value)
    if view.readonly:
        raise InvalidArgument(
            op, name, value, f"something writable, not a read-only {_kind(value)}"
        )
    if not view.c_contiguous:
        raise InvalidArgument(op, name, value, "a C-contiguous array (np.empty makes one)")
    return view


def _view(op: str, name: str, value: Any) -> memoryview:
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        raise InvalidArgument(op, name, value, _BUFFERS) from None
    form = view.format.lstrip("<>=@^")
    if form not in _PLAIN_FORMATS | _DOUBLE_FORMATS:
        # Of objects and strings, the memory holds pointers of this interpreter.
        raise InvalidArgument(
            op, name, value, f"plain numbers, not a {_kind(value)} of format {view.format!r}"
        )
    if form in _DOUBLE_FORMATS:
        raise InvalidArgument(
            op,
            name,
            value,
            f"float32, as the GPU has no float64 ({_kind(value)} of format {view.format!r} came); "
            "cast it with .astype(np.float32)",
        )
    return view


def _kind(value: Any) -> str:
    return type(value).__name__
