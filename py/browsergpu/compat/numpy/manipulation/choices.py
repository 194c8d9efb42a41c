"""Selection of elements from several arrays: ``choose``, ``select``, ``piecewise``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from browsergpu.arrays import reduce
from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import on_one_device, subarrays, write_out
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation, elementwise


def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    """Construct an array from a list of choices, as ``numpy.choose``.

    Indices are not checked. With mode "raise", indices out of range are clipped.
    """
    op = "choose"
    if mode not in ("raise", "wrap", "clip"):
        raise InvalidArgument(op, "mode", mode, "'raise', 'wrap' or 'clip'")
    given = a if isinstance(a, Array) else np.asarray(a)
    index, *parts = on_one_device((given, *subarrays(choices)))
    if not parts:
        raise InvalidArgument(op, "choices", choices, "have at least one array")
    if index.dtype.kind not in "iub":
        raise InvalidType(op, "a", index.dtype, "integers")
    if any(isinstance(x, Array) for x in parts) and not isinstance(parts[-1], Array):
        kind = np.result_type(*(x.dtype if isinstance(x, Array) else x for x in parts))
        parts[-1] = creation.asarray(parts[-1], dtype=kind, device=index.device)
    number = index.astype(np.int32) if index.dtype.kind == "b" else index
    if mode == "wrap":
        number = number % np.asarray(len(parts), number.dtype)[()]
    number = reduce.narrowed_to_int32(op, number)
    found = elementwise.where(number < len(parts), parts[-1], parts[-1])
    for n in reversed(range(len(parts) - 1)):
        found = elementwise.where(number <= n, parts[n], found)
    return write_out(out, found)


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    op = "select"
    if len(condlist) != len(choicelist) or not condlist:
        expected = f"have as many conditions as choices, {len(choicelist)}"
        raise InvalidArgument(op, "condlist", Description(f"{len(condlist)} conditions"), expected)
    given = on_one_device((*condlist, *choicelist, default))
    conditions, choices, found = given[: len(condlist)], given[len(condlist) : -1], given[-1]
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        if condition.dtype.kind != "b":
            raise InvalidType(op, "condlist", condition.dtype, "arrays of bools")
        found = elementwise.where(condition, choice, found)
    return found  # type: ignore[no-any-return]


def _piecewise(x: Array, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Evaluate a piecewise function, as ``numpy.piecewise``.

    Each function gets the elements that meet its condition. This waits for their number.
    """
    op = "piecewise"
    is_one = hasattr(condlist, "shape") and condlist.ndim == x.ndim
    given = on_one_device((x, condlist) if is_one else (x, *condlist))[1:]
    conditions = [one.astype(np.bool_, copy=False) for one in given]
    if len(funclist) == len(conditions) + 1:
        beside: Any = conditions[0]
        for condition in conditions[1:]:
            beside = beside | condition
        conditions.append(elementwise.logical_not(beside))
    if len(funclist) != len(conditions):
        expected = f"{len(conditions)} or {len(conditions) + 1} functions or numbers"
        raise InvalidArgument(op, "funclist", Description(f"{len(funclist)} functions"), expected)
    found = creation.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            found = elementwise.where(condition, function, found).astype(x.dtype, copy=False)
            continue
        chosen = x[condition]
        if chosen.size:
            found[condition] = function(chosen, *args, **kw)
    return found


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.choose: _choose,
    np.piecewise: _piecewise,
    np.select: _select,
}
