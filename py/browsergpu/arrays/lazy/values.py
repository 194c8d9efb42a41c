"""The input of a kernel: a value in a trace, a value in memory, or a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from browsergpu.arrays.lazy.node import Node
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.fused.source import leaf, number

Words = tuple[int, ...]


@dataclass(frozen=True)
class Values:
    """A value at a ``place`` of a trace, with the arrays and numbers of the trace."""

    shape: Shape
    code: Sequence[int]
    leaves: Mapping[int, Node]
    words: Mapping[int, Words]
    place: int


def of_node(node: Node) -> Values:
    """Return the input for a node, whether it is computed or not."""
    trace = node.trace
    if trace is None:
        return Values(node.shape, (leaf(node.kind),), {0: node}, {}, 0)
    if trace.is_optimized:
        trace.settle(node.place)
        if node.trace is None:  # the kernel of a product has computed it
            return of_node(node)
    return Values(node.shape, trace.code, trace.leaves, trace.words, node.place)


def beside(values: Values, kind: ElementType, words: Words) -> tuple[Values, int]:
    """Append a number to the trace of a value, and return its place."""
    at = len(values.code)
    code = (*values.code, number(kind))
    return Values(values.shape, code, values.leaves, {**values.words, at: words}, values.place), at


def of_number(shape: Shape, kind: ElementType, words: Words) -> Values:
    """Return the input for a constant of any shape."""
    return Values(shape, (number(kind),), {}, {0: words}, 0)
