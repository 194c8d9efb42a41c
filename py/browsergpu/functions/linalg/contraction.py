"""Sums of products by subscripts, as in ``numpy.einsum``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import autocast, narrowed
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.upload import element_type
from browsergpu.arrays.views import strided
from browsergpu.arrays.x64 import check_x64_pair
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import (
    BOOL,
    FLOAT16,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    UINT8,
    UINT16,
    UINT32,
    promoted,
)
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, operands, statistics
from browsergpu.functions.linalg import linear
from browsergpu.functions.linalg.subscripts import Labels, plan, text_of

_OP = "einsum"
#: The types in which sums are computed. A sum of bools is true if one product is true. It is
#: computed in float32, because an integer could wrap around to 0.
_COMPUTED = {BOOL: FLOAT32, INT8: INT32, INT16: INT32, UINT8: UINT32, UINT16: UINT32}


class _Term(NamedTuple):
    """An array with one label for each axis. All labels are different."""

    labels: Labels
    array: Array


class _Gradients:
    """Gradients for the operands of a contraction. Each is computed when it is requested."""

    def __init__(self, g: Array, text: str, arrays: Sequence[Array], optimize: Any) -> None:
        self._g, self._text, self._arrays = g, text, arrays
        self._optimize = optimize if isinstance(optimize, bool | str) else True

    def __getitem__(self, at: int) -> Array:
        x = self._arrays[at]
        found = plan(_OP, self._text, tuple([one.shape for one in self._arrays]), False)
        labels = found.inputs[at]
        extents = dict(zip(labels, x.shape, strict=True))
        numbers = {label: n for n, label in enumerate(found.extents)}
        given: list[Any] = [self._g, [numbers[label] for label in found.output]]
        known = set(found.output)
        for n, (own, other) in enumerate(zip(found.inputs, self._arrays, strict=True)):
            if n != at:
                known.update(own)
                conjugate = elementwise.conj(other) if other.dtype.kind == "c" else other
                given += [conjugate, [numbers[label] for label in own]]
        # Labels of this operand alone were summed over, and axes of extent 1 were repeated.
        kept = [
            label for label in extents
            if label in known and extents[label] == found.extents[label]
        ]  # fmt: skip
        part = einsum(*given, [numbers[label] for label in kept], optimize=self._optimize)
        own_extents = dict(zip(kept, part.shape, strict=True))
        part = manipulation.reshape(part, tuple([own_extents.get(label, 1) for label in extents]))
        part = manipulation.broadcast_to(part, tuple(extents.values()))
        return part if len(extents) == len(labels) else _embed_diagonals(part, [*extents], labels)


def _embed_diagonals(x: Array, own: Sequence[str], labels: Labels) -> Array:
    """Return zeros, with the elements of ``x`` where axes of one label have equal indices."""
    places = [
        np.arange(extent, dtype=np.int32).reshape([-1 if n == at else 1 for n in range(x.ndim)])
        for at, extent in enumerate(x.shape)
    ]
    shape = tuple(x.shape[own.index(label)] for label in labels)
    whole = creation.zeros(shape, dtype=x.dtype, device=x.device)
    whole[tuple(places[own.index(label)] for label in labels)] = x
    return whole


def einsum(subscripts: Any, /, *arrays: Any, optimize: Any = True, dtype: Any = None) -> Array:
    """Return the sums of products that subscripts describe, as ``numpy.einsum``.

    Parameters
    ----------
    subscripts : str or Array
        One letter for each axis of each operand, such as "ij,jk->ik". In the other form, arrays and
        lists of labels alternate: ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.
    *arrays : Array
        The operands, on one device.
    optimize : bool, str or list, optional
        The order in which operands are multiplied. True or "greedy" multiplies the pair first
        that leaves the fewest elements. False goes from left to right. A list has the steps, as
        from ``numpy.einsum_path(...)[0]`` or opt_einsum.
    dtype : dtype, optional
        The dtype of the result. The promoted dtype of the operands by default.

    Returns
    -------
    Array
        The sums. Floats are summed in float32, and integers wrap around.

    Raises
    ------
    InvalidArgument
        If the subscripts are invalid, or the operands or ``optimize`` do not fit them. The class is
        a ValueError.
    InvalidType
        If an operand is not an array.

    Notes
    -----
    A letter in two operands is one index of both. A letter that occurs twice in one operand selects
    its diagonal. Letters that are missing in the result are summed over. ``...`` stands for axes
    that broadcast. Without ``->``, the result has the letters that occur once, in alphabetical
    order.

    Operands are multiplied in pairs. Pairs with an index to sum over are matrix products.
    """
    text, given = _parse(subscripts, arrays)
    for n, x in enumerate(given):
        operands.array(_OP, f"operands[{n}]", x)
    return contraction(text, given, optimize, dtype)


@narrowed("arrays")
@differentiable(arrays=lambda g, text, arrays, optimize: _Gradients(g, text, arrays, optimize))
@autocast(enabled=False)  # the operands already have the dtype of the products
def contraction(text: str, arrays: Sequence[Array], optimize: Any, dtype: Any, /) -> Array:
    """Compute :func:`einsum` of subscripts as text."""
    found = plan(_OP, text, tuple(x.shape for x in arrays), _hashable(optimize))
    kinds = [x.node.kind for x in arrays]
    kind = reduce(promoted, kinds) if dtype is None else element_type(_OP, dtype)
    if dtype is None:
        check_x64_pair(_OP, kinds)
    computed = _COMPUTED.get(kind, kind)
    terms = [
        _unique_labels(apply.cast_to(_OP, x, computed, copy=False), labels, found.extents)
        for x, labels in zip(arrays, found.inputs, strict=True)
    ]
    for step in found.steps:
        chosen = [terms[n] for n in step]
        terms = [term for n, term in enumerate(terms) if n not in step]
        terms.append(_multiply_all(chosen, _labels_of(terms).union(found.output)))
    last = _sum_labels(terms[0], frozenset(found.output))
    return apply.cast_to(_OP, _permute(last, found.output), kind)


def _parse(subscripts: Any, arrays: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return the subscripts as text, and the operands."""
    if isinstance(subscripts, str):
        if not arrays:
            raise InvalidArgument(_OP, "operands", arrays, "have at least one array")
        return subscripts, arrays
    items = [subscripts, *arrays]
    if len(items) < 2:
        raise InvalidArgument(_OP, "subscripts", subscripts, "a string, or a list of labels")
    sublists = [*items[1::2], *(items[-1:] if len(items) % 2 else [None])]
    return text_of(_OP, sublists), items[0 : len(items) // 2 * 2 : 2]


def _hashable(optimize: Any) -> Any:
    if not isinstance(optimize, list | tuple):
        return optimize
    return tuple(tuple(step) if isinstance(step, list) else step for step in optimize)


def _unique_labels(x: Array, labels: Labels, extents: Any) -> _Term:
    """Replace repeated labels by a diagonal, and drop axes of extent 1 that are broadcast."""
    whole = all(extent == extents[label] for label, extent in zip(labels, x.shape, strict=True))
    if whole and len(set(labels)) == len(labels):
        return _Term(labels, x)
    x.node.in_memory()
    steps: dict[str, int] = {}
    for label, extent, step in zip(labels, x.shape, strided.strides_of(x), strict=True):
        if extent == extents[label]:
            steps[label] = steps.get(label, 0) + step
    shape = tuple(extents[label] for label in steps)
    return _Term(tuple(steps), strided.view(x, shape, tuple(steps.values()), 0))


def _labels_of(terms: Sequence[_Term]) -> frozenset[str]:
    return frozenset(label for term in terms for label in term.labels)


def _multiply_all(chosen: Sequence[_Term], kept: frozenset[str]) -> _Term:
    """Return the product of terms, summed over the labels that are not kept."""
    found, *rest = chosen
    for n, term in enumerate(rest):
        found = _multiply(found, term, kept | _labels_of(rest[n + 1 :]))
    return _sum_labels(found, kept)


def _multiply(a: _Term, b: _Term, kept: frozenset[str]) -> _Term:
    a, b = _sum_labels(a, kept.union(b.labels)), _sum_labels(b, kept.union(a.labels))
    both = [label for label in a.labels if label in b.labels]
    inner = [label for label in both if label not in kept]
    batch = [label for label in both if label in kept]
    rows = [label for label in a.labels if label not in both]
    columns = [label for label in b.labels if label not in both]
    if not inner or not (rows or columns):
        return _multiply_elements(a, b, (*batch, *inner, *rows, *columns), kept)
    left = _group(a, [batch, rows, inner])
    right = _group(b, [batch, inner, columns])
    extents = {**_extents(a), **_extents(b)}
    labels = (*batch, *rows, *columns)
    made = linear.matmul(left, right).reshape(tuple(extents[label] for label in labels))
    return _Term(labels, made)


def _multiply_elements(a: _Term, b: _Term, labels: Labels, kept: frozenset[str]) -> _Term:
    """Multiply elements, and sum over labels that are not kept. float16 is summed in float32."""
    x, y = _align(a, labels), _align(b, labels)
    kind = x.node.kind
    if kind is FLOAT16 and not kept.issuperset(labels):
        x, y = (apply.cast_to(_OP, part, FLOAT32, copy=False) for part in (x, y))
    found = _sum_labels(_Term(labels, x * y), kept)
    return _Term(found.labels, apply.cast_to(_OP, found.array, kind, copy=False))


def _extents(term: _Term) -> dict[str, int]:
    return dict(zip(term.labels, term.array.shape, strict=True))


def _sum_labels(term: _Term, kept: frozenset[str]) -> _Term:
    """Return the sum over the labels that are not kept."""
    axes = tuple(n for n, label in enumerate(term.labels) if label not in kept)
    if not axes:
        return term
    labels = tuple(label for label in term.labels if label in kept)
    x = apply.packed(term.array)  # any number of axes
    return _Term(labels, statistics.sum(x, axis=axes, dtype=x.dtype))


def _permute(term: _Term, labels: Sequence[str]) -> Array:
    """Return the array with its axes in the order of ``labels``."""
    if tuple(labels) == term.labels:
        return term.array
    return strided.permuted(term.array, tuple(term.labels.index(label) for label in labels))


def _align(term: _Term, labels: Sequence[str]) -> Array:
    """Return the array with an axis for each label. Missing labels have extent 1."""
    turned = _permute(term, [label for label in labels if label in term.labels])
    own = _extents(term)
    shape = tuple(own.get(label, 1) for label in labels)
    return turned if turned.shape == shape else turned.reshape(shape)


def _group(term: _Term, groups: Sequence[Sequence[str]]) -> Array:
    """Return the array as matrices, with one axis for each group of labels.

    An empty first group has no axis.
    """
    turned = _permute(term, [label for group in groups for label in group])
    own = _extents(term)
    shape = tuple(product([own[label] for label in group]) for group in groups)
    return turned.reshape(shape if groups[0] else shape[1:])
