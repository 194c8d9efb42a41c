"""Random numbers that are drawn again, where a function is computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from browsergpu.core.errors import InvalidArgument
from browsergpu.core.showing import Description, Shown
from browsergpu.tensors import philox

#: Where a stream of random numbers is: its key and its counter.
Place = tuple[int, int]


class Stream(Protocol):
    """A generator, as its draws need it."""

    place: Place
    #: How often it was seeded.
    seeds: int


class _Drawn(Shown):
    """A draw: where in its stream it began (in a graph, in the last replay), and its blocks."""

    __slots__ = ("place", "taken")

    def __init__(self, place: Place, taken: int) -> None:
        self.place = place
        self.taken = taken


class Draws(Shown):
    """The draws of a function from one stream. Between two of them other tasks may draw from it, so
    each has its place."""

    __slots__ = ("drawn", "stream")

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.drawn: list[_Drawn] = []


class _Again(Shown):
    """A function that is computed again, and draws from one stream as it has before."""

    __slots__ = ("_ahead", "_drawn", "_next", "_seeds")

    def __init__(self, draws: Draws) -> None:
        self._drawn = draws.drawn
        self._next = 0
        self._ahead = 0  # blocks behind the last draw of before
        self._seeds = draws.stream.seeds

    def is_seeded(self, stream: Stream) -> bool:
        """Whether the stream was seeded since."""
        return stream.seeds != self._seeds

    def next(self, taken: int) -> Callable[[], Place]:
        """What says where the next draw, of so many blocks, begins: now, and in each replay."""
        if self._next < len(self._drawn):
            before = self._drawn[self._next]
            self._next += 1
            return lambda: before.place
        last, ahead = self._drawn[-1], self._ahead
        self._ahead += taken
        return lambda: ahead_of(last.place, last.taken + ahead)


#: The draws of each function that is watched, by the ids of their streams.
_WATCHING: ContextVar[tuple[dict[int, Draws], ...]] = ContextVar("watching", default=())
#: The streams that are drawn from again, by their ids.
_AGAIN: ContextVar[dict[int, _Again]] = ContextVar("again")


def ahead_of(place: Place, blocks: int) -> Place:
    """The place that is so many blocks behind another in its stream."""
    key, counter = place
    return key, (counter + blocks) % philox.COUNTERS


@contextmanager
def watched() -> Iterator[dict[int, Draws]]:
    """Give the draws of this task in the block, which is complete at its end."""
    found: dict[int, Draws] = {}
    token = _WATCHING.set((*_WATCHING.get(), found))
    try:
        yield found
    finally:
        _WATCHING.reset(token)


@contextmanager
def again(draws: Iterable[Draws]) -> Iterator[None]:
    """Draw in the block, in this task, the numbers that were drawn before. To all other tasks, and
    afterwards, it is as if nothing had been drawn."""
    own = {id(one.stream): _Again(one) for one in draws}
    token = _AGAIN.set(_AGAIN.get({}) | own)
    try:
        yield
    finally:
        _AGAIN.reset(token)


def is_again(stream: Stream) -> bool:
    """Whether the numbers of a stream are drawn again, in this task."""
    return id(stream) in _AGAIN.get({})


def draw(
    stream: Stream, taken: int, *, is_captured: bool, work: Callable[[Place], object]
) -> Callable[[], Place]:
    """Do the work that draws so many blocks, for the place where they begin.

    Returns
    -------
    callable
        Says where the draw begins in a replay, and goes on in the stream. For captured draws alone.

    Raises
    ------
    InvalidArgument
        Where a captured function that is computed again has seeded the stream.
    """
    repeated = _AGAIN.get({}).get(id(stream))
    if repeated is None:
        place = stream.place
        # Other tasks may draw while this one records its work.
        stream.place = after = ahead_of(place, taken)
        then = _following(stream, taken)
    else:
        if is_captured and repeated.is_seeded(stream):
            expected = "the same in a checkpoint's function that is captured"
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


def _following(stream: Stream, taken: int) -> Callable[[], Place]:
    def place() -> Place:
        found = stream.place
        stream.place = ahead_of(found, taken)
        return found

    return place
