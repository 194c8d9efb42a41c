"""Captured graphs: work that is recorded once and replayed."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Any

from browsergpu.arrays.context import current
from browsergpu.arrays.graphs.graph import Graph
from browsergpu.engine.core import blocks
from browsergpu.engine.core.errors import BackendError, InvalidArgument
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.core.turns import TURN


class capture(Shown):
    """Record the work of a block, to replay it with little Python overhead.

    Parameters
    ----------
    device : Device, optional
        The device whose work is captured. The current device by default.

    Raises
    ------
    InvalidArgument
        If ``device`` is not a GPU, or the block is inside another block.

    Notes
    -----
    ``with browsergpu.capture() as graph:`` executes the block and keeps its GPU commands.
    ``graph.replay()`` runs all of them again with a single call.

    Assignments to arrays that exist before the block write to the same memory in each replay.
    Examples are ``x[...] = batch``, ``x += 1`` and an optimizer's step. A replay reads the values
    that were assigned between replays, so inputs are written in place.

    Arrays that the block makes get new values in each replay. ``copy()`` keeps the values. Random
    numbers, optimizer steps and schedules continue as if the block had run again. NumPy arrays that
    the block uploads are constants.

    Reading a value in the block raises Unsupported, so shapes cannot depend on values. No other
    block can begin in it. The work of other threads and tasks is not captured, except for tasks
    that the block creates.
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
                    with suppress(BackendError):  # such as a lost device, beside the first error
                        graph.abandon()
        finally:
            blocks.end(self._block)
