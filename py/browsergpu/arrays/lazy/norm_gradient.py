"""Gradients of a norm of rows, by one generated kernel that also computes its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from browsergpu.arrays.lazy.extract import extract
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.lazy.trace import Trace
from browsergpu.core.checks import product
from browsergpu.core.element_types import FLOAT32
from browsergpu.core.grids import MOST_ELEMENTS
from browsergpu.kernels.fused.layout import layout
from browsergpu.kernels.fused.norm_gradient import NormPlan, norm_gradient, norm_plan
from browsergpu.tensors.device_array import Storage

#: Arrays that the kernel writes: the gradient and the partial sums.
_WRITTEN = 2


class Norm(NamedTuple):
    """A norm of rows.

    Attributes
    ----------
    op
        The name of the function, for error messages.
    length
        The elements of a row.
    eps
        The word of the float that is added to the mean of squares.
    is_centred
        Whether the norm subtracts the mean.
    """

    op: str
    length: int
    eps: int
    is_centred: bool


def plan(norm: Norm, count: int, parts: int) -> NormPlan | None:
    """Return the division of ``count`` elements, or None for rows that no kernel supports."""
    if not count or count > MOST_ELEMENTS:
        return None
    return norm_plan(count // norm.length, norm.length, has_sums=parts > 0)


def gradients(
    tracer: Any, norm: Norm, planned: NormPlan, nodes: Sequence[Node], parts: int
) -> tuple[Node, Node | None]:
    """Compute the gradient for the input of a norm, and partial sums for its factors.

    Parameters
    ----------
    tracer
        The tracer of the device.
    norm
        The norm.
    planned
        The result of :func:`plan`.
    nodes
        The input, the gradient of the result, and this gradient times the factors. They have the
        same shape.
    parts
        The number of sums for each column: 1 for the factors, 2 for the summands too.

    Returns
    -------
    tuple
        The gradient, in the type of the input, and the sums as [groups, parts, length], or None
        without ``parts``.

    Raises
    ------
    OutOfMemory
        If there is no memory for the results.
    """
    kernels = tracer.kernels
    x, shape = nodes[0], nodes[0].shape
    made = [(x.kind, shape)]
    if parts:
        made.append((FLOAT32, (planned.groups, parts, norm.length)))
    results: list[Node] = []
    for kind, own in made:
        buffer = kernels.device.memory.get_buffer(norm.op, kind.device_bytes(product(own)))
        results.append(stored(kind, own, Storage(kernels.device, buffer)))
    trace, places = _recorded(tracer, kernels, nodes)
    code, leaves, words = trace.code, trace.leaves, trace.words
    part = extract(tuple(code), tuple(places))
    rank, by_fours, modes, laid_out = layout(shape, part.layout(leaves))
    kernel = norm_gradient(
        part.code, part.results, modes, rank, by_fours, x.kind, planned.kept, parts,
        is_centred=norm.is_centred,
    )  # fmt: skip
    n = product(shape)
    kernels.device.recorder.dispatch(
        kernels.pipeline(kernel),
        planned.groups, 1, 1,
        *part.ids(leaves),
        *[one.storage.buffer.id for one in results],
        n, n // norm.length, norm.length, planned.lanes, planned.groups, norm.eps,
        *laid_out,
        *part.parameters(words),
    )  # fmt: skip
    return results[0], results[1] if parts else None


def _recorded(tracer: Any, kernels: Kernels, nodes: Sequence[Node]) -> tuple[Trace, list[int]]:
    """Return a trace with the values, whose arrays are in memory, and the places of the values."""
    for node in nodes:
        trace = node.trace
        if isinstance(trace, Trace) and not trace.reduces(node.place):
            node.in_memory()
    trace = tracer.trace(nodes[0].shape, len(nodes))
    places = [trace.place_of(node) for node in nodes]
    trace.settle(*places)
    part = extract(tuple(trace.code), tuple(places))
    if len(part.arrays) + _WRITTEN > kernels.most_leaves + 1:
        for node in nodes:
            node.in_memory()
        trace = tracer.trace(nodes[0].shape, len(nodes))
        places = [trace.place_of(node) for node in nodes]
    return trace, places
