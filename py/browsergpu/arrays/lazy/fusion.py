"""Evaluation of a trace: choose the fused kernels for the wanted values and dispatch them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from browsergpu.arrays.lazy.extract import Extract, extract
from browsergpu.arrays.lazy.node import Node
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.errors import DeviceError
from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.places import Line, announced
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Grid
from browsergpu.engine.kernels.fused.layout import layout, workgroups
from browsergpu.engine.kernels.fused.source import (
    Source,
    is_leaf,
    name_of,
    needed,
    source,
)
from browsergpu.engine.tensors.device_array import Storage


class Plan(NamedTuple):
    """One kernel of an evaluation.

    Attributes
    ----------
    kernel
        The generated source.
    grid
        The workgroups in x, y and z.
    places
        The places of the values that the kernel writes.
    read
        The arrays that the kernel binds and does not write.
    part
        The entries that the kernel computes.
    words
        The layout parameters.
    """

    kernel: Source
    grid: Grid
    places: Sequence[int]
    read: Sequence[Node]
    part: Extract
    words: tuple[int, ...]


class Kernels(Shown):
    """The fused kernels of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        #: The number of arrays that a kernel may read. One more binding is for the result.
        self.most_leaves = device.limits["maxStorageBuffersPerShaderStage"] - 1
        self.pipeline = device.generated.pipeline


def room(kernels: Kernels, n: int, entry: int, kind: ElementType) -> Storage:
    """Allocate memory for ``n`` elements, the value of a trace's entry.

    Raises OutOfMemory, which names the entry's operation. May wait.
    """
    device = kernels.device
    op = name_of(entry) or "array"
    return Storage(device, device.memory.get_buffer(op, kind.device_bytes(n), "array"))


def run(
    kernels: Kernels,
    shape: Shape,
    code: Sequence[int],
    leaves: Mapping[int, Node],
    words: Mapping[int, tuple[int, ...]],
    memory: Mapping[Node, Storage],
    originals: Mapping[Node, Storage],
    lines: Mapping[int, tuple[Line, ...]] | None,
) -> None:
    """Record the kernels that compute values into their ``memory``. Does not wait.

    Parameters
    ----------
    kernels
        The pipelines of the device.
    shape
        The shape of the trace's results.
    code
        The entries of the trace.
    leaves
        The arrays of the trace, by place.
    words
        The words of the numbers of the trace, by place.
    memory
        The memory of each wanted value, which the caller has just allocated.
    originals
        The memory of wanted values that replace values of their shape and type there. The trace may
        read these, in the result's order and by no kernel after the one that overwrites them.
    lines
        The user's lines of the operations, by place. None if no profile needs them.

    Raises
    ------
    DeviceError
        If debug mode finds a fault. All kernels are recorded then, and the values are valid. After
        any other error, the values have no memory.
    """
    device = kernels.device
    n = product(shape)
    faults: list[DeviceError] = []
    try:
        if n:
            by_place = {node.place: storage for node, storage in memory.items()}
            over: dict[int, int] = {}
            for node, storage in originals.items():
                by_place[node.place] = storage
                over[storage.buffer.id] = node.place
            for plan in plans(kernels, shape, code, leaves, sorted(by_place), over):
                pipeline = kernels.pipeline(plan.kernel)
                fields = (
                    *plan.grid,
                    *[node.storage.buffer.id for node in plan.read],
                    *[by_place[place].buffer.id for place in plan.places],
                    n,
                    *plan.words,
                    *plan.part.parameters(words),
                )
                try:
                    if lines is None:
                        device.recorder.dispatch(pipeline, *fields)
                    else:
                        with announced(_lines_of(lines, code, plan)):
                            device.recorder.dispatch(pipeline, *fields)
                except DeviceError as error:
                    if not faults:
                        faults.append(error)
    except BaseException:
        for storage in memory.values():
            storage.release()
        raise
    for node, storage in (*memory.items(), *originals.items()):
        node.put(storage)
        node.trace = None
    if faults:
        raise faults.pop()  # this frame must not hold the error, whose traceback holds the frame


