"""Work that is done again and again, recorded once."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from browsergpu.arrays.context import current
from browsergpu.arrays.graphs.graph import Graph
from browsergpu.core import blocks
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.showing import Description, Shown
from browsergpu.core.turns import TURN


class capture(Shown):
    """``with browsergpu.capture() as graph:`` does what is in the block, and keeps its commands:
    ``graph.replay()`` does all of them again by one call, without Python's part in it.

    What is assigned to arrays that were there before the block (``x[...] = batch``, ``x += 1``, an
    optimiser's step) is assigned to the same memory by each replay, and what is assigned to them
    between replays is what the next one reads: so inputs are written in place. Arrays that were
    made in the block have new values after each replay; ``copy()`` keeps one of them. Random
    numbers, an optimiser's steps and its schedule go on as if the block had run again. NumPy arrays
    that are uploaded in the block are constants.

    In the block nothing can be read (Unsupported), so no shape can depend on values, and no other
    block can begin. Work of other threads is not captured, nor that of other tasks, but for tasks
    that are created in the block.

    ``device`` is that whose work is captured, by default the one on which new arrays are made.
    """

    def __init__(self, *, device: Any = None) -> None:
        self._device = device
        self._graph: Graph | None = None

    def __enter__(self) -> Graph:
        tracer = current(self._device)
        if not tracer.device.has_values:
            raise InvalidArgument("capture", "device", tracer.device.name, "a GPU")
        if blocks.here() is not None:
            raise InvalidArgument(
                "capture", "block", Description("a block within another"), "outside of other blocks"
            )
        self._block = blocks.begin()
        try:
            graph = self._graph = Graph(tracer)
            with TURN:
                graph.start()
        except BaseException:
            blocks.end(self._block)
            raise
        return graph

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        graph, self._graph = self._graph, None
        assert graph is not None
        try:
            with TURN:
                if kind is None:
                    graph.end()
                else:
                    graph.drop()
        finally:
            blocks.end(self._block)
