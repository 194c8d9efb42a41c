"""Random numbers that are drawn again, where a function is computed twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

from browsergpu.core import philox
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.showing import Description, Shown

#: Where a stream of random numbers is: its key and its counter.
Place = tuple[int, int]


class Stream(Protocol):
    """A generator, as its draws need it."""

    place: Place
    #: From where it draws numbers again; None where it draws new ones.
    redrawn: Start | None
    #: How often it was seeded.
    seeds: int


class Start(Shown):
    """Where a stream was when a function first drew from it: in a graph, in the last replay."""

    __slots__ = ("place", "seeds", "stream")

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.place = stream.place
        self.seeds = stream.seeds


class _State(threading.local):
    #: The streams that each function which is watched has drawn from, by their ids.
    watching: tuple[dict[int, Start], ...] = ()


_STATE = _State()


@contextmanager
def watched() -> Iterator[dict[int, Start]]:
    """Give the streams that are drawn from in the block, and where they were before."""
    before = _STATE.watching
    found: dict[int, Start] = {}
    _STATE.watching = (*before, found)
    try:
        yield found
    finally:
        _STATE.watching = before


@contextmanager
def again(starts: Iterable[Start]) -> Iterator[None]:
    """Draw in the block the numbers that were drawn from these starts on. Streams go on afterwards
    as if nothing had been drawn."""
    with ExitStack() as stack:
        for start in starts:
            stack.enter_context(_from(start))
        yield


@contextmanager
def _from(start: Start) -> Iterator[None]:
    stream = start.stream
    before = stream.place, stream.redrawn
    stream.place, stream.redrawn = start.place, start
    start.seeds = stream.seeds
    try:
        yield
    finally:
        stream.place, stream.redrawn = before


def begun(stream: Stream) -> list[Start]:
    """The starts of functions that draw from a stream for the first time, now."""
    found = []
    for starts in _STATE.watching:
        if id(stream) not in starts:
            starts[id(stream)] = start = Start(stream)
            found.append(start)
    return found


def in_replays(stream: Stream, taken: int, starts: list[Start]) -> Callable[[], Place]:
    """Where a draw of so many blocks, which is about to be done, begins in each replay. Raises
    InvalidArgument where the stream was seeded since it is drawn from again."""
    redrawn = stream.redrawn
    if redrawn is None:

        def place() -> Place:
            key, counter = found = stream.place
            stream.place = key, (counter + taken) % philox.COUNTERS
            return found

    else:
        first = redrawn
        if stream.seeds != first.seeds:
            expected = "the same in a checkpoint's function that is captured"
            raise InvalidArgument("checkpoint", "seed", Description("a new seed"), expected)
        ahead = stream.place[1] - first.place[1]

        def place() -> Place:
            key, counter = first.place
            return key, (counter + ahead) % philox.COUNTERS

    def noted() -> Place:
        found = place()
        for start in starts:
            start.place = found
        return found

    return noted
