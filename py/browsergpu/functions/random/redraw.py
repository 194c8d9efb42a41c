"""Repeated random draws, for functions that are computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.tensors import philox

#: The position of a stream: its key and its counter.
Place = tuple[int, int]


class Stream(Protocol):
    """The methods and properties of a generator that draws use."""

    place: Place

    @property
    def seeded_at(self) -> int:
        """When the stream was seeded."""
        ...


class _Drawn(Shown):
    """The start of a draw and its blocks. In a graph, the start of the last replay."""

    __slots__ = ("place", "taken")

    def __init__(self, place: Place, taken: int) -> None:
        self.place = place
        self.taken = taken


class Draws(Shown):
    """The draws of a function from one stream.

    Each draw has its own start, since other tasks may draw from the stream in between.
    """

    __slots__ = ("drawn", "stream")

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.drawn: list[_Drawn] = []


class _Again(Shown):
    """A function that is computed again, and repeats its draws from one stream."""

    __slots__ = ("_ahead", "_drawn", "_next", "_seeded_at")

    def __init__(self, draws: Draws) -> None:
        self._drawn = draws.drawn
        self._next = 0
        self._ahead = 0  # blocks after the last earlier draw
        self._seeded_at = draws.stream.seeded_at

    def is_seeded(self, stream: Stream) -> bool:
        """Return whether the stream was seeded in the meantime."""
        return stream.seeded_at != self._seeded_at

    def next(self, taken: int) -> Callable[[], Place]:
        """Return a function for the start of the next draw, now and in each replay."""
        if self._next < len(self._drawn):
            before = self._drawn[self._next]
            self._next += 1
            return lambda: before.place
        last, ahead = self._drawn[-1], self._ahead
        self._ahead += taken
        return lambda: ahead_of(last.place, last.taken + ahead)


#: Draws of each watched function, by the id of the stream.
_WATCHING: ContextVar[tuple[dict[int, Draws], ...]] = ContextVar("watching", default=())
#: Streams whose draws are repeated, by id.

_AGAIN: ContextVar[dict[int, _Again]] = ContextVar("again")


def ahead_of(place: Place, blocks: int) -> Place:
    """Return the place that is this many blocks ahead."""
    key, counter = place
    return key, (counter + blocks) % philox.COUNTERS


@contextmanager
def watched() -> Iterator[dict[int, Draws]]:
    """Collect the draws of this task in the block. The result is complete at its end."""
    found: dict[int, Draws] = {}
    token = _WATCHING.set((*_WATCHING.get(), found))
    try:
        yield found
    finally:
        _WATCHING.reset(token)


@contextmanager
def again(draws: Iterable[Draws]) -> Iterator[None]:
    """Repeat earlier draws in the block, in this task.

    Other tasks and later draws are not affected.
    """
    own = {id(one.stream): _Again(one) for one in draws}
    token = _AGAIN.set(_AGAIN.get({}) | own)
    try:
        yield
    finally:
        _AGAIN.reset(token)


def is_again(stream: Stream) -> bool:
    """Return whether this task repeats the draws of a stream."""
    return id(stream) in _AGAIN.get({})


def draw(
    stream: Stream,
    taken: int,
    *,
    is_captured: bool,
    work: Callable[[Place], object],
    restarts: bool = False,
) -> Callable[[], Place]:
    """Draw blocks, by work that gets their start.

    Parameters
    ----------
    stream : Stream
        The generator.
    taken : int
        Number of blocks.
    is_captured : bool
        Whether a graph records the work.
    work : callable
        Records the work for a start.
    restarts : bool, optional
        Whether the captured block has seeded the stream, so that each replay draws the same
        numbers.

    Returns
    -------
    callable
        Returns the start of the draw in a replay, and advances the stream. For captured draws only.

    Raises
    ------
    InvalidArgument
        If a captured function that is computed again has seeded the stream.
    """
    repeated = _AGAIN.get({}).get(id(stream))
    if repeated is None:
        place = stream.place
        # Other tasks may draw while this one records its work.
        stream.place = after = ahead_of(place, taken)
        then = _from(stream, place, taken) if restarts else _following(stream, taken)
    else:
        if is_captured and repeated.is_seeded(stream):
            expected = "the same for each run of a captured function under checkpoint()"
            raise InvalidArgument("checkpoint", "seed", Description("a new seed"), expected)
        then = repeated.next(taken)
        place = then()
    drawn = _Drawn(place, taken)
    for draws in _WATCHING.get():
        draws.setdefault(id(stream), Draws(stream)).drawn.append(drawn)
    try:
        work(place)
    except BaseException:
        if repeated is None and stream.place == after:
            stream.place = place
        raise

    def noted() -> Place:
        drawn.place = found = then()
        return found

    return noted


def _from(stream: Stream, start: Place, taken: int) -> Callable[[], Place]:
    def place() -> Place:
        stream.place = ahead_of(start, taken)
        return start

    return place


def _following(stream: Stream, taken: int) -> Callable[[], Place]:
    def place() -> Place:
        found = stream.place
        stream.place = ahead_of(found, taken)
        return found

    return place
