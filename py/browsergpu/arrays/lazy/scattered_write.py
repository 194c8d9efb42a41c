"""Writes of values at computed indices, by the kernel that computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from browsergpu.arrays.lazy.extract import extract
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.region_write import Plan
from browsergpu.arrays.lazy.values import Values
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.fused.layout import Place, layout, workgroups
from browsergpu.engine.kernels.fused.scatter import claim_source, scatter_source
from browsergpu.engine.kernels.fused.source import Source

#: Makes a kernel from a trace, its results, access modes, rank, and whether rows are of fours.
Maker = Callable[[tuple[int, ...], tuple[int, ...], str, int, bool], Source]

#: Random writes are faster in parts that fit the cache, up to a number of passes. 64 MiB at 16 M
#: places on an H200: 563 µs in one part, 342 in two, 269 in four, 294 in eight.
_CACHED = 16 * 2**20
_MOST_PARTS = 8
#: Fewer places are written in one pass.
_MANY = 1 << 20


def scatter(kernels: Kernels, places: Values, given: Sequence[int], target: Node) -> None:
    """Record a kernel that writes values at ``places`` of the memory of ``target``.

    ``given`` are the places in the trace of the values and, optionally, of a condition.
    """
    _record(kernels, places, (places.place, *given), scatter_source, target)


def claim(kernels: Kernels, places: Values, owners: Node) -> None:
    """Record ``owners[places[j]] = max(owners[places[j]], j + 1)``."""
    parts = blocks(owners.storage.buffer.capacity, _CACHED)
    # Each part reads all places, which does not pay for few elements.
    layers = min(parts, _MOST_PARTS) if product(places.shape) >= _MANY else 1
    _record(kernels, places, (places.place,), claim_source, owners, layers)


def _record(
    kernels: Kernels,
    values: Values,
    results: tuple[int, ...],
    make: Maker,
    target: Node,
    layers: int = 1,
) -> None:
    leaves = values.leaves
    part = extract(tuple(values.code), results)
    plan = _planned(make, values.shape, part.code, part.results, part.layout(leaves))
    kernels.device.recorder.dispatch(
        kernels.pipeline(plan.kernel),
        *fold(plan.groups)[:2],
        layers,
        *part.ids(leaves),
        target.storage.buffer.id,
        product(values.shape),
        *plan.words,
        *part.parameters(values.words),
    )


@lru_cache(maxsize=1024)
def _planned(
    make: Maker,
    shape: Shape,
    code: tuple[int, ...],
    results: tuple[int, ...],
    places: tuple[Place, ...],
) -> Plan:
    rank, by_fours, modes, words = layout(shape, places)
    kernel = make(code, results, modes, rank, by_fours)
    return Plan(kernel, workgroups(product(shape), rank, modes, words), words)
