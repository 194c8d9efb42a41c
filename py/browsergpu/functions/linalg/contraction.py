"""Sums of products by subscripts."""

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
from browsergpu.core.checks import product
from browsergpu.core.element_types import (
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
from browsergpu.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, operands, statistics
from browsergpu.functions.linalg import linear
from browsergpu.functions.linalg.subscripts import Labels, plan, text_of

_OP = "einsum"
#: What sums of other types are computed in. Of bools a sum is true where a product is: a float32
#: does not wrap around to 0.
_COMPUTED = {BOOL: FLOAT32, INT8: INT32, INT16: INT32, UINT8: UINT32, UINT16: UINT32}


class _Term(NamedTuple):
    """An array with a label for each axis, all different."""

    labels: Labels
    array: Array


class _Gradients:
    """The gradients by the operands of a contraction, each computed when it is asked for."""

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
        # Over what is only in this operand it was summed, and what is one index was repeated.
        kept = [
            label for label in extents
            if label in known and extents[label] == found.extents[label]
        ]  # fmt: skip
        part = einsum(*given, [numbers[label] for label in kept], optimize=self._optimize)
        own_extents = dict(zip(kept, part.shape, strict=True))
        part = manipulation.reshape(part, tuple([own_extents.get(label, 1) for label in extents]))
        part = manipulation.broadcast_to(part, tuple(extents.values()))
        return part if len(extents) == len(labels) else _on_diagonals(part, [*extents], labels)


def _on_diagonals(x: Array, own: Sequence[str], labels: Labels) -> Array:
    """Zeros, with the elements of x where indices that have the same label are the same."""
    places = [
        np.arange(extent, dtype=np.int32).reshape([-1 if n == at else 1 for n in range(x.ndim)])
        for at, extent in enumerate(x.shape)
    ]
    shape = tuple(x.shape[own.index(label)] for label in labels)
    whole = creation.zeros(shape, dtype=x.dtype, device=x.device)
    whole[tuple(places[own.index(label)] for label in labels)] = x
    return whole


def einsum(subscripts: Any, /, *arrays: Any, optimize: Any = True, dtype: Any = None) -> Array:
    """The sums of products that subscripts describe, as in NumPy: ``einsum("ij,jk->ik", a, b)``.

    A letter in two operands stands for the same index of both, in one operand twice for its
    diagonal; over letters that are not in the result it is summed. ``...`` stands for axes that are
    broadcast. Without ``->`` the result has the letters that occur once, in alphabetical order.
    ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` is the other form.

    Two operands at a time are brought together, by matrix products where there is something to sum
    over. ``optimize`` says in which order: True or "greedy" those first that leave least in memory,
    False from left to right, or a list of steps as ``numpy.einsum_path(...)[0]`` and opt_einsum
    give it. The result has the operands' common dtype, or ``dtype``; whole numbers wrap around,
    floats are summed in float32. Raises InvalidArgument, a ValueError, where NumPy does.
    """
    text, given = _parts(subscripts, arrays)
    for n, x in enumerate(given):
        operands.array(_OP, f"operands[{n}]", x)
    return contraction(text, given, optimize, dtype)


@narrowed("arrays")
@differentiable(arrays=lambda g, text, arrays, optimize: _Gradients(g, text, arrays, optimize))
@autocast(enabled=False)  # its own products have the dtype that they are to have
def contraction(text: str, arrays: Sequence[Array], optimize: Any, dtype: Any, /) -> Array:
    """:func:`einsum` of subscripts as text."""
    found = plan(_OP, text, tuple(x.shape for x in arrays), _hashable(optimize))
    kinds = [x.node.kind for x in arrays]
    kind = reduce(promoted, kinds) if dtype is None else element_type(_OP, dtype)
    if dtype is None:
        check_x64_pair(_OP, kinds)
    computed = _COMPUTED.get(kind, kind)
    terms = [
        _distinct(apply.cast_to(_OP, x, computed, copy=False), labels, found.extents)
        for x, labels in zip(arrays, found.inputs, strict=True)
    ]
    for step in found.steps:
        chosen = [terms[n] for n in step]
        terms = [term for n, term in enumerate(terms) if n not in step]
        terms.append(_together(chosen, _labels_of(terms).union(found.output)))
    last = _summed(terms[0], frozenset(found.output))
    return apply.cast_to(_OP, _turned(last, found.output), kind)


def _parts(subscripts: Any, arrays: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The subscripts as text, and the operands."""
    if isinstance(subscripts, str):
        if not arrays:
            raise InvalidArgument(_OP, "operands", arrays, "have one array at least")
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


def _distinct(x: Array, labels: Labels, extents: Any) -> _Term:
    """Diagonals in place of labels that occur twice. Axes of one index that the others repeat are
    left out."""
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


def _together(chosen: Sequence[_Term], kept: frozenset[str]) -> _Term:
    """The product of some terms, summed over the labels that are not kept."""
    found, *rest = chosen
    for n, term in enumerate(rest):
        found = _product(found, term, kept | _labels_of(rest[n + 1 :]))
    return _summed(found, kept)


def _product(a: _Term, b: _Term, kept: frozenset[str]) -> _Term:
    a, b = _summed(a, kept.union(b.labels)), _summed(b, kept.union(a.labels))
    both = [label for label in a.labels if label in b.labels]
    inner = [label for label in both if label not in kept]
    batch = [label for label in both if label in kept]
    rows = [label for label in a.labels if label not in both]
    columns = [label for label in b.labels if label not in both]
    if not inner or not (rows or columns):
        return _of_elements(a, b, (*batch, *inner, *rows, *columns), kept)
    left = _grouped(a, [batch, rows, inner])
    right = _grouped(b, [batch, inner, columns])
    extents = {**_extents(a), **_extents(b)}
    labels = (*batch, *rows, *columns)
    made = linear.matmul(left, right).reshape(tuple(extents[label] for label in labels))
    return _Term(labels, made)


def _of_elements(a: _Term, b: _Term, labels: Labels, kept: frozenset[str]) -> _Term:
    """A product of elements, and its sum over the labels that are not kept: of float16 in
    float32."""
    x, y = _aligned(a, labels), _aligned(b, labels)
    kind = x.node.kind
    if kind is FLOAT16 and not kept.issuperset(labels):
        x, y = (apply.cast_to(_OP, part, FLOAT32, copy=False) for part in (x, y))
    found = _summed(_Term(labels, x * y), kept)
    return _Term(found.labels, apply.cast_to(_OP, found.array, kind, copy=False))


def _extents(term: _Term) -> dict[str, int]:
    return dict(zip(term.labels, term.array.shape, strict=True))


def _summed(term: _Term, kept: frozenset[str]) -> _Term:
    """The sum over the labels that are not kept."""
    axes = tuple(n for n, label in enumerate(term.labels) if label not in kept)
    if not axes:
        return term
    labels = tuple(label for label in term.labels if label in kept)
    x = apply.packed(term.array)  # any number of axes
    return _Term(labels, statistics.sum(x, axis=axes, dtype=x.dtype))


def _turned(term: _Term, labels: Sequence[str]) -> Array:
    """The array with its axes in another order."""
    if tuple(labels) == term.labels:
        return term.array
    return strided.permuted(term.array, tuple(term.labels.index(label) for label in labels))


def _aligned(term: _Term, labels: Sequence[str]) -> Array:
    """The array with an axis of one index for each label that it has not."""
    turned = _turned(term, [label for label in labels if label in term.labels])
    own = _extents(term)
    shape = tuple(own.get(label, 1) for label in labels)
    return turned if turned.shape == shape else turned.reshape(shape)


def _grouped(term: _Term, groups: Sequence[Sequence[str]]) -> Array:
    """The array as matrices: an axis for each group of labels, for the first one if it has any."""
    turned = _turned(term, [label for group in groups for label in group])
    own = _extents(term)
    shape = tuple(product([own[label] for label in group]) for group in groups)
    return turned.reshape(shape if groups[0] else shape[1:])
