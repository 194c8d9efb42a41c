"""Tuning by use: calls of a size class take turns among the variants that can do them, and the
class gets the one that was quickest.

Times are compared within one problem, as problems of a class differ in size: the first whose turns
are over decides for its class. A problem is a program's key on a device. Its first call is done by
what is picked anyway, and so is every call for which no variant is ready: kernels compile in the
background, one variant after the other, and the GPU's times are taken without waiting for them.
Where the GPU tells no times, a turn waits for the GPU before and after it, if Python can.
"""

from __future__ import annotations

from asyncio import Future, ensure_future
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from math import prod
from time import perf_counter
from typing import Any, Protocol

from browsergpu.core.errors import OutOfMemory, Unsupported
from browsergpu.core.showing import Shown
from browsergpu.device import tuned
from browsergpu.device.contest import SLOWEST, Contest, Entrant
from browsergpu.gpu import platform
from browsergpu.gpu.port import Gpu, Pipeline
from browsergpu.gpu.program import Dispatch, Program
from browsergpu.kernels.base.family import Variant
from browsergpu.kernels.choices import Asked, Choices
from browsergpu.kernels.unmeasured import sums_of

#: Bytes of temporaries that a variant may take in addition.
_MOST_BYTES = 2**26
_MOST_CONTESTS = 1024  # remembered; then the oldest is forgotten

Key = tuple[Any, ...]


def outputs(variant: Variant, steps: Iterable[tuple[str, Iterable[int]]]) -> float:
    """The outputs that a variant's workgroups compute, with those beside the result, which large
    tiles have many of where matrices are small; ``steps`` are kernels and their grids. 0 where it
    has no tile, or where workgroups share sums, which they do where they are few."""
    grids = dict(steps)
    if any(kernel.endswith("_sum") for kernel in grids):
        return 0
    return prod(grids.get(variant.kernel, (0,))) * sums_of(variant) * variant.threads


class Device(Protocol):
    """What is asked of a device; :class:`~browsergpu.device.device.Device` has it."""

    recorder: Gpu
    features: frozenset[str]
    info: dict[str, str]

    @property
    def device_type(self) -> str:
        """ "cpu" for a software fallback, else "gpu"."""

    @property
    def variants(self) -> Choices:
        """Its variants and picks."""

    def prepared(self, key: Key) -> Program:
        """The program of a key."""

    def bound(self, program: Program) -> Any:
        """A program on the device, with its steps and the bytes of its temporaries."""

    def compiled_ahead(self, name: str, configuration: str) -> Pipeline:
        """A kernel, which is compiled in the background."""


