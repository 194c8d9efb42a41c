"""Sorting, extremes, and what has a number of results that depends on values."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import axis_of
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def _arg(name: str, x: Any, axis: int, keepdims: int, last: int) -> Any:
    at = axis_of(axis, x.ndim)
    if last:
        found = (
            x.shape[at] - 1 - getattr(bg, name)(bg.flip(x, at), axis=at, keepdims=bool(keepdims))
        )
    else:
        found = getattr(bg, name)(x, axis=at, keepdims=bool(keepdims))
    return found.astype("int64", copy=False)


@operator("ArgMax")
def argmax(x: Any, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
    """Return the index of the largest element."""
    return _arg("argmax", x, axis, keepdims, select_last_index)


@operator("ArgMin")
def argmin(x: Any, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
    """Return the index of the smallest element."""
    return _arg("argmin", x, axis, keepdims, select_last_index)


def _top(x: Any, k: int, axis: int, largest: int) -> Any:
    at = axis_of(axis, x.ndim)
    if not 0 <= k <= x.shape[at]:
        raise ValueError(f"k must be from 0 to {x.shape[at]}, got {k}")
    if largest:  # equal elements keep their order
        reverse = bg.flip(x, at)
        order = x.shape[at] - 1 - bg.flip(bg.argsort(reverse, axis=at, stable=True), at)
    else:
        order = bg.argsort(x, axis=at, stable=True)
    index = order[(*(slice(None),) * at, slice(0, k))].astype("int64", copy=False)
    return bg.take_along_axis(x, index, at), index


@operator("TopK", until=9)
def top_k_of_attribute(x: Any, *, k: int, axis: int = -1) -> Any:
    """Return the largest elements and their indices."""
    return _top(x, k, axis, 1)


@operator("TopK", since=10, host=("k",))
def top_k(x: Any, k: Any, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    """Return the largest or smallest elements and their indices."""
    return _top(x, int(np.asarray(k).reshape(-1)[0]), axis, largest)


@operator("NonZero", since=9, folds=True)
def nonzero(x: Any) -> Any:
    """Return the indices of elements that are not zero. It reads the number of them."""
    if isinstance(x, np.ndarray):
        return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64, copy=False)
    return bg.stack(bg.nonzero(x.reshape(-1) if x.ndim == 0 else x)).astype("int64", copy=False)


def _unique_slices(x: Any, axis: int) -> tuple[Any, Any, Any, Any]:
    """Return the sorted slices along an axis, first indices, the inverse and counts."""
    count = x.shape[axis]
    rows = bg.moveaxis(x, axis, 0).reshape((count, -1))
    order = bg.arange(count)
    for at in reversed(range(rows.shape[1])):  # a stable sort by the last element first
        keys = bg.take(rows[:, at], order)
        order = bg.take(order, bg.argsort(keys, stable=True))
    own = bg.take(rows, order, axis=0)
    is_new = bg.any(own[1:] != own[:-1], axis=1)
    starts = bg.concatenate([bg.ones(1, dtype="bool"), is_new])
    begins = bg.nonzero(starts)[0]
    rank = bg.cumsum(starts.astype("int64", copy=False)) - 1
    inverse = bg.zeros(count, dtype="int64")
    inverse[order] = rank
    first = bg.take(order, begins)
    ends = bg.concatenate([begins[1:], bg.full(1, count, dtype=begins.dtype)])
    return bg.take(x, first, axis=axis), first, inverse, ends - begins


@operator("Unique", since=11)
def unique(x: Any, *, axis: int | None = None, sorted: int = 1, node: Node) -> Any:
    """Return the distinct elements or slices. It reads their number."""
    if axis is None:
        values, first, inverse, counts = bg.unique_all(x)
        inverse = inverse.reshape(-1)
    else:
        values, first, inverse, counts = _unique_slices(x, axis_of(axis, x.ndim))
    if not sorted:  # in the order of their first occurrence
        order = bg.argsort(first)
        values = bg.take(values, order, axis=axis if axis is not None else 0)
        rank = bg.argsort(order)
        first, counts = bg.take(first, order), bg.take(counts, order)
        inverse = bg.take(rank, inverse)
    return values, *(one.astype("int64", copy=False) for one in (first, inverse, counts))


@operator(
    "NonMaxSuppression", since=10,
    host=("max_output_boxes_per_class", "iou_threshold", "score_threshold"),
)  # fmt: skip
def non_max_suppression(
    boxes: Any, scores: Any, max_output_boxes_per_class: Any = None, iou_threshold: Any = None,
    score_threshold: Any = None, *, center_point_box: int = 0,
) -> Any:  # fmt: skip
    """Keep boxes that overlap with no better one, for each class. It reads their number.

    The overlaps are computed at once. The search goes over the boxes of all classes together.
    """
    most = 0 if max_output_boxes_per_class is None else int(max_output_boxes_per_class.item())
    limit = 0.0 if iou_threshold is None else float(iou_threshold.item())
    batch, classes, count = scores.shape
    if most <= 0 or not count:
        return bg.zeros((0, 3), dtype="int64")
    overlaps = _overlaps(boxes, center_point_box)
    best = bg.argsort(-scores, axis=-1, stable=True)
    alive = bg.ones(scores.shape, dtype="bool")
    if score_threshold is not None:
        alive = bg.take_along_axis(scores, best, -1) > float(score_threshold.item())
    # [batch, classes, box, box] in the order of scores
    index = best.reshape((batch, classes, count, 1)) * count + best.reshape(
        (batch, classes, 1, count)
    )
    base = bg.asarray(np.arange(batch).reshape((-1, 1, 1, 1)) * count * count)
    close = bg.take(overlaps.reshape(-1), index + base) > limit
    later = bg.asarray(np.triu(np.ones((count, count), bool), 1))
    close = bg.logical_and(close, later)
    for at in range(count - 1):  # a box that is left removes those that it overlaps
        removes = bg.logical_and(close[:, :, at], alive[:, :, at : at + 1])
        alive = bg.logical_and(alive, bg.logical_not(removes))
    alive = bg.logical_and(alive, bg.cumsum(alive.astype("int32", copy=False), axis=-1) <= most)
    where = bg.nonzero(alive)
    chosen = best[where]
    return bg.stack([where[0], where[1], chosen], 1).astype("int64", copy=False)


def _overlaps(boxes: Any, is_centered: int) -> Any:
    """Return the areas that two boxes share, over those that they cover."""
    a, b, c, d = (boxes[..., at] for at in range(4))
    if is_centered:
        x1, x2, y1, y2 = a - c / 2, a + c / 2, b - d / 2, b + d / 2
    else:
        y1, y2 = bg.minimum(a, c), bg.maximum(a, c)
        x1, x2 = bg.minimum(b, d), bg.maximum(b, d)
    area = (x2 - x1) * (y2 - y1)

    def common(low: Any, high: Any) -> Any:
        first = bg.maximum(low[:, :, None], low[:, None])
        return bg.maximum(bg.minimum(high[:, :, None], high[:, None]) - first, 0)

    shared = common(x1, x2) * common(y1, y2)
    union = area[:, :, None] + area[:, None] - shared
    return bg.where(union > 0, shared / bg.where(union > 0, union, 1), 0)
