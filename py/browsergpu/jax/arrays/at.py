"""``x.at[key]``: copies of an array with some elements changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation, elementwise, manipulation, parts, statistics
from browsergpu.functions.ordering.combinations import Combine, combined
from browsergpu.jax.arrays import dtypes, keys
from browsergpu.jax.arrays.array import JAX, as_jax, cast
from browsergpu.jax.arrays.operands import array, operand


class At(Shown):
    """``x.at``. A key selects the elements to change."""

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> AtKey:
        return AtKey(self._x, keys.checked(key))


class AtKey(Shown):
    """``x.at[key]``. Each method returns a new array.

    Indices out of bounds are dropped, and with ``mode="clip"`` they are clamped. ``get`` clamps
    them, and with ``mode="fill"`` it returns ``fill_value``.
    """

    __slots__ = ("_key", "_x")

    def __init__(self, x: Any, key: tuple[Any, ...]) -> None:
        self._x, self._key = x, key

    def get(
        self, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
        fill_value: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """Return the selected elements."""
        _check_wrap("get", wrap_negative_indices, out_sharding)
        x = self._x
        if keys.mode_of("get", mode, "clip") == "clip":
            return keys.get(x, self._key)
        key, valid = keys.in_bounds(self._key, x.shape)
        found = keys.part(x, key)
        if valid is True:
            return as_jax(found)
        if fill_value is None:
            fill_value = fill_value_of(x.dtype)
        if valid is False:
            full = creation.full(found.shape, fill_value, dtype=x.dtype, device=x.device)
            return as_jax(full)
        return as_jax(elementwise.where(_spread_valid(key, valid, found, x), found, fill_value))

    def set(self, values: Any, **options: Any) -> Any:
        """Return a copy with the elements replaced. Of repeated indices the last counts."""
        return _changed("set", self._x, self._key, values, options, None)

    def add(self, values: Any, **options: Any) -> Any:
        """Return a copy with values added. Repeated indices add repeatedly."""
        return _changed("add", self._x, self._key, values, options, elementwise.add)

    def subtract(self, values: Any, **options: Any) -> Any:
        """Return a copy with values subtracted. Repeated indices subtract repeatedly."""
        negative = elementwise.negative(array("subtract", values))
        return _changed("add", self._x, self._key, negative, options, elementwise.add)

    def multiply(self, values: Any, **options: Any) -> Any:
        """Return a copy with elements multiplied. Repeated indices multiply repeatedly."""
        return _changed("multiply", self._x, self._key, values, options, elementwise.multiply)

    mul = multiply

    def divide(self, values: Any, **options: Any) -> Any:
        """Return a copy with elements divided by values."""
        ones = creation.ones_like(self._x)
        factors = _changed("divide", as_jax(ones), self._key, values, options, elementwise.multiply)
        return self._x / factors

    def power(self, values: Any, **options: Any) -> Any:
        """Return a copy with elements raised to powers."""
        ones = as_jax(creation.ones_like(self._x))
        exponents = _changed("power", ones, self._key, values, options, elementwise.multiply)
        return self._x**exponents

    def min(self, values: Any, **options: Any) -> Any:
        """Return a copy with the minima of elements and values."""
        return _changed("min", self._x, self._key, values, options, elementwise.minimum)

    def max(self, values: Any, **options: Any) -> Any:
        """Return a copy with the maxima of elements and values."""
        return _changed("max", self._x, self._key, values, options, elementwise.maximum)

    def apply(self, func: Callable[[Any], Any], **options: Any) -> Any:
        """Return a copy with a function applied to the elements, repeatedly for repeated indices.

        Index arrays wait for the GPU, to count the repetitions.
        """
        x = self._x
        key, valid = _options("apply", x, self._key, options)
        if not keys.has_arrays(key):
            return x if valid is False else _assigned(x, key, func(keys.get(x, key)))
        zeros = as_jax(creation.zeros(x.shape, dtype=np.int32, device=x.device))
        counts = _changed("add", zeros, self._key, 1, options, elementwise.add)
        found = x
        for n in range(int(statistics.max(counts)) if x.size else 0):
            found = elementwise.where(elementwise.greater(counts, n), cast(func(found), x.dtype),
                                      found)  # fmt: skip
        return as_jax(found)


def _check_wrap(op: str, wrap: Any, sharding: Any) -> None:
    if wrap is not True:
        raise InvalidType(op, "wrap_negative_indices", wrap, "True")
    if sharding is not None:
        raise InvalidType(op, "out_sharding", sharding, "None")


def fill_value_of(dtype: Any) -> Any:
    """Return the value that JAX gives elements out of bounds."""
    if dtype.kind in "fc":
        return float("nan")
    if dtype.kind == "b":
        return True
    limits = np.iinfo(dtype)
    return int(limits.min if dtype.kind == "i" else limits.max)


def _options(op: str, x: Any, key: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return a key in bounds, and where its indices were in bounds for the mode of a call."""
    own = dict(options)
    mode = keys.mode_of(op, own.pop("mode", None), "fill")
    _check_wrap(op, own.pop("wrap_negative_indices", True), own.pop("out_sharding", None))
    unknown = own.keys() - {"indices_are_sorted", "unique_indices"}  # hints for the compiler
    if unknown:
        raise TypeError(f"{op}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    found, valid = keys.in_bounds(key, x.shape)
    return found, True if mode == "clip" else valid


def _changed(
    op: str, x: Any, key: Any, values: Any, options: dict[str, Any], combine: Combine | None
) -> Any:
    """Return a copy of an array with values assigned to a key, or combined with its elements."""
    safe, valid = _options(op, x, key, options)
    given = operand(op, values, "values")
    kind = dtypes.promoted(x.dtype, given.dtype) if type(given) in JAX else dtypes.beside_number(
        x.dtype, type(given))  # fmt: skip
    if combine is not None and kind != x.dtype and kind.kind in "fc":
        # Integers are combined with floats as floats, as in JAX.
        wide = _changed(op, cast(x, kind), key, given, options, combine)
        return cast(elementwise.real(wide) if kind.kind == "c" else wide, x.dtype)
    own: Any = cast(given, x.dtype) if type(given) in JAX else _number(x, given)
    if valid is False:
        return x
    if valid is True and not keys.has_arrays(safe):
        if combine is None:
            return _assigned(x, safe, own)
        return _assigned(x, safe, combine(keys.get(x, safe), own))
    if valid is True and combine is None:
        return _assigned(x, safe, own)
    if valid is True and combine is elementwise.add and x.dtype.kind in "fc":
        shape = keys.get(x, safe).shape
        return as_jax(parts.added_at(x, safe, manipulation.broadcast_to(own, shape)))
    return _at_places(x, safe, valid, own, combine)


def _number(x: Any, given: Any) -> Any:
    number = creation.asarray(given)
    return as_jax(creation.asarray(number.astype(x.dtype), device=x.device))


def _assigned(x: Any, key: Any, value: Any) -> Any:
    own = cast(value, x.dtype)
    return as_jax(parts.assigned(x, key, own))


def _spread_valid(key: Any, valid: Any, found: Any, x: Any) -> Any:
    """Return where the elements of a part are in bounds, in the shape of the part."""
    if valid.shape == found.shape or not valid.ndim:
        return valid
    # The key selects the same places in an array whose elements tell whether they are dropped.
    arrays = [one for one in key if isinstance(one, Array | np.ndarray)]
    axes = [n for n, one in enumerate(key) if isinstance(one, Array | np.ndarray)]
    if any(a.dtype.kind == "b" for a in arrays):
        raise InvalidType("get", "key", "a mask", "without masks beside indices out of bounds")
    first = axes[0] if axes[-1] - axes[0] + 1 == len(axes) else 0
    ahead = sum(not isinstance(one, int) for one in key[:first])
    after = found.ndim - ahead - valid.ndim
    return manipulation.reshape(valid, (*valid.shape, *(1,) * after))


def _at_places(x: Any, key: Any, valid: Any, values: Any, combine: Combine | None) -> Any:
    """Change the elements at flat places. Dropped values go to an element after the last one."""
    size = product(x.shape)
    iota = manipulation.reshape(
        creation.arange(size, dtype="int32", device=x.device), x.shape
    )  # fmt: skip
    places = keys.part(iota, key)
    if valid is not True:
        places = elementwise.where(_spread_valid(key, valid, places, x), places, size)
    count = product(places.shape)
    given = manipulation.reshape(manipulation.broadcast_to(values, places.shape), (count,))
    at = manipulation.reshape(places, (count,))
    spare = creation.zeros((1,), dtype=x.dtype, device=x.device)
    flat = manipulation.concat([manipulation.reshape(x, (size,)), as_jax(spare)])
    if combine is not None and count:
        at, given = combined(at, given, combine)
        given = combine(manipulation.take(flat, at, axis=0), given)
    found = parts.assigned(flat, as_jax(at), cast(as_jax(given), x.dtype)) if count else flat
    return as_jax(manipulation.reshape(found[:size], x.shape))