class TuningByUse(Shown):
    """The contests of one device, which it is told and does not hold."""

    def __init__(self) -> None:
        self._contests: dict[Key, Contest] = {}
        self._running: dict[int, tuple[Contest, Entrant]] = {}
        self._numbers = count()
        self._saving: set[Future[bool]] = set()

    def forget(self) -> None:
        """Forgets the contests, which may begin anew."""
        self._contests.clear()
        self._running.clear()

    def enter(self, device: Device, key: Key, asked: Sequence[Asked], bound: Any) -> Contest | None:
        """The contest for a program in whose making choices were asked for, and which was bound to
        the device with what is picked anyway; None where all of them are settled."""
        variants = device.variants
        for op, size_class, able in asked:
            if not variants.is_open(op, size_class):
                continue
            able_ones = variants.plausible(op, size_class, able)
            if len(able_ones) < 2:
                continue
            present = variants.choose(op, size_class, able)
            entrants = {v: Entrant(v) for v in (present, able_ones[-1], *able_ones)}
            entrants[present].bound = bound
            entrants[present].pipelines = tuple(s.pipeline for s in bound.steps if s.pipeline)
            contest = Contest(op, size_class, [*entrants.values()], entrants[able_ones[-1]])
            if contest.general.bound is not None:
                steps = [(s.pipeline.kernel, s.grid) for s in bound.steps if s.pipeline]
                contest.outputs = outputs(present, steps)
            if len(self._contests) >= _MOST_CONTESTS:
                del self._contests[next(iter(self._contests))]
            self._contests[key] = contest
            return contest
        return None

    def contest(self, key: Key) -> Contest | None:
        """The contest for a program, if there is one."""
        return self._contests.get(key)

    def run(
        self, device: Device, op: str, key: Key, contest: Contest, run: Callable[[Any], None]
    ) -> None:
        """Does a call: ``run(bound)`` records a program that was bound. It is a turn of a variant,
        or what was the quickest so far does it."""
        self._take_times(device)
        contest.calls += 1
        entrant = self._next(device, key, contest)
        if entrant is None:
            run(contest.best.bound)
        else:
            try:
                self._turn(device, op, contest, entrant, run)
            except OutOfMemory:
                if entrant is contest.entrants[0]:
                    raise
                entrant.is_out = True
                run(contest.best.bound)
        if contest.winner is not None:
            self._settle(device, contest, contest.winner)

    def _next(self, device: Device, key: Key, contest: Contest) -> Entrant | None:
        """Whose turn it is, if there is to be one: of those that are compiled, who had the fewest
        turns. One at most is being compiled."""
        gpu = device.recorder
        alone = gpu.captured is None and not gpu.is_profiled and not device.variants.is_forced
        has_clock = "timestamp-query" in device.features or platform.can_block()
        if contest.calls == 1 or not alone or not has_clock:
            return None
        ready = []
        for entrant in contest.left:
            if self._is_ready(device, key, contest, entrant):
                ready.append(entrant)
            elif not entrant.is_out:
                break
        able = [entrant for entrant in ready if entrant.may_run]
        return min(able, key=lambda entrant: entrant.taken, default=None)

    def _is_ready(self, device: Device, key: Key, contest: Contest, entrant: Entrant) -> bool:
        """Whether a variant is compiled, which begins where it has not. Those that cannot be, or
        that take too much memory, are out."""
        if entrant.taken:
            return True
        if not entrant.pipelines:
            turn = (contest.op, contest.size_class, entrant.variant)
            with device.variants.noting(turn):
                program = device.prepared(key)
            entrant.program = program
            steps = [step for step in program.steps if isinstance(step, Dispatch)]
            made = outputs(entrant.variant, ((step.kernel, step.grid) for step in steps))
            if entrant is contest.general:
                contest.outputs = made
            most = sum(contest.entrants[0].bound.temporaries) + _MOST_BYTES
            if made > SLOWEST * contest.outputs > 0 or sum(program.temporaries) > most:
                entrant.is_out = True
                return False
            entrant.pipelines = tuple(
                device.compiled_ahead(step.kernel, step.configuration) for step in steps
            )
        states = [device.recorder.is_compiled(pipeline) for pipeline in entrant.pipelines]
        if None in states:
            entrant.is_out = True
        if not all(states):
            return False
        if entrant.bound is None and entrant.program is not None:
            try:
                entrant.bound = device.bound(entrant.program)
            except Unsupported:  # this variant cannot count that far
                entrant.is_out = True
                return False
        return True

    def _turn(
        self,
        device: Device,
        op: str,
        contest: Contest,
        entrant: Entrant,
        run: Callable[[Any], None],
    ) -> None:
        gpu, number = device.recorder, next(self._numbers)
        has_clock = "timestamp-query" in device.features
        if not entrant.taken and (device.device_type == "cpu" or not has_clock):
            entrant.taken += 1  # compiles for good, which such a clock would count
            run(entrant.bound)
            return
        if has_clock:
            gpu.start_span()
            try:
                run(entrant.bound)
            finally:
                gpu.end_span(number)
            self._running[number] = contest, entrant
            entrant.taken += 1
            entrant.running += 1
            return
        platform.block_on(gpu.catch_up(), op)
        begun = perf_counter()
        run(entrant.bound)
        entrant.taken += 1
        entrant.running += 1
        platform.block_on(gpu.catch_up(), op)
        entrant.note(perf_counter() - begun)
        contest.sort_out()

    def _take_times(self, device: Device) -> None:
        if not self._running:
            return
        for number, nanoseconds in device.recorder.spans().items():
            contest, entrant = self._running.pop(number, (None, None))
            if contest is not None and entrant is not None:
                entrant.note(nanoseconds * 1e-9)
                contest.sort_out()

    def _settle(self, device: Device, contest: Contest, winner: Entrant) -> None:
        """Picks the winner from now on, and keeps it. The programs of the class are made anew."""
        op, size_class = contest.op, contest.size_class
        device.variants.settle(op, size_class, winner.variant.name)
        for key, other in list(self._contests.items()):
            if (other.op, other.size_class) == (op, size_class):
                del self._contests[key]
        saving = tuned.add_picks(device.info, device.variants)
        if platform.IN_PYODIDE:
            task = ensure_future(saving)  # kept, as the event loop does not
            self._saving.add(task)
            task.add_done_callback(self._saving.discard)
        else:
            platform.block_on(saving, "tune_by_use")
