"""Access to the graph that is being captured, for functions with state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from browsergpu.arrays.graphs.graph import Graph
from browsergpu.arrays.value import Value

V = TypeVar("V", bound=Value)


def block_of(x: Value) -> Graph | None:
    """Return the graph whose block the current task is in, on the device of an array."""
    graphs = x.tracer.device.graphs
    return None if graphs is None else graphs.open


def each_time(x: Value, key: Hashable, value: Callable[[], float]) -> Any:
    """Return a number that Python computes.

    In a block this is an array without axes, recomputed before each replay. There is one array for
    each ``key``.
    """
    graph = block_of(x)
    return value() if graph is None else graph.number(key, value, x)


def repeated(x: Value, action: Callable[[], None]) -> None:
    """Call ``action``, in a block also before each replay."""
    graph = block_of(x)
    if graph is None:
        action()
    else:
        graph.repeated(action)


def checked(x: Value, check: Callable[[], None]) -> None:
    """In a block, call ``check`` before each replay. It raises if the replay would be wrong."""
    graph = block_of(x)
    if graph is not None:
        graph.checked(check)


@contextmanager
def outside(x: Value) -> Iterator[None]:
    """Run the body once. In a block, leave it out of the graph."""
    graph = block_of(x)
    if graph is None:
        yield
    else:
        with graph.outside():
            yield