def _lines_of(
    lines: Mapping[int, tuple[Line, ...]], code: Sequence[int], plan: Plan
) -> tuple[Line, ...]:
    """Return the lines of the operations that a kernel computes, in order."""
    computed = [lines.get(at, ()) for at in needed(code, plan.places) if name_of(code[at])]
    return tuple(dict.fromkeys(line for own in computed for line in own))


def plans(
    kernels: Kernels,
    shape: Shape,
    code: Sequence[int],
    leaves: Mapping[int, Node],
    places: Sequence[int],
    over: Mapping[int, int] | None = None,
) -> list[Plan]:
    """Plan the kernels that compute the values at ``places``.

    ``over`` has the places of values that go to the memory of leaves, by the ids of the buffers.
    """
    if len(leaves) + len(places) <= kernels.most_leaves + 1:
        return [_plan(shape, code, leaves, places, over)]
    return [
        _plan(shape, code, leaves, share, over)
        for share in shares(kernels, code, len(leaves), places)
    ]


def shares(
    kernels: Kernels, code: Sequence[int], leaf_count: int, places: Sequence[int]
) -> list[Sequence[int]]:
    """Group the places of values by the kernel that computes them, in the order of the kernels."""
    if leaf_count + len(places) <= kernels.most_leaves + 1:
        return [places]
    return _shares(code, places, kernels.most_leaves + 1)


def _shares(code: Sequence[int], places: Sequence[int], most: int) -> list[Sequence[int]]:
    """Group the places so that each group needs at most ``most`` buffers."""
    groups: list[tuple[list[int], set[int]]] = []
    for place in places:
        leaves = {at for at in needed(code, [place]) if is_leaf(code[at])}
        if groups:
            group, known = groups[-1]
            if len(known | leaves) + len(group) + 1 <= most:
                group.append(place)
                known |= leaves
                continue
        groups.append(([place], leaves))
    return [group for group, _ in groups]


def _plan(
    shape: Shape,
    code: Sequence[int],
    leaves: Mapping[int, Node],
    places: Sequence[int],
    over: Mapping[int, int] | None,
) -> Plan:
    if not over:
        own = [(at, x.shape, x.strides, x.offset) for at, x in leaves.items()]
        kernel, grid, part, words = _kernel(shape, tuple(code), tuple(places), tuple(own))
        return Plan(kernel, grid, places, [leaves[at] for at in part.arrays], part, words)
    part = extract(tuple(code), tuple(places))
    rank, by_fours, modes, words = layout(shape, part.layout(leaves))
    read = [leaves[at] for at in part.arrays]
    result_of = dict(zip(places, part.results, strict=True))
    arrays = [place for place, entry in enumerate(part.code) if is_leaf(entry)]
    result = [result_of.get(over.get(node.storage.buffer.id, -1)) for node in read]
    pairs = [(at, to) for at, to in zip(arrays, result, strict=True) if to is not None]
    read = [node for node, to in zip(read, result, strict=True) if to is None]
    kernel = source(part.code, part.results, modes, rank, by_fours, over=tuple(pairs))
    grid = fold(workgroups(product(shape), rank, modes, words))
    return Plan(kernel, grid, places, read, part, words)


@lru_cache(maxsize=1024)
def _kernel(
    shape: Shape,
    code: tuple[int, ...],
    places: tuple[int, ...],
    leaves: tuple[tuple[int, Shape, Shape | None, int], ...],
) -> tuple[Source, Grid, Extract, tuple[int, ...]]:
    """Return the kernel of values that get new memory: its source, grid, entries and words.

    ``leaves`` are the place, shape, strides and offset of each array of the trace.
    """
    part = extract(code, places)
    known = {at: place for at, *place in leaves}
    rank, by_fours, modes, words = layout(shape, tuple([tuple(known[at]) for at in part.laid_out]))
    kernel = source(part.code, part.results, modes, rank, by_fours)
    return kernel, fold(workgroups(product(shape), rank, modes, words)), part, words
