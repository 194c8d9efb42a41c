"""Writes of values into a region of an array, by the kernel that computes them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from browsergpu.arrays.lazy.extract import extract
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.values import Values
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.fused.assignment import assignment
from browsergpu.engine.kernels.fused.layout import Place, layout, workgroups
from browsergpu.engine.kernels.fused.source import OWN, Source
from browsergpu.engine.kernels.fused.storage import WORD
from browsergpu.engine.tensors.device_array import Storage


class Plan(NamedTuple):
    """One kernel: its workgroups and layout parameters."""

    kernel: Source
    groups: int
    words: tuple[int, ...]


def is_part(node: Node, storage: Storage, part: Place) -> bool:
    """Return whether an array is exactly the region that is written.

    A kernel can read and write the same region, since each element belongs to one thread.
    """
    return (
        node.storage is storage
        and (node.shape, node.strides, node.offset) == part
        and node.kind.bits >= WORD
    )


def command(
    kernels: Kernels, values: Values, target: Node, twin: Node | None = None
) -> tuple[Any, ...]:
    """Return the dispatch that writes values into ``target``, and into ``twin`` too if given.

    ``target`` is a region of an array in memory, with the values' shape and type. The values may
    depend on other memory and on this region, not on other parts of the array.
    """
    part = extract(tuple(values.code), (values.place,))
    leaves = values.leaves
    into = target.shape, target.strides, target.offset
    own = [at for at in part.laid_out if is_part(leaves[at], target.storage, into)]
    places = zip(part.laid_out, part.layout(leaves), strict=True)
    read = tuple([None if at in own else place for at, place in places])
    plan = _planned(values.shape, part.code, into, read, twin is not None)
    return (
        kernels.pipeline(plan.kernel),
        *fold(plan.groups),
        *[leaves[at].storage.buffer.id for at in part.arrays if at not in own],
        target.storage.buffer.id,
        *(() if twin is None else (twin.storage.buffer.id,)),
        product(values.shape),
        *plan.words,
        *part.parameters(values.words),
    )


@lru_cache(maxsize=1024)
def _planned(
    shape: Shape,
    code: tuple[int, ...],
    into: Place,
    places: tuple[Place | None, ...],
    twice: bool,
) -> Plan:
    """Plan the kernel that writes the last value of a trace to ``into``.

    A place of None is the written region itself.
    """
    others = tuple(place for place in places if place is not None)
    rank, by_fours, found, words = layout(shape, (into, *others), written=True)
    rest = iter(found[1:])
    modes = "".join(OWN if place is None else next(rest) for place in places)
    kernel = assignment(code, modes, rank, by_fours, found[0], twice)
    return Plan(kernel, workgroups(product(shape), rank, modes, words), words)
