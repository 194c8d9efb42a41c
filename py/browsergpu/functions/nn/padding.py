"""Padding around arrays and between their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.indexing import gather
from browsergpu.arrays.numbers import python_number
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import manipulation
from browsergpu.functions.operands import array
from browsergpu.functions.weighted_sums import weighted_sums_gradient

_MODES = ("constant", "reflect", "replicate", "circular")


def _pad_gradient(g: Array, input_like: Like, pad: Sequence[int], mode: str) -> Any:
    if mode == "constant":
        return _crop(g, pad)
    found: Any = g
    for n in range(0, len(pad), 2):
        axis = g.ndim - 1 - n // 2
        if pad[n] or pad[n + 1]:
            extent = input_like.shape[axis]
            places = _places(mode, extent, int(pad[n]), int(pad[n + 1]))[:, None]
            found = weighted_sums_gradient(found, axis, places, np.ones(places.shape), extent)
    return found


def _crop(x: Array, numbers: Sequence[int]) -> Any:
    return pad(x, [-int(n) for n in numbers])


@differentiable(input=_pad_gradient)
def pad(input: Array, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Array:
    """Add elements before and after the elements along axes.

    Parameters
    ----------
    input : Array
        Any dtype.
    pad : sequence of int
        Two numbers for each axis, before and after its elements. The last axis comes first, and the
        first axes may be missing.
    mode : {"constant", "reflect", "replicate", "circular"}, optional
        The new elements:

        - "constant": ``value``. Negative numbers remove elements.
        - "reflect": the elements mirrored at the edge, without the edge itself.
        - "replicate": the element at the edge.
        - "circular": the elements from the opposite end.
    value : number, optional
        0 by default. Only for mode "constant".

    Returns
    -------
    Array
        A new array of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If ``pad`` has a wrong length, the array has too few elements for the numbers, or ``mode``
        or ``value`` is invalid.
    InvalidType
        If ``input`` is not an array, or ``value`` is not a number.
    """
    op = "pad"
    x = array(op, "input", input)
    if mode not in _MODES:
        raise InvalidArgument(op, "mode", mode, f"one of {', '.join(_MODES)}")
    lowest = -checks.LARGEST if mode == "constant" else 0
    numbers = checks.dimensions(op, "pad", pad, minimum=lowest)
    if len(numbers) % 2 or len(numbers) > 2 * x.ndim:
        raise InvalidArgument(op, "pad", pad, f"two numbers for each of at most {x.ndim} axes")
    pairs = [(0, 0)] * (x.ndim - len(numbers) // 2)
    pairs += [(numbers[n], numbers[n + 1]) for n in range(len(numbers) - 2, -1, -2)]
    if mode != "constant":
        if value is not None:
            raise InvalidArgument(op, "value", value, f"None in mode {mode!r}")
        return _extend(op, x, pairs, mode, pad)
    for (before, behind), extent in zip(pairs, x.shape, strict=True):
        if before + extent + behind < 0:
            raise InvalidArgument(
                op, "pad", pad, f"numbers that remove at most the elements of shape {x.shape}"
            )
    given = value.item() if isinstance(value, np.generic) else value
    number = python_number(0 if given is None else given)
    if number is None:
        raise InvalidType(op, "value", value, "a number")
    if x.node.kind.kind in "biu" and number != int(number.real):
        raise InvalidArgument(op, "value", value, f"a number of dtype {x.dtype}")
    return padded(x, pairs, number)


def padded(x: Array, pairs: Sequence[tuple[int, int]], number: Any, steps: Any = None) -> Array:
    """Pad an array with a number, or crop it where a pair has negative numbers.

    ``steps`` are the distances of neighboring elements along each axis, 1 by default. Gaps between
    elements also have the number.
    """
    steps = steps or (1,) * x.ndim
    if not any(n for pair in pairs for n in pair) and all(step == 1 for step in steps):
        return apply.duplicate(x)
    shape, taken, places = [], [], []
    for extent, (before, behind), step in zip(x.shape, pairs, steps, strict=True):
        total = before + max((extent - 1) * step + 1, 0) + behind
        first = -(before // step) if before < 0 else 0  # the first element that is not cropped

        last = min(extent, -(-(total - before) // step))
        shape.append(total)
        taken.append(slice(first, max(last, first)))
        begin = before + first * step
        count = max(last - first, 0)
        places.append(slice(begin, begin + (count - 1) * step + 1 if count else begin, step))
    around = x.like(apply.full_node(x.tracer, tuple(shape), x.node.kind, number))
    part = x[tuple(taken)]
    return gather.replaced(around, gather.region(tuple(shape), places), part)


def _extend(op: str, x: Array, pairs: Sequence[tuple[int, int]], mode: str, given: Any) -> Array:
    given_array = x
    for axis, (before, behind) in enumerate(pairs):
        if not before and not behind:
            continue
        extent = x.shape[axis]
        most = {"reflect": extent - 1, "circular": extent}.get(
            mode, checks.LARGEST if extent else 0
        )
        if max(before, behind) > most:
            expected = f"numbers of at most {most} for {extent} indices on axis {axis}"
            raise InvalidArgument(op, "pad", given, expected)
        x = manipulation.take(x, _places(mode, extent, before, behind), axis=axis)
    return apply.duplicate(x) if x is given_array else x


def _places(mode: str, extent: int, before: int, behind: int) -> np.ndarray:
    """Return the index from which each element is copied."""
    places = np.arange(-before, extent + behind)
    if mode == "replicate":
        return np.clip(places, 0, extent - 1)
    if mode == "circular":
        return places % extent
    places = np.abs(places)
    return np.where(places < extent, places, 2 * (extent - 1) - places)
