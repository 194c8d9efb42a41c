"""Messages to the page, each a JSON object, some with binary data."""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

_post: Callable[..., object] | None = None


def connect(post: Callable[..., object]) -> None:
    """Send messages through `post`, a JavaScript function of JSON text and arrays of bytes."""
    global _post
    _post = post


def send(*, buffers: Sequence[Any] = (), **message: Any) -> None:
    """Send a message to the page. `buffers` arrive as arrays of bytes."""
    if _post is None:
        raise RuntimeError("the kernel is not connected to a page; call channel.connect first")
    try:
        text = json.dumps(message, default=_plain, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(message), default=_plain)
    if buffers:
        from pyodide.ffi import to_js

        _post(text, to_js([bytes(one) for one in buffers]))
    else:
        _post(text)


def _plain(value: Any) -> Any:
    """Return a NumPy number as Python's."""
    if callable(getattr(value, "item", None)):
        return value.item()
    raise TypeError(f"an object of type {type(value).__name__} cannot be sent to the page as JSON")


def _finite(value: Any) -> Any:
    """Return a copy with infinities and NaN as text, as Jupyter sends them. JSON has neither."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
