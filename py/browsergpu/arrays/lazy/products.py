"""Matrix products and convolutions that a captured block records and dispatches when needed.

The elementwise operations on the result are not known before. Their kernel is saved if the kernel
of the product computes them: ``settling.py`` looks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import ref

from browsergpu.arrays.lazy.node import Node
from browsergpu.engine.core import blocks
from browsergpu.engine.core.places import announced, running
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.fused.source import needed
from browsergpu.engine.tensors.device_array import Storage


@dataclass(frozen=True, slots=True)
class Epilogue:
    """What the kernel of a product computes beside the product.

    The result is last(activation(factor · scale · product + bias) + residual).

    Attributes
    ----------
    factor
        A number.
    scale, bias
        Values in memory with one element for each column or channel.
    activation, last
        Two of ``ACTIVATIONS`` of the matrix products.
    residual
        A value in memory of the result's shape.
    """

    factor: float = 1.0
    scale: Node | None = None
    bias: Node | None = None
    activation: str | None = None
    residual: Node | None = None
    last: str | None = None


Launch = Callable[[Storage, Epilogue], None]


@dataclass(slots=True)
class Totals:
    """Sums of the channels of a result, which the kernel can write beside it.

    Attributes
    ----------
    count
        The number of sums of each channel. They add up to the sum of the channel.
    into
        Packed memory for them, or None if they are not wanted.
    beside
        The id of the buffer with the summed values, once they are written.
    """

    count: int
    into: Node | None = None
    beside: int | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """How to dispatch a product.

    Attributes
    ----------
    op
        The name of the function.
    launch
        Dispatches the kernel into some memory, with an epilogue.
    axis
        The axis of the columns or channels, or None if there are none.
    parts
        The fields of Epilogue that the kernel supports, "late residual" for a residual after an
        activation, and "casts" if a float16 product computes its epilogue in float32.
    totals
        The sums of channels that the kernel can write, or None.
    """

    op: str
    launch: Launch
    axis: int | None
    parts: frozenset[str]
    totals: Totals | None = None


def totals_of(node: Node) -> Totals | None:
    """Return the sums of channels that the only product of an uncomputed value can write, or None.

    The kernel sums the values of the node if its epilogue computes all operations after the
    product. ``beside`` tells.
    """
    trace = node.trace
    if trace is None or not trace.is_optimized:
        return None
    if isinstance(trace, Product):
        return trace.kernel.totals
    leaves = [trace.leaves[at] for at in needed(trace.code, [node.place]) if at in trace.leaves]
    products = [one.trace for one in leaves if isinstance(one.trace, Product)]
    return products[0].kernel.totals if len(products) == 1 else None


class Product(Shown):
    """The trace of a product that has been recorded and not dispatched.

    Its node has memory from the start, without contents. A write to an operand's memory dispatches
    the product first, as it evaluates traces.
    """

    __slots__ = ("__weakref__", "_lines", "_node", "block", "graph", "kernel", "key", "leaves")

    # No operation fits in this trace.
    code: ClassVar[tuple[int, ...]] = ()
    free_below: ClassVar[int] = -1
    is_optimized: ClassVar[bool] = True

    def __init__(
        self, graph: Any, node: Node, kernel: Kernel, operands: Mapping[int, Node], key: Hashable
    ) -> None:
        self.graph = graph
        self.block = graph.block
        self.kernel = kernel
        self.leaves = operands
        self.key = key
        self._lines = running()
        self._node = ref(node)

    def _facts(self) -> str:
        return f"of {self.kernel.op}"

    @property
    def is_here(self) -> bool:
        """Whether operations that are recorded now may be computed with the product."""
        return self.block is blocks.here()

    @property
    def node(self) -> Node | None:
        """The result, or None if nothing reads it any more."""
        return self._node()

    @property
    def is_read(self) -> bool:
        """Whether an array holds the result."""
        node = self._node()
        return node is not None and node.is_held

    def reduces(self, place: int) -> bool:
        """Return False: no reduction can compute the value."""
        return False

    def reads(self, storage: Storage) -> bool:
        """Return whether the product depends on ``storage``."""
        return any(node.storage is storage for node in self.leaves.values())

    def settle(self, *places: int) -> None:
        """Dispatch the product alone."""
        self.evaluate()

    def evaluate(self) -> None:
        """Dispatch the product alone. Raises OutOfMemory if there is none for temporaries."""
        node = self._node()
        if node is not None and node.trace is self:
            self.compute(node, node, Epilogue(), ())

    def compute(
        self, node: Node, result: Node, epilogue: Epilogue, merged: tuple[str, ...]
    ) -> None:
        """Dispatch the product of ``node`` with an epilogue, whose value is ``result``.

        ``merged`` names the operations of the epilogue.
        """
        within = nullcontext() if self.is_here else blocks.within(self.block)
        with within, announced(self._lines):
            self.kernel.launch(node.storage, epilogue)
        self.graph.products.pop(self.key, None)
        if merged:
            self.graph.merged.append(f"{self.kernel.op} with {', '.join(merged)}")
        if result is not node:
            storage = node.storage
            result.put(storage)
            storage.left_by(node)
        result.trace = None
