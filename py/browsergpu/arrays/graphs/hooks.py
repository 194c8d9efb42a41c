"""What functions ask of the block that is being captured, if one is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from browsergpu.arrays.graphs.graph import Graph
from browsergpu.arrays.value import Value

V = TypeVar("V", bound=Value)


def block_of(x: Value) -> Graph | None:
    """The graph in whose block Python is, of an array's device."""
    graphs = x.tracer.device.graphs
    return None if graphs is None else graphs.open


def each_time(x: Value, key: Hashable, value: Callable[[], float]) -> Any:
    """A number that Python computes: in a block an array without axes, whose value is computed
    again before each replay, one for each ``key``."""
    graph = block_of(x)
    return value() if graph is None else graph.number(key, value, x)


def repeated(x: Value, action: Callable[[], None]) -> None:
    """Does something, in a block also before each replay."""
    graph = block_of(x)
    if graph is None:
        action()
    else:
        graph.repeated(action)


def checked(x: Value, check: Callable[[], None]) -> None:
    """In a block: has a function called before each replay, which raises where the replay would not
    do what the block would."""
    graph = block_of(x)
    if graph is not None:
        graph.checked(check)


@contextmanager
def outside(x: Value) -> Iterator[None]:
    """In a block, what is done once and by no replay."""
    graph = block_of(x)
    if graph is None:
        yield
    else:
        with graph.outside():
            yield
