"""GPU timing, and comparison of several ways to do the same work."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial
from time import perf_counter
from typing import TypeVar

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.port import Gpu

# Browsers round timestamps to 100 µs, so a measurement must be much longer.
_WORTH_MEASURING = 0.005  # seconds
_MOST_REPEATS = 128
_ROUNDS = 3

T = TypeVar("T")


class Clock(Shown):
    """Timer of recorded work on the GPU's clock, or on the wall clock."""

    def __init__(self, recorder: Gpu, features: Set[str]) -> None:
        self._recorder = recorder
        self.name = "timestamp-query" if "timestamp-query" in features else "wall"

    async def time(self, work: Callable[[], None]) -> float:
        """Return the seconds from the start of the first dispatch to the end of the last one."""
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
    """Return the best seconds of each way over several rounds.

    Each round measures all ways in turn, so that a busy moment does not affect only one.
    ``work(way, repeats)`` records the work ``repeats`` times.
    """
    best = dict.fromkeys(ways, float("inf"))
    repeats = dict.fromkeys(ways, 1)
    for attempt in range(1 + _ROUNDS):  # the first round compiles and does not count
        for way in ways:
            seconds = await clock.time(partial(work, way, repeats[way]))
            while seconds < _WORTH_MEASURING and repeats[way] < _MOST_REPEATS:
                repeats[way] *= 2
                seconds = await clock.time(partial(work, way, repeats[way]))
            if attempt > 0 and seconds > 0:
                best[way] = min(best[way], seconds / repeats[way])
    return best
