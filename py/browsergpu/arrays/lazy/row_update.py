"""Updates of several rows of arrays by one formula, a few rows in each kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.fused.layout import Place, layout, workgroups
from browsergpu.engine.kernels.fused.row_update import RowLayout, Rule, row_update
from browsergpu.engine.kernels.fused.source import PLACED, SAME, WHOLE

#: Rows of one kernel. A row has at most ten parameters, and this many rows fit.
MOST_ROWS = 8


class Formula(NamedTuple):
    """An update rule with its shared arrays and numbers.

    Attributes
    ----------
    rule
        The operations on the arrays of a row.
    shared
        The ids of the buffers that all rows read.
    offsets
        The offsets of the elements in the shared buffers.
    words
        The words of the numbers.
    flag
        The ids of the buffers that FLAG results set: one, or none.
    """

    rule: Rule
    shared: tuple[int, ...]
    offsets: tuple[int, ...]
    words: tuple[int, ...]
    flag: tuple[int, ...] = ()


class Row(NamedTuple):
    """One row of an update.

    Attributes
    ----------
    layout
        The layout of the row's arrays.
    words
        The layout parameters.
    groups
        The number of workgroups.
    buffers
        The ids of the buffers.
    """

    layout: RowLayout
    words: tuple[int, ...]
    groups: int
    buffers: list[int]


def laid_out(
    rule: Rule, rows: Sequence[Sequence[Node]], made: Sequence[Sequence[Node]]
) -> list[Row]:
    """Return the rows of an update with their layouts and their NEW results.

    Written operands must be packed from the start of their memory.
    """
    read, found = rule.read, []
    for nodes, new in zip(rows, made, strict=True):
        buffers = [node.storage.buffer.id for node in (*nodes, *new)]
        places = tuple([(nodes[n].shape, nodes[n].strides, nodes[n].offset) for n in read])
        found.append(Row(*_layout_of(rule, nodes[0].shape, places), buffers))
    return found


@lru_cache(maxsize=1024)
def _layout_of(
    rule: Rule, shape: Shape, places: tuple[Place, ...]
) -> tuple[RowLayout, tuple[int, ...], int]:
    rank, by_fours, found, words = layout(shape, places)
    n = product(shape)
    groups = workgroups(n, rank, found, words)
    if not any(mode in PLACED for mode in found):
        rank, by_fours = 1, False  # unused
    rest = iter(found)
    modes = [
        SAME if number >= rule.arity else WHOLE if number in rule.into else next(rest)
        for number in rule.operands
    ]
    return RowLayout("".join(modes), rank, by_fours), (n, *words), groups


def commands(kernels: Kernels, formula: Formula, rows: Sequence[Row]) -> Iterator[tuple[Any, ...]]:
    """Yield the dispatches that update the rows."""
    rule = formula.rule
    room = kernels.most_leaves + 1 - len(formula.shared) - len(formula.flag)
    each = max(1, min(MOST_ROWS, room // rule.bound))
    ordered = sorted(rows, key=lambda row: row.layout)
    for first in range(0, len(ordered), each):
        yield _command(kernels, formula, ordered[first : first + each])


def _command(kernels: Kernels, formula: Formula, rows: Sequence[Row]) -> tuple[Any, ...]:
    buffers, words, groups = [*formula.shared, *formula.flag], [], 0
    for one in rows:
        buffers += one.buffers
        if groups:
            words.append(groups)
        words += one.words
        groups += one.groups
    kernel = row_update(formula.rule, tuple([one.layout for one in rows]))
    return (
        kernels.pipeline(kernel),
        *fold(groups),
        *buffers,
        *words,
        *formula.offsets,
        *formula.words,
    )
