"""``numpy.pad`` and ``numpy.trim_zeros``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import supports_meta
from browsergpu.compat.numpy.statistics import integer_medians, quantiles
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, elementwise, manipulation, statistics

#: Two numbers, such as the padding before and after an axis.
Pair = tuple[Any, Any]

#: By mode, the keyword arguments with their defaults.
_OPTIONS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}


def pad(array: Array, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """Pad an array along its axes, as ``numpy.pad``.

    Parameters
    ----------
    array : Array
        The array, of any shape and dtype.
    pad_width : int, pair, sequence of pairs, or dict
        The number of elements before and after each axis.
    mode : str or callable
        One of NumPy's modes, or a function as in NumPy. The function gets views of one axis.
    **kwargs
        The option of the mode: ``constant_values``, ``end_values``, ``stat_length`` or
        ``reflect_type``. Values may be numbers, or one array of zero dimensions on the GPU.

    Returns
    -------
    Array
        The padded array, of the same dtype. Mode "empty" pads with zeros. Linear ramps of integers
        are exact.

    Raises
    ------
    InvalidArgument
        For an option of another mode, for numbers that the dtype cannot hold, and for
        ``stat_length=0``.
    """
    if not callable(mode):
        return _pad(array, pad_width, mode, kwargs)
    widths = _widths(array, pad_width)
    found = _pad_zeros(array, widths)
    for axis, width in enumerate(widths):
        lines = manipulation.moveaxis(found, axis, -1)
        for place in np.ndindex(lines.shape[:-1]):
            mode(lines[place], width, axis, kwargs)
    return found


@exclusive
def _pad_zeros(array: Array, widths: Sequence[Pair]) -> Array:
    found: Array = supports_meta(_pad_axes)(array, widths, "constant", {"constant_values": 0})
    return found


@exclusive
def _pad(array: Array, pad_width: Any, mode: Any, given: dict[str, Any]) -> Array:
    if mode not in _OPTIONS:
        names = ", ".join(map(repr, _OPTIONS))
        raise InvalidArgument("pad", "mode", mode, f"a function, or one of {names}")
    known = _OPTIONS[mode]
    for name, value in given.items():
        if name not in known:
            raise InvalidArgument("pad", name, value, f"omitted for mode {mode!r}")
    widths = _widths(array, pad_width)
    found: Array = supports_meta(_pad_axes)(array, widths, mode, {**known, **given})
    return found


def _widths(array: Array, pad_width: Any) -> list[Pair]:
    op, name, rank = "pad", "pad_width", array.ndim
    if isinstance(pad_width, dict):
        widths: list[Pair] = [(0, 0)] * rank
        for axis, width in pad_width.items():
            widths[shapes.axis(op, name, axis, rank)] = checks.pair(op, name, width)
        return widths
    return [
        (checks.integer(op, name, before), checks.integer(op, name, behind))
        for before, behind in _pairs(name, pad_width, rank)
    ]


def _pairs(name: str, given: Any, rank: int) -> list[Pair]:
    """Return a pair for each axis, from a number, a pair, or a sequence of pairs."""
    if given is None or isinstance(given, Array):
        if given is not None and given.ndim:
            raise InvalidArgument("pad", name, given, "numbers, or an array of zero dimensions")
        return [(given, given)] * rank
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "biufc":
        raise InvalidType("pad", name, given, "a number, a pair, or a pair for each axis")
    try:
        # As objects, because NumPy would convert 0 and 2^64 - 1 to floats.
        spread = np.broadcast_to(np.array(given, object), (rank, 2))
    except ValueError:
        expected = f"a number, a pair, or {rank} pairs"
        raise InvalidArgument("pad", name, given, expected) from None
    return [(_plain(before), _plain(behind)) for before, behind in spread.tolist()]


def _plain(number: Any) -> Any:
    """Convert a NumPy number to a Python number."""
    return number.item() if isinstance(number, np.generic | np.ndarray) else number


def _pad_axes(x: Array, widths: Sequence[Pair], mode: str, options: dict[str, Any]) -> Array:
    """Pad one axis after the other, so that corners are the same as in NumPy."""
    name = next(iter(options), None)
    pairs: list[Pair] = [(None, None)] * x.ndim
    is_reflection = name == "reflect_type"
    if name is not None and not is_reflection:
        pairs = _pairs(name, options[name], x.ndim)
    is_odd = is_reflection and _is_odd(options["reflect_type"])
    for axis, (width, pair) in enumerate(zip(widths, pairs, strict=True)):
        if width == (0, 0):
            continue
        if not x.shape[axis] and mode not in ("constant", "empty"):
            expected = f"have elements along axis {axis} for mode {mode!r}"
            raise InvalidArgument("pad", "array", x, expected)
        if is_odd:
            x = _pad_odd(x, axis, width, is_symmetric=mode == "symmetric")
        elif mode in ("edge", "reflect", "symmetric", "wrap"):
            places = np.pad(np.arange(x.shape[axis]), width, mode)  # type: ignore[call-overload]
            x = manipulation.take(x, places.astype(np.int32), axis=axis)
        else:
            x = _pad_axis(x, axis, width, mode, pair)
    return x


def _is_odd(kind: Any) -> bool:
    if kind not in ("even", "odd"):
        raise InvalidArgument("pad", "reflect_type", kind, "'even' or 'odd'")
    return bool(kind == "odd")


def _at(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, part)


def _pad_axis(x: Array, axis: int, width: Pair, mode: str, pair: Pair) -> Array:
    """Pad an axis with blocks of a constant, a linear ramp or a statistic."""
    blocks = []
    for count, value, is_before in zip(width, pair, (True, False), strict=True):
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        if mode in ("constant", "empty"):
            number = _element("constant_values", 0 if mode == "empty" else value, x)
            blocks.append(manipulation.broadcast_to(number, shape))
        elif mode == "linear_ramp":
            edge = x[_at(axis, slice(None, 1) if is_before else slice(-1, None))]
            blocks.append(_ramp(_element("end_values", value, x), edge, axis, count, is_before))
        else:
            blocks.append(
                manipulation.broadcast_to(_statistic(x, axis, mode, value, is_before), shape)
            )
    return manipulation.concat([blocks[0], x, blocks[1]], axis=axis)


def _element(name: str, value: Any, x: Array) -> Array:
    """Return a number as an array of zero dimensions with the dtype of another array."""
    if isinstance(value, Array):
        return value.astype(x.dtype, copy=False)
    element = np.zeros((), x.dtype)
    try:
        if isinstance(value, complex) and x.dtype.kind != "c":
            raise TypeError
        element[...] = value
    except (OverflowError, TypeError):
        raise InvalidArgument("pad", name, value, f"numbers that {x.dtype} can hold") from None
    if name == "end_values" and x.dtype.kind in "iu" and element != value:
        raise InvalidArgument("pad", name, value, f"integers for an array of {x.dtype}")
    return creation.asarray(element, device=x.device)


def _ramp(end: Array, edge: Array, axis: int, count: int, is_before: bool) -> Array:
    """Return a linear ramp from an end to an edge. The edge is excluded."""
    kind = edge.dtype
    if kind.kind == "b":
        raise InvalidType("pad", "array", kind, "numbers for mode 'linear_ramp'")
    steps = creation.arange(count, device=edge.device)
    numbers = manipulation.reshape(steps, (count, *(1,) * (edge.ndim - axis - 1)))
    n = max(count, 1)
    found: Array
    if kind.kind in "iu":
        found = _integer_ramp(end, edge, numbers, n)
    else:
        wide = np.dtype(np.complex64 if kind.kind == "c" else np.float32)
        share = numbers.astype(np.float32) / float(n)
        first = end.astype(wide, copy=False)
        found = (first + (edge.astype(wide, copy=False) - first) * share).astype(kind, copy=False)
    return found if is_before else manipulation.flip(found, axis=axis)


def _integer_ramp(end: Array, edge: Array, numbers: Array, n: int) -> Array:
    """Return ``end + (edge - end) * numbers / n``, rounded down. The distance is unsigned."""
    unsigned = np.dtype(np.uint64 if edge.dtype.itemsize == 8 else np.uint32)
    low, high, steps = (x.astype(unsigned, copy=False) for x in (end, edge, numbers))
    is_up = elementwise.greater_equal(edge, end)
    apart: Any = elementwise.where(is_up, high - low, low - high)
    whole, rest = apart // n * steps, apart % n * steps
    up, down = low + whole + rest // n, low - whole - (rest + (n - 1)) // n
    return elementwise.where(is_up, up, down).astype(edge.dtype, copy=False)


_STATISTICS: dict[str, Callable[..., Array]] = {
    "maximum": statistics.max,
    "mean": statistics.mean,
    "median": quantiles.FUNCTIONS[np.median],
    "minimum": statistics.min,
}


def _statistic(x: Array, axis: int, mode: str, length: Any, is_before: bool) -> Array:
    if length is not None:
        count = min(checks.integer("pad", "stat_length", length, 1), x.shape[axis])
        x = x[_at(axis, slice(None, count) if is_before else slice(x.shape[axis] - count, None))]
    is_whole = x.dtype.kind in "iu" and mode in ("mean", "median")
    if is_whole and x.dtype.itemsize == 8:
        return {"mean": integer_medians.mean, "median": integer_medians.median}[mode](x, axis)
    own = x.astype(np.float32) if is_whole and mode == "mean" else x
    found = _STATISTICS[mode](own, axis=axis, keepdims=True)
    return (elementwise.round(found) if is_whole else found).astype(x.dtype, copy=False)


def _pad_odd(x: Array, axis: int, width: Pair, *, is_symmetric: bool) -> Array:
    """Pad an axis with odd reflections, which mirror the elements at the end points.

    Each period there and back shifts the values by twice the difference between the edges.
    """
    if x.dtype.kind == "b":
        raise InvalidType("pad", "array", x.dtype, "numbers for reflect_type 'odd'")
    n = x.shape[axis]
    period = n if is_symmetric else n - 1
    if not period:  # a single element is repeated
        return manipulation.take(x, np.zeros(1 + sum(width), np.int32), axis=axis)
    turns, rest = np.divmod(np.arange(-width[0], n + width[1]), period)
    if not is_symmetric:  # the last element itself
        rest[width[0] + n - 1], turns[width[0] + n - 1] = n - 1, 0
    is_turned = turns % 2 == 1
    last = n - 1
    places = np.where(is_turned, last - rest, rest)

    def spread(numbers: np.ndarray) -> Array:
        kind = x.dtype if x.dtype.kind != "c" else np.dtype(np.float32)
        own = creation.asarray(numbers.astype(kind), device=x.device)
        return manipulation.reshape(own, (-1, *(1,) * (x.ndim - axis - 1)))

    own = manipulation.take(x, places.astype(np.int32), axis=axis)
    first, end = x[_at(axis, slice(None, 1))], x[_at(axis, slice(-1, None))]
    found: Array = own * spread(np.where(is_turned, -1, 1))
    found = found + first * spread(np.where(is_turned, 1 - turns, -turns))
    found = found + end * spread(np.where(is_turned, turns + 1, turns))
    return found


def trim_zeros(filt: Array, trim: str = "fb", axis: Any = None) -> Array:
    """Return a view without zeros at the ends, as ``numpy.trim_zeros``.

    Waits for the indices of the first and the last nonzero element.
    """
    op = "trim_zeros"
    kinds = trim.lower() if isinstance(trim, str) else ""
    if kinds not in ("f", "b", "fb", "bf"):
        raise InvalidArgument(op, "trim", trim, "'f', 'b' or 'fb'")
    items = [slice(None)] * filt.ndim
    for at in shapes.axes(op, "axis", axis, filt.ndim):
        others = tuple(n for n in range(filt.ndim) if n != at)
        used = np.flatnonzero(statistics.any(filt != 0, axis=others).numpy())
        if not used.size:  # NumPy starts after the last element in this case
            items[at] = slice(filt.shape[at], None) if "f" in kinds else slice(0)
            continue
        first = int(used[0]) if "f" in kinds else 0
        items[at] = slice(first, int(used[-1]) + 1 if "b" in kinds else None)
    found: Array = filt[tuple(items)]
    return found


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.pad: pad,
    np.trim_zeros: trim_zeros,
}
