"""Keys of JAX arrays: indices out of bounds are clamped when read, and dropped when written."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidIndex, InvalidType
from browsergpu.functions import elementwise, parts
from browsergpu.jax.arrays.array import JAX, JaxArray, as_jax
from browsergpu.jax.arrays.operands import array

_PLAIN = frozenset((int, slice, type(Ellipsis), type(None)))
#: Modes for indices out of bounds, by JAX's names.
MODES = {"fill": "fill", "drop": "fill", "clip": "clip", "promise_in_bounds": "clip"}


def mode_of(op: str, mode: Any, default: str) -> str:
    """Return how a call treats indices out of bounds: "fill" or "clip"."""
    if mode is None:
        return default
    name = getattr(mode, "name", mode)
    name = {"FILL_OR_DROP": "fill", "CLIP": "clip", "PROMISE_IN_BOUNDS": "clip"}.get(name, name)
    if name not in MODES:
        raise InvalidArgument(op, "mode", mode, f"one of {', '.join(map(repr, MODES))}")
    return MODES[name]


def checked(key: Any) -> tuple[Any, ...]:
    """Return the items of a key. Index arrays are on the GPU, and masks on the host too.

    Raises InvalidType for lists, text and floats, as JAX does.
    """
    return tuple([_item(one) for one in (key if isinstance(key, tuple) else (key,))])


def _item(x: Any) -> Any:
    kind = type(x)
    if kind in _PLAIN:
        return x if kind is not slice else _slice(x)
    if isinstance(x, list | tuple):
        told = "a sequence that is not a tuple"
        advice = "Use x[jnp.array(indices)]."
        raise InvalidType("index", "key", x, f"not {told}", advice)
    if isinstance(x, np.integer):
        return int(x)
    if isinstance(x, bool):
        return np.asarray(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "biu":
        return x if x.dtype.kind == "b" else array("index", x)
    if isinstance(x, Array) and x.dtype.kind in "biu":
        return x
    told = getattr(x, "dtype", kind.__name__)
    raise InvalidType("index", "key", told, "integers, bools, slices, ... and None")


def _slice(x: slice) -> slice:
    return slice(*[None if one is None else index(one) for one in (x.start, x.stop, x.step)])


def expanded(key: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return a key without ``...``, for an array of a rank."""
    used = sum(_axes_of(one) for one in key)
    if Ellipsis not in [one for one in key if one is Ellipsis]:
        return key
    at = next(n for n, one in enumerate(key) if one is Ellipsis)
    return (*key[:at], *(slice(None),) * (rank - used), *key[at + 1 :])


def _axes_of(x: Any) -> int:
    if x is None or x is Ellipsis:
        return 0
    return x.ndim if _is_mask(x) else 1


def _is_mask(x: Any) -> bool:
    return isinstance(x, Array | np.ndarray) and x.dtype.kind == "b"


def has_arrays(key: tuple[Any, ...]) -> bool:
    """Whether a key has index arrays or masks."""
    return any(isinstance(one, Array | np.ndarray) for one in key)


def in_bounds(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[tuple[Any, ...], Any]:
    """Return a key with all indices in bounds, and where they were.

    The second result is True, False or a bool array that broadcasts to the shape of the key's index
    arrays.
    """
    found: list[Any] = []
    valid: Any = True
    axis = 0
    for one in expanded(key, len(shape)):
        if one is None or isinstance(one, slice) or _is_mask(one):
            found.append(one)
            axis += _axes_of(one)
            continue
        if axis >= len(shape):
            expected = f"have at most {len(shape)} indices, one for each axis"
            raise InvalidIndex("index", "key", key, expected)
        extent = shape[axis]
        axis += 1
        if isinstance(one, int):
            if not -extent <= one < extent:
                valid = False
                one = 0 if one < 0 else extent - 1
            found.append(one)
            continue
        own: Any = one.astype("int32") if one.dtype.itemsize < 4 else one
        if own.dtype.kind == "i":
            own = elementwise.where(elementwise.less(own, 0), own + extent, own)
        here = elementwise.logical_and(
            elementwise.greater_equal(own, 0), elementwise.less(own, extent)
        )
        found.append(elementwise.clip(own, 0, max(extent - 1, 0)))
        if valid is not False:
            valid = here if valid is True else elementwise.logical_and(valid, here)
    return tuple(found), valid


_array_get = Array.__getitem__


def part(x: Any, key: Any) -> Any:
    """Return ``x[key]``. The key may have arrays of ``vmap``."""
    return _array_get(x, key) if type(x) in (JaxArray, Array) else parts.part(x, key)


def get(x: Any, key: Any) -> Any:
    """Return ``x[key]``. Indices out of bounds are clamped."""
    items = checked(key)
    try:
        found = part(x, items[0] if len(items) == 1 else items)
    except InvalidIndex:
        safe, _ = in_bounds(items, x.shape)
        if 0 in x.shape:
            raise
        found = part(x, safe)
    return as_jax(found)


_FAST_KEYS = frozenset((int, slice))


def getitem(self: Any, key: Any) -> Any:
    """Return the part of an array that a key selects."""
    kind = type(key)
    if kind in _FAST_KEYS or (kind is tuple and _FAST_KEYS.issuperset(map(type, key))):
        try:
            return _array_get(self, key)
        except InvalidIndex:
            pass
    return get(self, key)


setattr(JaxArray, "__getitem__", getitem)  # noqa: B010
for _kind in JAX - {JaxArray}:
    setattr(_kind, "__getitem__", get)  # noqa: B010
