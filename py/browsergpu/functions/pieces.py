"""Gradients of an array by its parts, before they are put together.

The backward pass collects the gradients of ``x[key]`` for several keys. Parts that do not overlap
need no additions. Parts that already lie in one array in memory need no kernel, such as the
gradients for query, key and value of a projection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.shapes import Shape, contiguous_strides
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, data_types

#: The first index and the length along each axis of an array, and the axes without an integer.
Box = tuple[tuple[tuple[int, int], ...], tuple[int, ...]]

_MOST = 64  # parts whose overlaps are looked for


class Pieces(Shown):
    """Gradients of parts of an array, whose sum is the gradient of the array.

    ``put_back`` computes that of one part from its gradient and its key.
    """

    __slots__ = ("items", "like", "put_back")

    def __init__(
        self,
        items: tuple[tuple[Any, Box, Array], ...],
        like: Like,
        put_back: Callable[[Array, Any, Like], Array],
    ) -> None:
        self.items = items
        self.like = like
        self.put_back = put_back

    def _facts(self) -> str:
        return f"of shape {self.like.shape} from {len(self.items)} parts"

    def and_of(self, other: Pieces) -> Pieces:
        """Return these gradients and others of the same array."""
        return Pieces((*self.items, *other.items), self.like, self.put_back)

    def array(self) -> Any:
        """Return the gradient of the whole array."""
        boxes = [box for _, box, _ in self.items]
        gradients = [g for *_, g in self.items]
        are_apart = 1 < len(boxes) <= _MOST and not any(
            _overlap(a, b) for n, a in enumerate(boxes) for b in boxes[:n]
        )
        if not are_apart or any(type(g) in INTERCEPTED for g in gradients):
            found: Any = None
            for key, _, g in self.items:
                own = self.put_back(g, key, self.like)
                found = own if found is None else found + own
            return found
        kind = self.like.dtype
        gradients = [data_types.astype(g, kind, copy=False) for g in gradients]
        whole = _in_one_array(self.like.shape, boxes, gradients)
        if whole is None:
            whole = creation.zeros(self.like.shape, dtype=kind, device=self.like.device)
            for (key, *_), g in zip(self.items, gradients, strict=True):
                whole[key] = g
        return whole


def box_of(key: Any, shape: Shape) -> Box | None:
    """Return the box that a key of integers and slices with step 1 selects, or None."""
    items = list(key) if isinstance(key, tuple) else [key]
    at = [n for n, item in enumerate(items) if item is Ellipsis]
    if len(at) == 1:
        items[at[0] : at[0] + 1] = [slice(None)] * (len(shape) - len(items) + 1)
    if any(type(item) is not int and not isinstance(item, slice) for item in items):
        return None
    items += [slice(None)] * (len(shape) - len(items))
    if len(items) != len(shape):
        return None
    ranges, axes = [], []
    for axis, (item, extent) in enumerate(zip(items, shape, strict=True)):
        if isinstance(item, slice):
            if not all(
                one is None or type(one) is int for one in (item.start, item.stop, item.step)
            ):
                return None
            start, stop, step = item.indices(extent)
            if step != 1:
                return None
            ranges.append((start, max(stop - start, 0)))
            axes.append(axis)
        else:
            ranges.append((item % extent if extent else 0, 1))
    return tuple(ranges), tuple(axes)


def _overlap(a: Box, b: Box) -> bool:
    return all(
        first < other + many and other < first + count
        for (first, count), (other, many) in zip(a[0], b[0], strict=True)
    )


@exclusive
def _in_one_array(shape: Shape, boxes: list[Box], gradients: list[Array]) -> Array | None:
    """Return the array whose parts the gradients are, if they are all of its parts."""
    if sum(product(tuple(count for _, count in box[0])) for box in boxes) != product(shape):
        return None
    nodes: list[Node] = [g.node for g in gradients]
    if any(node.trace is not None for node in nodes):
        return None
    storage, strides = nodes[0].storage, contiguous_strides(shape)
    for node, (ranges, axes) in zip(nodes, boxes, strict=True):
        offset = sum(first * step for (first, _), step in zip(ranges, strides, strict=True))
        own = contiguous_strides(node.shape) if node.strides is None else node.strides
        expected = [strides[axis] for axis in axes]
        are_steps = all(
            extent == 1 or a == b for extent, a, b in zip(node.shape, own, expected, strict=True)
        )
        if node.storage is not storage or node.offset != offset or not are_steps:
            return None
    return gradients[0].like(stored(nodes[0].kind, shape, storage))
