"""Parameters of distributions: numbers, lists, NumPy arrays and GPU arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description
from browsergpu.functions import elementwise
from browsergpu.functions.data_types import astype


class Rule(NamedTuple):
    """A condition on a parameter: its words for errors, and its test of host values."""

    expected: str
    holds: Callable[[np.ndarray], Any]
    is_whole: bool = False


FINITE = Rule("finite numbers", np.isfinite)
AT_LEAST_0 = Rule("finite numbers of at least 0", lambda x: np.isfinite(x) & (x >= 0))
ABOVE_0 = Rule("finite numbers above 0", lambda x: np.isfinite(x) & (x > 0))
ABOVE_1 = Rule("finite numbers above 1", lambda x: np.isfinite(x) & (x > 1))
SHARE = Rule("numbers from 0 to 1", lambda x: (x >= 0) & (x <= 1))
SHARE_ABOVE_0 = Rule("numbers above 0, up to 1", lambda x: (x > 0) & (x <= 1))
SHARE_BELOW_1 = Rule("numbers from 0 to below 1", lambda x: (x >= 0) & (x < 1))
COUNT = Rule("integers from 0 to 2**31 - 1", lambda x: (x >= 0) & (x < 2**31), True)
THINGS = Rule("integers from 0 to 10**9", lambda x: (x >= 0) & (x <= 10**9), True)
#: Means for which results fit int32.
MEAN = Rule("numbers from 0 to 2.147e9", lambda x: (x >= 0) & (x <= 2.147e9))
WHOLE = Rule("integers of int32", lambda x: (x >= -(2**31)) & (x < 2**31), True)


def parameter(op: str, name: str, value: Any, rule: Rule) -> Any:
    """Return a parameter as a Python number, a host array or a GPU array.

    Host values are checked. GPU values are not, as a check would wait. If they break the rule,
    floats are drawn as NaN, and integers as the least int32.
    """
    kind: Any = np.int32 if rule.is_whole else np.float32
    if isinstance(value, Array):
        if value.dtype.kind not in ("biu" if rule.is_whole else "biuf"):
            raise InvalidType(op, name, Description(value.dtype.name), rule.expected)
        if rule.is_whole and value.dtype.itemsize == 8:
            value = _within_int32(value)
        return value if value.dtype == kind else astype(value, kind)
    given = _on_host(op, name, value, rule)
    with np.errstate(invalid="ignore"):
        held = rule.holds(given)
    if not np.all(held):
        worst = given[~np.broadcast_to(held, given.shape)].flat[0].item()
        raise InvalidArgument(op, name, worst if given.ndim else value, rule.expected)
    if given.ndim == 0:
        return int(given) if rule.is_whole else checks.real(op, name, float(given))
    return given.astype(kind)


def _within_int32(value: Array) -> Array:
    """Replace 64-bit integers that int32 does not hold by the least int32."""
    small = elementwise.less(value, 2**31)
    if value.dtype.kind == "i":
        small = elementwise.logical_and(small, elementwise.greater_equal(value, -(2**31)))
    return elementwise.where(small, astype(value, np.int32), -(2**31))


def _on_host(op: str, name: str, value: Any, rule: Rule) -> np.ndarray:
    is_number = isinstance(value, bool | int | float | np.number | np.bool_)
    if not is_number and not isinstance(value, np.ndarray | list | tuple):
        raise InvalidType(op, name, value, rule.expected)
    if not is_number and _holds_arrays(value):
        advice = "Make one array of them with stack()."
        raise InvalidType(op, name, Description("a list of arrays"), rule.expected, advice)
    try:
        given = np.asarray(value)
    except ValueError:
        raise InvalidType(op, name, value, rule.expected) from None
    if given.dtype.kind not in "biuf":
        raise InvalidType(op, name, value, rule.expected)
    if rule.is_whole and given.dtype.kind == "f":
        raise InvalidType(op, name, value, rule.expected)
    return given.astype(np.int64 if rule.is_whole and given.dtype.kind != "u" else given.dtype)


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_arrays, value))
    return isinstance(value, Array)


def shape_of(op: str, size: Any) -> Shape:
    """Return the shape of a ``size``: None, an integer or several."""
    given = () if size is None else size if checks.is_several(size) else (size,)
    return checks.dimensions(op, "size", given)


def drawn_shape(op: str, size: Any, shapes: Sequence[Shape]) -> Shape:
    """Return the shape of a result for parameters of these shapes.

    Raises InvalidArgument if they do not broadcast to each other or to ``size``.
    """
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError:
        given = Description(" and ".join(map(str, shapes)))
        raise InvalidArgument(op, "shapes", given, "shapes that broadcast to one") from None
    if size is None:
        return common
    shape = shape_of(op, size)
    try:
        if np.broadcast_shapes(shape, common) == shape:
            return shape
    except ValueError:
        pass
    raise InvalidArgument(op, "size", size, f"a shape to which {common} broadcasts")


def shape_of_parameter(value: Any) -> Shape:
    """Return the shape of a checked parameter."""
    return value.shape if isinstance(value, Array | np.ndarray) else ()
