"""Shapes and strides: broadcasting, axes, and merging axes for kernels.

Strides count elements. A stride of 0 repeats an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description

Shape = tuple[int, ...]


@lru_cache(maxsize=4096)
def contiguous_strides(shape: Shape) -> Shape:
    """Return the strides of a row-major array."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@lru_cache(maxsize=4096)
def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Return whether elements are laid out as in a row-major array.

    Strides of axes with extent 1 do not matter.
    """
    return 0 in shape or merged(shape, strides)[1] in ((), (1,))


@lru_cache(maxsize=4096)
def broadcast(op: str, a: Shape, b: Shape) -> Shape:
    """Return the shape to which two arrays are broadcast by NumPy's rules."""
    rank = max(len(a), len(b))
    result = []
    for x, y in zip(_padded(a, rank), _padded(b, rank), strict=True):
        if x != y and 1 not in (x, y):
            raise InvalidArgument(
                op, "b", Description(f"shape {b}"), f"have a shape that broadcasts with {a}"
            )
        result.append(y if x == 1 else x)
    return tuple(result)


@lru_cache(maxsize=4096)
def broadcast_strides(shape: Shape, target: Shape, strides: Shape | None = None) -> Shape:
    """Return the strides that read an array as one of the shape ``target``.

    ``shape`` must be broadcastable to ``target``. ``strides`` are row-major by default.
    """
    own = contiguous_strides(shape) if strides is None else strides
    strides = _padded(own, len(target), 0)
    if 1 not in shape:
        return strides
    extents = _padded(shape, len(target))
    return tuple(
        0 if extent == 1 else stride for extent, stride in zip(extents, strides, strict=True)
    )


def _padded(values: Shape, length: int, value: int = 1) -> Shape:
    return (value,) * (length - len(values)) + values


def merged(shape: Shape, *strides: Shape) -> tuple[Shape, ...]:
    """Merge axes, and return the new extents and strides.

    Axes of extent 1 are dropped, and neighbors become one axis if all strides allow it. The
    elements and their order stay the same.
    """
    kept: list[list[int]] = []  # [extent, stride, …], outermost first
    for extent, *steps in zip(shape, *strides, strict=True):
        if extent == 1:
            continue
        if kept and all(
            outer == inner * extent for outer, inner in zip(kept[-1][1:], steps, strict=True)
        ):
            kept[-1] = [kept[-1][0] * extent, *steps]
        else:
            kept.append([extent, *steps])
    columns = list(zip(*kept, strict=True)) or [()] * (1 + len(strides))
    return tuple(tuple(column) for column in columns)


def axis(op: str, name: str, value: Any, rank: int) -> int:
    """Return an axis counted from 0. Negative axes count from the end."""
    if rank == 0:
        raise InvalidArgument(
            op, name, value, "an axis of the array, which is a scalar and has none"
        )
    number = checks.integer(op, name, value, -rank)
    if number >= rank:
        raise InvalidArgument(op, name, value, f"an axis from {-rank} to {rank - 1}")
    return number % rank


def axes(op: str, name: str, value: Any, rank: int) -> tuple[int, ...]:
    """Return axes in ascending order, from None (all), one axis, or distinct axes."""
    if value is None:
        return tuple(range(rank))
    if type(value) is int and -rank <= value < rank:
        return (value % rank,)
    if not checks.is_several(value):
        return (axis(op, name, value, rank),)
    chosen = sorted(axis(op, name, item, rank) for item in value)
    if len(set(chosen)) < len(chosen):
        raise InvalidArgument(op, name, value, "different axes")
    return tuple(chosen)


def without(shape: Shape, removed: Sequence[int], *, keepdims: bool) -> Shape:
    """Return the shape after a reduction of axes, which keep extent 1 if ``keepdims``."""
    # The cache must not keep a caller's object.
    return _without(shape, tuple(removed), bool(keepdims))


@lru_cache(maxsize=4096)
def _without(shape: Shape, removed: Shape, keepdims: bool) -> Shape:
    if keepdims:
        return tuple(1 if i in removed else extent for i, extent in enumerate(shape))
    return tuple(extent for i, extent in enumerate(shape) if i not in removed)


def reduction_steps(shape: Shape, removed: Sequence[int]) -> list[tuple[int, int, int]]:
    """Split a reduction of axes of a non-empty array into steps.

    Each step reduces [outer, length, inner] to [outer, inner], for a run of neighboring axes,
    innermost first.
    """
    runs = [
        (reduced, checks.product([extent for _, extent in run]))
        for reduced, run in groupby(
            ((i in removed, extent) for i, extent in enumerate(shape) if extent != 1),
            key=lambda item: item[0],
        )
    ]
    steps = []
    inner = 1
    for i in reversed(range(len(runs))):
        reduced, extent = runs[i]
        if reduced:
            steps.append((checks.product([size for _, size in runs[:i]]), extent, inner))
        else:
            inner *= extent
    return steps
