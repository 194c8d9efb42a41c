"""Sums, means and maxima of rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed
from browsergpu.arrays.autograd.variable import plain
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, data_types, elementwise, manipulation, statistics
from browsergpu.functions.nn import inputs, tables
from browsergpu.functions.ordering import sorting
from browsergpu.functions.parts import added_at

_MODES = ("sum", "mean", "max")


@composed("weight", "per_sample_weights")
def embedding_bag(
    input: Array, weight: Array, offsets: Any = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Array | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Array:  # fmt: skip
    """Return the sum, mean or maximum of the rows of a table for each bag of indices.

    Parameters
    ----------
    input : Array
        Integers: bags of equal length as [B, N], or all bags one after the other with ``offsets``.
    weight : Array
        Shape [V, D], floats.
    offsets : Array or sequence of int, optional
        Position at which each bag begins, rising from 0. Only for ``input`` of one axis. The mode
        "max" waits for it.
    max_norm : float, optional
        The largest norm of a row. Larger rows at the indices are scaled in place first.
    norm_type : float, optional
        Order of the norm.
    scale_grad_by_freq : bool, optional
        Whether to divide the gradient of a row by the number of its indices. Not for "max".
    mode : {"sum", "mean", "max"}, optional
        What to return of a bag. Empty bags give zeros.
    sparse : bool, optional
        False. Gradients are not sparse.
    per_sample_weights : Array, optional
        Factors of the rows, of the shape of ``input``. Only for "sum".
    include_last_offset : bool, optional
        Whether ``offsets`` ends with the number of indices.
    padding_idx : int, optional
        Indices with this value do not count.

    Returns
    -------
    Array
        Shape [B, D], of the dtype of ``weight``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of integers, or ``weight`` of floats.
    """
    op = "embedding_bag"
    indices, table = inputs.whole(op, "input", input), inputs.floats(op, "weight", weight)
    if mode not in _MODES:
        raise InvalidArgument(op, "mode", mode, "'sum', 'mean' or 'max'")
    if per_sample_weights is not None and mode != "sum":
        raise InvalidArgument(
            op, "per_sample_weights", per_sample_weights, "None, except for 'sum'"
        )
    if mode == "max" and checks.flag(op, "scale_grad_by_freq", scale_grad_by_freq):
        raise InvalidArgument(op, "scale_grad_by_freq", True, "False for mode 'max'")
    if (indices.ndim, offsets is None) not in ((2, True), (1, False)):
        expected = "have two axes, or one axis and offsets"
        raise InvalidArgument(op, "input", indices, expected)
    rows = tables.embedding(
        indices, table, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
    )
    if per_sample_weights is not None:
        own = inputs.floats(op, "per_sample_weights", per_sample_weights)
        factors = inputs.shaped(op, "per_sample_weights", own, indices.shape)
        rows = elementwise.multiply(rows, manipulation.expand_dims(factors, axis=-1))
    counts = creation.ones(indices.shape, dtype="bool", device=table.device)
    if padding_idx is not None:
        counts = elementwise.not_equal(indices, int(padding_idx) % table.shape[0])
    if offsets is None:
        return _of_equal_length(rows, counts, mode)
    last = checks.flag(op, "include_last_offset", include_last_offset)
    if mode == "max":
        return _maxima(op, rows, counts, offsets, last)
    return _of_bags(op, rows, counts, offsets, last, mode)


def _of_equal_length(rows: Array, counts: Array, mode: str) -> Array:
    inside = manipulation.expand_dims(counts, axis=-1)
    if mode == "max":
        return _largest(rows, inside)
    total = statistics.sum(elementwise.where(inside, rows, 0.0), axis=1)
    if mode == "sum":
        return total
    number = statistics.sum(data_types.astype(inside, "float32"), axis=1)
    return elementwise.divide(total, elementwise.maximum(number, 1.0)).astype(
        rows.dtype, copy=False
    )


def _largest(rows: Array, inside: Array) -> Array:
    """Return maxima along axis 1 of rows that count. The first of equal elements counts."""
    if not rows.shape[1]:
        shape = (rows.shape[0], rows.shape[2])
        return creation.zeros(shape, dtype=rows.dtype, device=rows.device)
    known = elementwise.where(inside, plain(rows), -np.inf)
    best = manipulation.expand_dims(sorting.argmax(known, axis=1), axis=1)
    taken = manipulation.squeeze(sorting.take_along_axis(rows, best, axis=1), 1)
    return elementwise.where(statistics.any(inside, axis=1), taken, 0.0)


def _begins(op: str, offsets: Any, last: bool, device: Any) -> tuple[Array, int]:
    """Return the start of each bag, and the number of bags."""
    given = offsets
    if not isinstance(given, Array):
        given = creation.asarray(np.asarray(given, np.int32), device=device)
    found = inputs.whole(op, "offsets", given)
    if found.ndim != 1 or found.size < 1 + last:
        expected = f"have one axis with at least {1 + last} elements"
        raise InvalidArgument(op, "offsets", found, expected)
    return found, found.size - last


def _of_bags(op: str, rows: Array, counts: Array, offsets: Any, last: bool, mode: str) -> Array:
    begins, count = _begins(op, offsets, last, rows.device)
    numbers = creation.arange(rows.shape[0], dtype="int32", device=rows.device)
    bags = sorting.searchsorted(begins, numbers, side="right").astype("int32") - 1
    bags = elementwise.clip(bags, 0, count - 1)
    own = elementwise.where(manipulation.expand_dims(counts, axis=-1), rows, 0.0)
    zeros = creation.zeros((count, rows.shape[1]), dtype=rows.dtype, device=rows.device)
    total = added_at(zeros, bags, own)
    if mode == "sum":
        return total
    none = creation.zeros((count,), dtype="float32", device=rows.device)
    number = added_at(none, bags, data_types.astype(counts, "float32"))
    divisor = manipulation.expand_dims(elementwise.maximum(number, 1.0), axis=-1)
    return elementwise.divide(total, divisor).astype(rows.dtype, copy=False)


def _maxima(op: str, rows: Array, counts: Array, offsets: Any, last: bool) -> Array:
    """Return the maxima of bags, padded to equal length."""
    begins, count = _begins(op, offsets, last, rows.device)
    edges = np.append(np.asarray(begins.numpy(), np.int64)[:count], rows.shape[0])
    lengths = np.diff(edges)
    if edges[0] != 0 or (lengths < 0).any():
        raise InvalidArgument(op, "offsets", offsets, "rising numbers from 0")
    steps = np.arange(int(lengths.max(initial=0)))
    is_there = steps < lengths[:, None]
    places = np.where(is_there, edges[:-1, None] + steps, 0).astype(np.int32)
    shape = (*places.shape, rows.shape[1])
    taken = manipulation.reshape(manipulation.take(rows, places.reshape(-1), axis=0), shape)
    inside = elementwise.logical_and(
        creation.asarray(is_there, device=rows.device),
        manipulation.reshape(manipulation.take(counts, places.reshape(-1), axis=0), places.shape),
    )
    return _largest(taken, manipulation.expand_dims(inside, axis=-1))
