"""Exact comparisons of elements with bin edges of any dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, elementwise
from browsergpu.functions.ordering import sorting


def count_edges_at_most(x: Array, edges: np.ndarray, *, below: bool = False) -> Array:
    """Count, for each element, the increasing edges that are at most the element, as int32.

    With ``below`` it counts the edges that are less. NaN is greater than all edges.
    """
    dtype = _domain(x)
    values = _round(edges, dtype, up=not below)
    always, inside = values < _least(dtype), _is_inside(values, dtype)
    number = int(always.sum())
    if not inside.any():
        return creation.full(x.shape, number, dtype=int, device=x.device)
    known = creation.asarray(values[inside].astype(dtype), device=x.device)
    own = x.astype(dtype, copy=False)
    found = sorting.searchsorted(known, own, side="left" if below else "right")
    return found + number if number else found


def count_elements_below(ordered: Array, edges: np.ndarray, *, or_equal: bool = False) -> Array:
    """Count, for each edge, the sorted elements that are less than the edge, as int32.

    With ``or_equal`` it counts the elements that are at most the edge.
    """
    dtype = _domain(ordered)
    values = _round(edges, dtype, up=not or_equal)
    inside = _is_inside(values, dtype)
    known = creation.asarray(np.where(inside, values, 0).astype(dtype), device=ordered.device)
    own = ordered.astype(dtype, copy=False)
    found = sorting.searchsorted(own, known, side="right" if or_equal else "left")
    if inside.all():
        return found
    outside = np.where(values < _least(dtype), 0, ordered.size).astype(found.dtype)
    is_inside, counts = (creation.asarray(one, device=ordered.device) for one in (inside, outside))
    return elementwise.where(is_inside, found, counts)


def equals_number(x: Array, number: Any) -> Any:
    """Return where elements equal a number of the host, or False if its dtype cannot hold it."""
    dtype = _domain(x)
    is_whole = isinstance(number, int | np.integer) and dtype.kind != "f"
    value = int(number) if is_whole else np.float64(number)
    with np.errstate(over="ignore", invalid="ignore"):
        if value != value or (dtype.kind != "f" and not _is_inside(value, dtype)):
            return False
        own = dtype.type(value)
    return elementwise.equal(x.astype(dtype, copy=False), own.item()) if own == value else False


def _domain(x: Array) -> np.dtype[Any]:
    """Return the dtype for exact comparisons."""
    kind = x.dtype.kind
    if kind in "iu" and x.dtype.itemsize == 8:
        return x.dtype
    return np.dtype(np.float32 if kind == "f" else np.uint32 if kind == "u" else np.int32)


def _round(edges: np.ndarray, dtype: np.dtype[Any], *, up: bool) -> np.ndarray:
    """Round edges up or down to numbers of a dtype. Comparisons with elements do not change.

    For an integer dtype, edges become integral but may exceed its range.
    """
    if dtype.kind != "f" and edges.dtype.kind in "iu":
        return edges
    exact = edges.astype(np.float64)
    if dtype.kind != "f":
        return np.ceil(exact) if up else np.floor(exact)
    with np.errstate(over="ignore"):
        near = exact.astype(np.float32)
    if up:
        return np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)
    return np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near)


def _least(dtype: np.dtype[Any]) -> float:
    return -np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)


def _is_inside(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return where values are within the range of a dtype."""
    if dtype.kind == "f":
        return np.ones_like(values, np.bool_)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    is_float = np.asarray(values).dtype.kind == "f"  # floats cannot represent 2^64 - 1
    below = values < float(most + 1) if is_float else values <= most
    return (values >= least) & below
