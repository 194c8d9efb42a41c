"""Copies of arrays with a region replaced, by the kernel that computes the new elements.

They serve values that depend on the array itself, which must not change before that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from browsergpu.arrays.lazy.extract import Extract, extract
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.values import Values
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.shapes import Shape, broadcast_strides, contiguous_strides, merged
from browsergpu.engine.kernels.fused.layout import WORD, access_mode, check_count, workgroups
from browsergpu.engine.kernels.fused.rebuild import rebuild
from browsergpu.engine.kernels.fused.source import MOVED, SAME, Source, is_elementwise, leaf

#: The first index and the count along each axis.
Frame = tuple[tuple[int, int], ...]

_APART = -(1 << 40)  # no real stride


class Plan(NamedTuple):
    """One kernel: its workgroups and layout parameters."""

    kernel: Source
    groups: int
    words: tuple[int, ...]


def part_of(values: Values) -> Extract | None:
    """Return the entries that an elementwise value depends on, or None for other values.

    The elements of other values depend on their index in the region.
    """
    part = extract(tuple(values.code), (values.place,))
    return part if all(is_elementwise(entry) for entry in part.code) else None


def command(
    kernels: Kernels, values: Values, part: Extract, whole: Node, frame: Frame, into: Node
) -> tuple[Any, ...]:
    """Return the dispatch that copies a packed array to ``into`` with a region replaced."""
    leaves = [values.leaves[at] for at in part.arrays]
    plan = _planned(
        whole.shape,
        (*part.code, leaf(whole.kind)),
        tuple([_spread(one, values.shape, frame) for one in leaves]),
        whole.offset,
        frame,
    )
    return (
        kernels.pipeline(plan.kernel),
        *fold(plan.groups),
        *[one.storage.buffer.id for one in (*leaves, whole)],
        into.storage.buffer.id,
        product(whole.shape),
        *plan.words,
        *part.parameters(values.words),
    )


def _spread(node: Node, shape: Shape, frame: Frame) -> tuple[Shape, int]:
    """Return the strides of an array read for a region, and its offset for the whole."""
    steps = broadcast_strides(node.shape, shape, node.strides)
    before = sum(low * step for (low, _), step in zip(frame, steps, strict=True))
    return steps, node.offset - before


@lru_cache(maxsize=1024)
def _planned(
    shape: Shape,
    code: tuple[int, ...],
    places: Sequence[tuple[Shape, int]],
    offset: int,
    frame: Frame,
) -> Plan:
    """Plan the kernel. The last two entries of ``code`` are the value and the packed array."""
    check_count(product(shape))
    # Give partly replaced axes strides that keep merged() from merging them.
    apart = [
        step if count == extent else _APART - axis
        for axis, (step, extent, (_, count)) in enumerate(
            zip(contiguous_strides(shape), shape, frame, strict=True)
        )
    ]
    own = contiguous_strides(shape)
    extents, *strided, kept = merged(shape, *(steps for steps, _ in places), own, tuple(apart))
    packed = contiguous_strides(extents)
    modes, words = "", []
    for steps, at in zip(strided, (*(at for _, at in places), offset), strict=True):
        mode = access_mode(steps, at, packed, extents)
        modes += mode
        # Offsets before an array wrap around. The kernel does not use these elements.
        words.append((at // 4 if mode == MOVED else at) & WORD)
        if mode not in (MOVED, SAME):
            words += [step & WORD for step in steps]
    bounded = tuple(axis for axis, step in enumerate(kept) if step <= _APART)
    bounds = [word for axis in bounded for word in frame[_APART - kept[axis]]]
    all_words = (*extents[1:], *bounds, *words)
    kernel = rebuild(code, modes, len(extents), extents[-1] % 4 == 0, bounded)
    return Plan(kernel, workgroups(product(shape), len(extents), modes, all_words), all_words)
