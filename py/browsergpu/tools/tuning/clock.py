"""Timing work on the GPU, and comparing several ways of doing the same work."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial
from time import perf_counter
from typing import TypeVar

from browsergpu.core.showing import Shown
from browsergpu.gpu.port import Gpu

# The browser rounds timestamps to 100 µs, so what is measured has to last.
_WORTH_MEASURING = 0.005  # seconds
_MOST_REPEATS = 128
_ROUNDS = 3

T = TypeVar("T")


class Clock(Shown):
    """Seconds that recorded work takes: on the GPU's clock, or else on the wall's."""

    def __init__(self, recorder: Gpu, features: Set[str]) -> None:
        self._recorder = recorder
        self.name = "timestamp-query" if "timestamp-query" in features else "wall"

    async def time(self, work: Callable[[], None]) -> float:
        """Seconds from the start of the first dispatch that ``work`` records to the last's end."""
        await self._recorder.synchronize()
        if self._recorder.start_timing():
            work()
            return await self._recorder.stop_timing() * 1e-9
        start = perf_counter()
        work()
        await self._recorder.synchronize()
        return perf_counter() - start


async def quickest_times(
    clock: Clock, ways: Sequence[T], work: Callable[[T, int], None]
) -> dict[T, float]:
    """Seconds of doing the work once in each way: the best of some rounds, which go over all the
    ways in turn so that a busy moment does not hit one of them alone.

    ``work(way, repeats)`` records the work so many times.
    """
    best = dict.fromkeys(ways, float("inf"))
    repeats = dict.fromkeys(ways, 1)
    for attempt in range(1 + _ROUNDS):  # the first, which compiles, does not count
        for way in ways:
            seconds = await clock.time(partial(work, way, repeats[way]))
            while seconds < _WORTH_MEASURING and repeats[way] < _MOST_REPEATS:
                repeats[way] *= 2
                seconds = await clock.time(partial(work, way, repeats[way]))
            if attempt > 0 and seconds > 0:
                best[way] = min(best[way], seconds / repeats[way])
    return best
