"""Gradients of a norm of rows, by one generated kernel that also computes its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from browsergpu.arrays.lazy.extract import Extract, extract
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node, room
from browsergpu.arrays.lazy.products import Epilogue, Kernel
from browsergpu.arrays.lazy.trace import Trace
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32, ElementType
from browsergpu.engine.core.grids import MOST_ELEMENTS
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.fused.layout import layout
from browsergpu.engine.kernels.fused.norm_gradient import NormPlan, norm_gradient, norm_plan
from browsergpu.engine.kernels.fused.source import leaf
from browsergpu.engine.tensors.device_array import Storage

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


@dataclass(frozen=True)
class _Dispatch:
    """The dispatch of a kernel that waits, or not.

    Attributes
    ----------
    kernels
        The pipelines of the device.
    norm, planned, parts
        As for :func:`gradients`.
    shape, kind
        Those of the input.
    part
        The entries that the kernel computes.
    arrays
        The arrays that these read, in memory.
    numbers
        The words of their numbers.
    sums
        The memory of the sums, if there are any.
    """

    kernels: Kernels
    norm: Norm
    planned: NormPlan
    parts: int
    shape: Shape
    kind: ElementType
    part: Extract
    arrays: tuple[Node, ...]
    numbers: tuple[int, ...]
    sums: Node | None

    def __call__(self, storage: Storage, residual: Node | None = None) -> None:
        """Write the gradient for the input, plus a packed array, and the sums."""
        part, norm, n = self.part, self.norm, product(self.shape)
        code, places = part.code, part.results
        leaves = dict(zip(part.arrays, self.arrays, strict=True))
        ids, laid_out = part.ids(leaves), part.layout(leaves)
        if residual is not None:
            code, places = (*code, leaf(residual.kind)), (*places, len(code))
            ids.append(residual.storage.buffer.id)
            laid_out = (*laid_out, (self.shape, None, 0))
        rank, by_fours, modes, words = layout(self.shape, laid_out)
        kernel = norm_gradient(
            code, places, modes, rank, by_fours, self.kind, self.planned.kept, self.parts,
            is_centred=norm.is_centred,
        )  # fmt: skip
        self.kernels.device.recorder.dispatch(
            self.kernels.pipeline(kernel),
            self.planned.groups, 1, 1,
            *ids,
            storage.buffer.id,
            *([] if self.sums is None else [self.sums.storage.buffer.id]),
            n, n // norm.length, norm.length, self.planned.lanes, self.planned.groups, norm.eps,
            *words,
            *self.numbers,
        )  # fmt: skip


def gradients(
    tracer: Any,
    norm: Norm,
    planned: NormPlan,
    nodes: Sequence[Node],
    parts: int,
    values: Sequence[Node] = (),
    after: Callable[[Node], None] | None = None,
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
    values
        Memory without contents.
    after
        A function that computes the ``values`` from the sums. With it, the kernel waits in a
        compiled function, and can also add an array to the gradient. The values wait too.

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
    x = nodes[0]
    found = room(kernels.device, norm.op, x.kind, x.shape)
    sums = None
    if parts:
        sums = room(kernels.device, norm.op, FLOAT32, (planned.groups, parts, norm.length))
    trace, places = _recorded(tracer, kernels, nodes)
    part = extract(tuple(trace.code), tuple(places))
    arrays = tuple([trace.leaves[at] for at in part.arrays])
    dispatch = _Dispatch(
        kernels, norm, planned, parts, x.shape, x.kind, part, arrays,
        tuple(part.parameters(trace.words)), sums,
    )  # fmt: skip
    graph = tracer.optimized
    if graph is not None and after is not None and x.kind is FLOAT32:
        _defer(tracer, graph, found, dispatch, values, after)
    else:
        dispatch(found.storage)
        if after is not None and sums is not None:
            after(sums)
    return found, sums


def _defer(
    tracer: Any,
    graph: Any,
    found: Node,
    dispatch: _Dispatch,
    values: Sequence[Node],
    after: Callable[[Node], None],
) -> None:
    """Let the gradient and the values wait until one of them is needed."""
    is_done = False

    def launch(storage: Storage, epilogue: Epilogue) -> None:
        nonlocal is_done
        dispatch(storage, epilogue.residual)
        if dispatch.sums is not None:
            after(dispatch.sums)
        is_done = True

    def launch_value(storage: Storage, epilogue: Epilogue) -> None:
        if not is_done:
            found.in_memory()

    op = dispatch.norm.op
    space = dispatch.kernels.most_leaves + 1 - len(dispatch.arrays) - _WRITTEN
    kernel = Kernel(op, launch, None, frozenset({"residual"} if space else ()))
    tracer.deferred(graph, found, kernel, dispatch.arrays, object())
    for value in values:
        own = Kernel(op, launch_value, None, frozenset())
        tracer.deferred(graph, value, own, dispatch.arrays, object())


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
