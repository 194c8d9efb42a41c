"""Reductions of values on a tape, or in memory, each step of them by one generated kernel that also
computes the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from browsergpu.array.device_array import Storage
from browsergpu.array.lazy.fusing import Kernels, compacted, what_is_read
from browsergpu.array.lazy.node import Node, stored
from browsergpu.core.checks import product
from browsergpu.core.element_types import ElementType
from browsergpu.core.grids import fold
from browsergpu.core.shapes import Shape
from browsergpu.kernels import cuts
from browsergpu.kernels.fused.operations import Overload
from browsergpu.kernels.fused.reduction import (
    ALIGNED_ROWS,
    COLUMNS,
    FOUR_COLUMNS,
    ROWS,
    reduction,
)
from browsergpu.kernels.fused.source import THREADS, leaf

Extents = tuple[int, int, int]
Words = tuple[int, ...]


@dataclass(frozen=True)
class Folding:
    """How elements are brought together: the operation on two of them, the words of what there is
    of nothing, and a float's word that the result is multiplied by, if any."""

    op: str
    made: Overload
    nothing: Words
    scale: Words = ()


@dataclass(frozen=True)
class Values:
    """What is reduced: the value at a place of a tape, whose results are of ``shape``, with the
    tape's arrays and numbers by their places."""

    shape: Shape
    code: Sequence[int]
    leaves: Mapping[int, Node]
    words: Mapping[int, Words]
    place: int


def of_node(node: Node) -> Values:
    """A value that is in memory, or still on its tape."""
    window = node.window
    if window is None:
        return Values(node.shape, (leaf(node.kind),), {0: node}, {}, 0)
    return Values(node.shape, window.code, window.leaves, window.words, node.place)


def folded(kernels: Kernels, how: Folding, values: Values, steps: Sequence[Extents]) -> Storage:
    """Memory with the result of [outer, length, inner] -> [outer, inner] for each step: elements of
    the operation's type. Raises OutOfMemory."""
    for number, (outer, length, inner) in enumerate(steps):
        while True:
            part, dealt = _cut(outer, length, inner)
            is_last = part.chunks == 1 and number == len(steps) - 1
            found = _step(kernels, how, values, part, dealt, is_last=is_last)
            values = of_node(stored(how.made.result, (part.outputs,), found))
            if part.chunks == 1:
                break
            length = part.chunks
    return found


def _cut(outer: int, length: int, inner: int) -> tuple[cuts.Cut, str]:
    if inner == 1:
        part = cuts.cut(outer, length, inner, THREADS)
        return part, ROWS if length % 4 else ALIGNED_ROWS  # a chunk is a power of two, or the row
    if inner % 4 == 0:
        return cuts.cut(outer, length, inner, THREADS), FOUR_COLUMNS
    return cuts.cut_lanes(outer, length, inner, THREADS), COLUMNS


def _step(
    kernels: Kernels, how: Folding, values: Values, part: cuts.Cut, dealt: str, *, is_last: bool
) -> Storage:
    places = [values.place]
    kept, read, (rank, by_fours, ways, words) = what_is_read(
        values.shape, values.code, values.leaves, places
    )
    code, _ = compacted(values.code, places, kept)
    scale = how.scale if is_last else ()
    kernel = reduction(code, ways, rank, by_fours, how.made.number, dealt, bool(scale))
    device = kernels.device
    kind: ElementType = how.made.result
    buffer = device.memory.get_buffer(how.op, kind.device_bytes(part.outputs))
    storage = Storage(device, buffer)
    try:
        device.recorder.dispatch(
            kernels.pipeline(kernel),
            *fold(part.workgroups),
            *[node.storage.buffer.id for node in read],
            buffer.id,
            product(values.shape),
            *part.fields,
            *how.nothing,
            *scale,
            *words,
            *_numbers(values, kept),
        )
    except BaseException:
        storage.release()
        raise
    return storage


def _numbers(values: Values, kept: Sequence[int]) -> list[Any]:
    return [word for place in kept for word in values.words.get(place, ())]
