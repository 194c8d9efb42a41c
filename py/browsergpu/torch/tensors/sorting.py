"""Sorting and searching."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, data_types, manipulation
from browsergpu.functions.ordering import sorting
from browsergpu.torch.tensors.public import public
from browsergpu.torch.tensors.reductions import pair

_named: Any = namedtuple
_Histogram: Any = _named("histogram", ("hist", "bin_edges"))
_Sort, _Topk = pair("sort"), pair("topk")


@public()
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the sorted elements of an axis, and their indices. Every sort is stable."""
    del stable
    order = sorting.argsort(input, axis=dim, descending=descending)
    return _Sort(sorting.take_along_axis(input, order, axis=dim), order)


@public()
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that sort an axis."""
    del stable
    return sorting.argsort(input, axis=dim, descending=descending)


@public()
def msort(input: Any) -> Any:
    """Sort along the first axis."""
    return sorting.sort(input, axis=0)


@public()
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the k largest or smallest elements of an axis, and their indices."""
    del sorted  # they always are
    if not 0 <= k <= input.shape[dim]:
        raise InvalidArgument("topk", "k", k, f"from 0 to {input.shape[dim]}")
    order = sorting.argsort(input, axis=dim, descending=largest)
    key = [slice(None)] * input.ndim
    key[dim] = slice(0, k)
    where = order[tuple(key)]
    return _Topk(sorting.take_along_axis(input, where, axis=dim), where)


@public(method=False)
def searchsorted(
    sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False,
    side: Any = None, sorter: Any = None,
) -> Any:  # fmt: skip
    """Return the indices where elements would be inserted."""
    if side is not None and right and side != "right":
        raise InvalidArgument("searchsorted", "side", side, "'right' beside right=True")
    side = side or ("right" if right else "left")
    if sorted_sequence.ndim > 1 and sorter is not None:
        sorted_sequence = sorting.take_along_axis(sorted_sequence, sorter, axis=-1)
    if sorted_sequence.ndim > 1:
        rows = manipulation.reshape(sorted_sequence, (-1, sorted_sequence.shape[-1]))
        given = manipulation.reshape(input, (-1, input.shape[-1]))
        found = manipulation.stack(
            [sorting.searchsorted(row, x, side=side) for row, x in zip(rows, given, strict=True)]
        )
        found = manipulation.reshape(found, input.shape)
    else:
        found = sorting.searchsorted(sorted_sequence, input, side=side, sorter=sorter)
    return data_types.astype(found, "int32" if out_int32 else "int64")


@public(method=False)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Return the index of the interval that holds each element."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@public(out=False)
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: Any = None,
) -> Any:  # fmt: skip
    """Return the distinct elements, sorted. Waits for the GPU."""
    del sorted  # they always are
    return ABOVE.namespace.unique(
        input, return_inverse=return_inverse, return_counts=return_counts, axis=dim
    )


@public(out=False)
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Return the elements without repetitions of the one before. Waits for the GPU."""
    if dim is not None:
        raise InvalidArgument("unique_consecutive", "dim", dim, "None")
    flat = manipulation.reshape(input, (-1,))
    is_new = ABOVE.namespace.concatenate([flat[:1] == flat[:1], flat[1:] != flat[:-1]])
    found = [flat[is_new]]
    number = sorting.cumulative_sum(data_types.astype(is_new, "int64")) - 1
    if return_inverse:
        found.append(manipulation.reshape(number, input.shape))
    if return_counts:
        found.append(ABOVE.namespace.bincount(number))
    return found[0] if len(found) == 1 else tuple(found)


@public(out=False)
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of nonzero elements, [n, d] or one tensor for each axis. Waits."""
    found = sorting.nonzero(input) if input.shape else (sorting.nonzero(input[None])[0],)
    if as_tuple:
        return found
    if not input.shape:
        return ABOVE.namespace.zeros((int(found[0].shape[0]), 0), dtype="int64")
    return manipulation.stack(list(found), axis=1)


@public("argwhere", out=False)
def argwhere(input: Any) -> Any:
    """Return the indices of nonzero elements, [n, d]."""
    return nonzero(input)


@public()
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Count the occurrences of each number from 0. Waits for the GPU."""
    return ABOVE.namespace.bincount(input, weights, minlength)


@public()
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """Count the elements in intervals of equal width."""
    limits = None if min == max == 0 else (min, max)
    counts, _ = ABOVE.namespace.histogram(input, bins=bins, range=limits)
    return data_types.astype(counts, input.dtype)


@public(method=False, out=False)
def histogram(input: Any, bins: Any, *, range: Any = None, density: bool = False) -> Any:
    """Return the counts in intervals, and their edges."""
    found = ABOVE.namespace.histogram(input, bins=bins, range=range, density=density)
    counts = data_types.astype(found[0], "float32")
    edges = np.asarray(found[1], dtype="float32")
    return _Histogram(counts, creation.asarray(edges, device=input.device))


@public()
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return differences of neighbours along an axis."""
    return sorting.diff(input, axis=dim, n=n, prepend=prepend, append=append)


@public(method=False)
def trapezoid(y: Any, x: Any = None, *, dx: float = 1, dim: int = -1) -> Any:
    """Integrate along an axis by trapezoids."""
    return ABOVE.namespace.trapezoid(y, x, dx, dim)


@public(method=False)
def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Split an axis into a number of parts, or before indices."""
    if isinstance(indices_or_sections, Array):
        indices_or_sections = indices_or_sections.tolist()
    return tuple(ABOVE.namespace.array_split(input, indices_or_sections, dim))
