"""Copies of several arrays into regions of one array, a few arrays in each kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.grids import fold
from browsergpu.engine.kernels.fused.joint_copy import Piece, joint_copy
from browsergpu.engine.kernels.fused.layout import Place, layout, workgroups
from browsergpu.engine.kernels.fused.operations import cast
from browsergpu.engine.kernels.fused.source import leaf, operation

#: Limits of one kernel: arrays, and words of parameters in a uniform buffer.
_MOST_PIECES = 8
_MOST_WORDS = 240


class _Row(NamedTuple):
    """An array to copy.

    Attributes
    ----------
    piece
        The access modes and the cast.
    words
        The layout parameters.
    groups
        The number of workgroups.
    buffer
        The id of the array's buffer.
    """

    piece: Piece
    words: tuple[int, ...]
    groups: int
    buffer: int


def commands(
    kernels: Kernels, parts: Sequence[tuple[Node, Place]], target: Node
) -> Iterator[tuple[Any, ...]]:
    """Yield the dispatches that copy arrays to their places in the memory of ``target``.

    The arrays must be in memory, have elements, and not share the memory of ``target``. The kernels
    cast them to the type of ``target``.
    """
    rows = []
    for node, into in parts:
        place = node.shape, node.strides, node.offset
        rows.append(_Row(*_layout_of(node.kind, target.kind, into, place), node.storage.buffer.id))
    rows.sort(key=lambda row: (row.piece.in_fours, row.piece))  # equal pieces share a kernel
    most = min(_MOST_PIECES, kernels.most_leaves)
    own: list[_Row] = []
    for row in rows:
        words = sum(len(one.words) + 1 for one in own) + len(row.words)
        if own and (
            len(own) == most
            or words > _MOST_WORDS
            or own[0].piece.in_fours is not row.piece.in_fours
        ):
            yield _command(kernels, own, target)
            own = []
        own.append(row)
    if own:
        yield _command(kernels, own, target)


@lru_cache(maxsize=1024)
def _layout_of(
    kind: ElementType, target: ElementType, into: Place, place: Place
) -> tuple[Piece, tuple[int, ...], int]:
    shape = into[0]
    rank, by_fours, modes, words = layout(shape, (into, place), written=True)
    casts = () if kind is target else (operation(cast(kind, target).number, 0),)
    n = product(shape)
    piece = Piece((leaf(kind), *casts), modes[0], modes[1], rank, by_fours)
    return piece, (n, *words), workgroups(n, rank, modes, words)


def _command(kernels: Kernels, rows: Sequence[_Row], target: Node) -> tuple[Any, ...]:
    words: list[int] = []
    groups = 0
    for row in rows:
        if groups:
            words.append(groups)
        words += row.words
        groups += row.groups
    kernel = joint_copy(tuple([row.piece for row in rows]))
    return (
        kernels.pipeline(kernel),
        *fold(groups),
        *[row.buffer for row in rows],
        target.storage.buffer.id,
        *words,
    )
