"""Elements at computed indices: index arrays, and regions replaced without a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import index
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.apply import resolve, same_device
from browsergpu.arrays.debug import checks_indices
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.lazy.rebuild import Frame
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.numbers import words_of
from browsergpu.arrays.upload import uploaded
from browsergpu.arrays.value import Value
from browsergpu.arrays.views import strided
from browsergpu.engine.core import grids, shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import BOOL, INT32, UINT32, ElementType
from browsergpu.engine.core.errors import InvalidIndex, Unsupported
from browsergpu.engine.core.shapes import Shape, contiguous_strides
from browsergpu.engine.core.showing import Description
from browsergpu.engine.kernels.fused.layout import Place
from browsergpu.engine.kernels.fused.operations import (
    CHECKED_PLACE,
    IS_INSIDE,
    PLACE_OF_INDEX,
    cast,
    overload_of,
)
from browsergpu.engine.kernels.fused.source import NOWHERE

V = TypeVar("V", bound=Value)

_WORD = 0xFFFFFFFF
_MOST_INDICES = 2**31 - 1  # index arrays may be int32
#: Upper bound of the trace entries for the index of one axis.
_BY_AXIS = 12


class _Places:
    """Arithmetic on flat indices (uint32) in a trace.

    ``operands`` are the arrays that it reads, and ``entries`` bounds the entries.
    """

    def __init__(self, tracer: Tracer, shape: Shape, operands: int, entries: int) -> None:
        self._place = -1
        self._inner = contiguous_strides(shape)
        # Kernels cannot number so many elements, so they read the index along each axis.
        self._along = _indices(tracer, shape) if product(shape) > grids.MOST_ELEMENTS else {}
        self.trace = tracer.trace(shape, operands + len(self._along), entries)

    def number(self, value: int, kind: ElementType = UINT32) -> int:
        return self.trace.number(kind, (value & _WORD,))

    def op(self, name: str, *places: int, kinds: Sequence[ElementType] | None = None) -> int:
        made = resolve(name, tuple(kinds or (UINT32,) * len(places)))
        return self.trace.add(made, *places).place

    def times(self, place: int, by: int) -> int:
        return place if by == 1 else self.op("multiply", place, self.number(by))

    def coordinate(self, axis: int) -> int:
        """Return the index along an axis of the result."""
        if axis in self._along:
            return self.trace.place_of(self._along[axis])
        if self._place < 0:
            self._place = self.trace.add_place(UINT32).place
        at, shape = self._place, self.trace.shape
        if self._inner[axis] != 1:
            at = self.op("floor_divide", at, self.number(self._inner[axis]))
        is_first = all(extent == 1 for extent in shape[:axis])
        return at if is_first else self.op("remainder", at, self.number(shape[axis]))

    def total(self, terms: Sequence[int], offset: int) -> int:
        if offset or not terms:
            terms = [*terms, self.number(offset)]
        return reduce(lambda a, b: self.op("add", a, b), terms)


def _indices(tracer: Tracer, shape: Shape) -> dict[int, Node]:
    """Return the indices along each axis longer than 1, as arrays that broadcast to the shape."""
    found = {}
    for axis, extent in enumerate(shape):
        if extent > 1:
            own = tracer.trace((extent,), 0).add_place(UINT32).in_memory()
            behind = (1,) * (len(shape) - axis - 1)
            found[axis] = stored(UINT32, (extent, *behind), own.storage)
    return found


def by_arrays(
    x: V, axes: Sequence[int], arrays: Sequence[Any], first: bool, *, places: bool = False,
    checked: bool = False,
) -> V:  # fmt: skip
    """Index an array with one integer array for each of some axes.

    Parameters
    ----------
    x
        The array.
    axes
        The indexed axes.
    arrays
        Their indices, on the host or the GPU.
    first
        Whether the axes of the index arrays come first in the result, not in place of ``axes``.
    places
        Return the flat indices in the memory of ``x``, as uint32, and not the elements.
    checked
        Whether indices on the GPU are checked. With ``places``, those out of bounds become NOWHERE.
        After :class:`debug`, the next wait raises InvalidIndex for them.

    Raises
    ------
    InvalidIndex
        For an index on the host out of bounds.
    """
    source = x.node.in_memory()
    given = [_checked(x, axis, array) for axis, array in zip(axes, arrays, strict=True)]
    spread = reduce(
        lambda a, b: shapes.broadcast("index", a, b), [array.node.shape for array in given]
    )
    rest = [n for n in range(len(source.shape)) if n not in axes]
    before = 0 if first else axes[0]
    kept = [source.shape[n] for n in rest]
    shape = (*kept[:before], *spread, *kept[before:])
    behind = (1,) * (len(kept) - before)
    turned = [
        strided.reshaped("index", array, (*array.node.shape, *behind)) if behind else array
        for array in given
    ]
    steps = strided.strides_of(x)
    sums = _Places(x.tracer, shape, len(axes) + 2, _BY_AXIS * (len(shape) + len(axes)))
    trace = sums.trace
    is_checked = [checked and isinstance(array, Value) for array in arrays]
    is_told = checks_indices()
    terms = [
        sums.times(
            _wrapped(sums, array.node, source.shape[axis], axis if one and is_told else None),
            steps[axis],
        )
        for axis, array, one in zip(axes, turned, is_checked, strict=True)
    ]
    inside = [
        _is_inside(sums, array.node, source.shape[axis])
        for axis, array, one in zip(axes, turned, is_checked, strict=True)
        if one and places
    ]
    for n, axis in enumerate(rest):
        at = n if n < before else n + len(spread)
        if source.shape[axis] > 1:
            terms.append(sums.times(sums.coordinate(at), steps[axis]))
    total = sums.total(terms, source.offset)
    if inside:
        is_there = reduce(lambda a, b: sums.op("logical_and", a, b, kinds=(BOOL, BOOL)), inside)
        kinds = (BOOL, UINT32, UINT32)
        total = sums.op("where", is_there, total, sums.number(NOWHERE), kinds=kinds)
    if places:
        return x.like(trace.add_value(UINT32, total))
    return x.like(trace.add_load(source.kind, trace.place_to_load(source), total))


def repeated(x: V, times: Sequence[int]) -> V:
    """Repeat each element along each axis as often as given, at least once.

    Kernels compute the index of an element from that of the result, and read no index arrays.
    """
    source = x.node.in_memory()
    shape = tuple([extent * n for extent, n in zip(source.shape, times, strict=True)])
    steps = strided.strides_of(x)
    sums = _Places(x.tracer, shape, 1, _BY_AXIS * sum(extent > 1 for extent in source.shape) + 2)
    terms = []
    for axis, (extent, n) in enumerate(zip(source.shape, times, strict=True)):
        if extent > 1:
            at = sums.coordinate(axis)
            own = at if n == 1 else sums.op("floor_divide", at, sums.number(n))
            terms.append(sums.times(own, steps[axis]))
    total = sums.total(terms, source.offset)
    trace = sums.trace
    return x.like(trace.add_load(source.kind, trace.place_to_load(source), total))


def _checked(x: Value, axis: int, array: Any) -> Value:
    """Return an index array on the GPU. Indices from the host are checked."""
    extent = x.node.shape[axis]
    same_device("index", x, array)
    if extent > _MOST_INDICES:
        told = Description(f"one for axis {axis} of {extent} elements")
        expected = f"an index array for an axis of at most {_MOST_INDICES} elements"
        raise InvalidIndex("index", "key", told, expected)
    if isinstance(array, Value):
        if extent == 0 and 0 not in array.node.shape:
            raise InvalidIndex(
                "index",
                "key",
                Description("an index array"),
                f"have no indices, as axis {axis} is empty",
            )
        return array
    outside = (array < -extent) | (array >= extent)
    if outside.any():
        raise InvalidIndex(
            "index", "key", int(array[outside].flat[0]), f"indices from {-extent} to {extent - 1}"
        )
    return x.like(uploaded(x.tracer, np.asarray(array), INT32))


def _wrapped(places: _Places, node: Node, extent: int, late: int | None) -> int:
    """Resolve negative indices, and clamp all to the axis.

    If ``late`` is an axis, the kernel reports indices out of bounds.
    """
    place = places.trace.place_of(node)
    number = UINT32 if node.kind.kind == "u" else INT32
    if late is not None:
        faults = places.trace.tracer.faults
        check = places.trace.tracer.device.faults.number(partial(_outside, node.kind, late, extent))
        checked = overload_of(CHECKED_PLACE, (node.kind, number, UINT32, UINT32))
        assert checked is not None
        return places.trace.add(
            checked, place, places.number(extent, number), places.number(check),
            places.trace.place_to_load(faults),
        ).place  # fmt: skip
    made = overload_of(PLACE_OF_INDEX, (node.kind, number))
    assert made is not None
    return places.trace.add(made, place, places.number(extent, number)).place


def _outside(kind: ElementType, axis: int, extent: int, found: int, place: str) -> InvalidIndex:
    found = found % 2**64 if kind.kind == "u" else found
    where = f" in {place}" if place else ""
    told = Description(f"{found} along axis {axis}{where}")
    return InvalidIndex("index", "key", told, f"indices from {-extent} to {extent - 1}")


def _is_inside(places: _Places, node: Node, extent: int) -> int:
    """Return whether indices are within their axis."""
    number = UINT32 if node.kind.kind == "u" else INT32
    made = overload_of(IS_INSIDE, (node.kind, number))
    assert made is not None
    place = places.trace.place_of(node)
    return places.trace.add(made, place, places.number(extent, number)).place


@dataclass(frozen=True, slots=True)
class Region:
    """A part of an array that integers, slices and None select.

    Attributes
    ----------
    shape
        The shape of the region.
    axes
        For each axis of the array: the first index, the step (above 0), the count, whether the
        order is reversed, and the axis of the region (-1 for an integer).
    """

    shape: Shape
    axes: tuple[tuple[int, int, int, bool, int], ...]

    @property
    def frame(self) -> Frame | None:
        """The first index and the count along each axis.

        It is None if the region is not a contiguous range of each axis, in the same order.
        """
        if any(
            by != 1 or is_turned or own != axis
            for axis, (_, by, _, is_turned, own) in enumerate(self.axes)
        ) or len(self.shape) != len(self.axes):
            return None
        return tuple([(low, count) for low, _, count, _, _ in self.axes])

    def place(self, shape: Shape, steps: Shape | None) -> Place:
        """Return the place of the region in an array, as a view of the array."""
        strides = [0] * len(self.shape)
        offset = 0
        for step, (low, by, count, is_turned, own) in zip(
            contiguous_strides(shape) if steps is None else steps, self.axes, strict=True
        ):
            offset += low * step
            if is_turned:
                offset += (count - 1) * by * step
            if own >= 0:
                strides[own] = -by * step if is_turned else by * step
        return self.shape, strided.strides_or_none(self.shape, tuple(strides)), offset


def region(shape: Shape, items: Sequence[Any]) -> Region:
    """Return the region of an array that integers, slices and None select."""
    extents: list[int] = []
    axes: list[tuple[int, int, int, bool, int]] = []
    for item in items:
        if item is None:
            extents.append(1)
            continue
        extent = shape[len(axes)]
        if isinstance(item, slice):
            found = range(*item.indices(extent))
            turned = found.step < 0
            low = found[-1] if turned and found else found.start
            axes.append((low, abs(found.step), len(found), turned, len(extents)))
            extents.append(len(found))
        else:
            at = index(item)
            if not -extent <= at < extent:
                raise InvalidIndex("assign", "key", at, f"an index from {-extent} to {extent - 1}")
            axes.append((at % extent, 1, 1, False, -1))
    return Region(tuple(extents), tuple(axes))


def replaced(x: V, part: Region, value: Any) -> V:
    """Return an array with a region replaced by a number or an array.

    The array has the dtype of ``x`` and broadcasts to the region.
    """
    node = x.node
    if 0 in part.shape or 0 in node.shape:
        return x
    source = None
    steps: Shape = ()
    if isinstance(value, Value):
        source = strided.spread(value, part.shape).node
        steps = contiguous_strides(part.shape) if source.strides is None else source.strides
    shape = node.shape
    places = _Places(x.tracer, shape, 2, _BY_AXIS * (len(shape) + 1))
    trace = places.trace
    inside: list[int] = []
    terms: list[int] = []
    for axis, (low, step, count, turned, own) in enumerate(part.axes):
        extent = shape[axis]
        if extent == 1:
            continue
        is_whole = count == extent
        by = steps[own] if own >= 0 and steps else 0
        if is_whole and by == 0:
            continue
        at = places.coordinate(axis)
        at = places.op("subtract", at, places.number(low)) if low else at
        if not is_whole:  # indices before the first one wrap around
            last = places.number((count - 1) * step)
            inside.append(places.op("less_equal", at, last))
        if step > 1:
            each = places.number(step)
            if not is_whole:
                rest = places.op("remainder", at, each)
                inside.append(places.op("equal", rest, places.number(0)))
            at = places.op("floor_divide", at, each)
        if by:
            at = places.op("subtract", places.number(count - 1), at) if turned else at
            terms.append(places.times(at, by))
    if source is None:
        new = trace.number(node.kind, words_of(value, node.kind))
    else:
        total = places.total(terms, source.offset)
        new = trace.add_load(node.kind, trace.place_to_load(source), total).place
    if not inside:
        return x.like(trace.add(cast(node.kind, node.kind), new))
    both = (BOOL, BOOL)
    chosen = reduce(lambda a, b: places.op("logical_and", a, b, kinds=both), inside)
    made = resolve("where", (BOOL, node.kind, node.kind))
    return x.like(trace.add(made, chosen, new, trace.place_of(node)))


def side_by_side(a: V, b: V, axis: int, shape: Shape) -> V:
    """Concatenate two nonempty arrays of one dtype along an axis.

    The kernel that needs the result computes it.
    """
    kind, cut = a.node.kind, a.node.shape[axis]
    sources = a.node.in_memory(), b.node.in_memory()
    places = _Places(a.tracer, shape, 2, _BY_AXIS * (len(shape) + 1))
    trace = places.trace
    at = {n: places.coordinate(n) for n, extent in enumerate(shape) if extent > 1}
    loads = []
    for source, low in zip(sources, (0, cut), strict=True):
        steps = contiguous_strides(source.shape) if source.strides is None else source.strides
        terms = [places.times(at[n], steps[n]) for n in at if source.shape[n] > 1 and steps[n]]
        moved = low * steps[axis] if source.shape[axis] > 1 else 0
        total = places.total(terms, source.offset - moved)
        loads.append(trace.add_load(kind, trace.place_to_load(source), total).place)
    is_first = places.op("less", at[axis], places.number(cut))
    return a.like(trace.add(resolve("where", (BOOL, kind, kind)), is_first, *loads))


def coordinates(tracer: Tracer, shape: Shape, axis: int) -> Node:
    """Return the index along an axis of each element of a shape, as int32."""
    if shape[axis] > _MOST_INDICES:
        extent = shape[axis]
        told = f"an indexed axis must have at most {_MOST_INDICES} elements, got {extent}."
        raise Unsupported("index", told)
    places = _Places(tracer, shape, 0, _BY_AXIS)
    return places.trace.add(cast(UINT32, INT32), places.coordinate(axis))
