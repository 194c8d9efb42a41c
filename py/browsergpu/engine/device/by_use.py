"""Autotuning during normal calls.

Calls of a size class take turns among the kernel variants that support them. The class then gets
the fastest variant.

Times are compared within one problem, since problems of a class differ in size. The first problem
whose turns are complete decides for its class. A problem is a program's key on a device. The
default variant runs its first call, and every call for which no variant is ready. Kernels compile
in the background, one variant after the other, and GPU times are read without waiting. On a GPU
without timestamps, a turn waits for the GPU before and after it, if Python can block.
"""

from __future__ import annotations

from asyncio import Future, ensure_future
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from math import prod
from time import perf_counter
from typing import Any, Protocol

from browsergpu.engine.core.errors import OutOfMemory, Unsupported
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device import tuned
from browsergpu.engine.device.comparison import SLOWEST, Candidate, Comparison
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.port import Gpu, Pipeline
from browsergpu.engine.gpu.program import Dispatch, Program
from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.choices import Asked, Choices
from browsergpu.engine.kernels.unmeasured import sums_of

#: Maximum bytes of temporaries that a variant may use in addition.
_MOST_BYTES = 2**26
_MOST_COMPARISONS = 1024  # maximum; the oldest is dropped

Key = tuple[Any, ...]


def outputs(variant: Variant, steps: Iterable[tuple[str, Iterable[int]]]) -> float:
    """Return the number of outputs that a variant's workgroups compute.

    It includes outputs beyond the result, which are many for large tiles and small matrices. It is
    0 for a variant without tiles, and for one whose workgroups share sums, since it has few
    workgroups.

    Parameters
    ----------
    variant : Variant
        The variant.
    steps : iterable of tuple
        Kernels and their grids.
    """
    grids = dict(steps)
    if any(kernel.endswith("_sum") for kernel in grids):
        return 0
    return prod(grids.get(variant.kernel, (0,))) * sums_of(variant) * variant.threads


class Device(Protocol):
    """The parts of :class:`~browsergpu.engine.device.device.Device` that autotuning uses."""

    recorder: Gpu
    features: frozenset[str]
    info: dict[str, str]

    @property
    def device_type(self) -> str:
        """ "cpu" for a software adapter, else "gpu"."""

    @property
    def variants(self) -> Choices:
        """The device's variants and picks."""

    def prepared(self, key: Key) -> Program:
        """Return the program of a key."""

    def bound(self, program: Program) -> Any:
        """Return a program prepared for the device, with its steps and its temporaries' sizes."""

    def compiled_ahead(self, name: str, configuration: str) -> Pipeline:
        """Return a kernel that is being compiled in the background."""


class TuningByUse(Shown):
    """The comparisons of one device.

    Methods take the device as an argument, so that this object does not keep it alive.
    """

    def __init__(self) -> None:
        self._comparisons: dict[Key, Comparison] = {}
        self._running: dict[int, tuple[Comparison, Candidate]] = {}
        self._numbers = count()
        self._saving: set[Future[bool]] = set()

    def forget(self) -> None:
        """Forget all comparisons. They can start again."""
        self._comparisons.clear()
        self._running.clear()

    def enter(
        self, device: Device, key: Key, asked: Sequence[Asked], bound: Any
    ) -> Comparison | None:
        """Start a comparison for a program, or return None if all its choices are settled.

        Parameters
        ----------
        device : Device
            The device.
        key : tuple
            Key of the program.
        asked : sequence
            The choices that were made when the program was prepared.
        bound : object
            The program with the default variants, prepared for the device.
        """
        variants = device.variants
        for op, size_class, able in asked:
            if not variants.is_open(op, size_class):
                continue
            able_ones = variants.plausible(op, size_class, able)
            if len(able_ones) < 2:
                continue
            present = variants.choose(op, size_class, able)
            candidates = {v: Candidate(v) for v in (present, able_ones[-1], *able_ones)}
            candidates[present].bound = bound
            candidates[present].pipelines = tuple(s.pipeline for s in bound.steps if s.pipeline)
            comparison = Comparison(
                op, size_class, [*candidates.values()], candidates[able_ones[-1]]
            )
            if comparison.general.bound is not None:
                steps = [(s.pipeline.kernel, s.grid) for s in bound.steps if s.pipeline]
                comparison.outputs = outputs(present, steps)
            if len(self._comparisons) >= _MOST_COMPARISONS:
                del self._comparisons[next(iter(self._comparisons))]
            self._comparisons[key] = comparison
            return comparison
        return None

    def comparison(self, key: Key) -> Comparison | None:
        """Return the comparison of a program, or None."""
        return self._comparisons.get(key)

    def run(
        self, device: Device, op: str, key: Key, comparison: Comparison, run: Callable[[Any], None]
    ) -> None:
        """Run a call, by the variant whose turn it is or else by the fastest so far.

        ``run(bound)`` must record a program that was prepared for the device.
        """
        self._take_times(device)
        comparison.calls += 1
        candidate = self._next(device, key, comparison)
        if candidate is None:
            run(comparison.best.bound)
        else:
            try:
                self._turn(device, op, comparison, candidate, run)
            except OutOfMemory:
                if candidate is comparison.candidates[0]:
                    raise
                candidate.is_out = True
                run(comparison.best.bound)
        if comparison.winner is not None:
            self._settle(device, comparison, comparison.winner)

    def _next(self, device: Device, key: Key, comparison: Comparison) -> Candidate | None:
        """Return the compiled variant with the fewest turns, or None for no turn.

        At most one variant is being compiled at a time.
        """
        gpu = device.recorder
        alone = gpu.captured is None and not gpu.is_profiled and not device.variants.is_forced
        has_clock = "timestamp-query" in device.features or platform.can_block()
        if comparison.calls == 1 or not alone or not has_clock:
            return None
        ready = []
        for candidate in comparison.left:
            if self._is_ready(device, key, comparison, candidate):
                ready.append(candidate)
            elif not candidate.is_out:
                break
        able = [candidate for candidate in ready if candidate.may_run]
        return min(able, key=lambda candidate: candidate.taken, default=None)

    def _is_ready(
        self, device: Device, key: Key, comparison: Comparison, candidate: Candidate
    ) -> bool:
        """Return whether a variant is compiled, and start compiling it if needed.

        A variant that cannot be compiled, or that needs too much memory, is out.
        """
        if candidate.taken:
            return True
        if not candidate.pipelines:
            turn = (comparison.op, comparison.size_class, candidate.variant)
            with device.variants.noting(turn):
                program = device.prepared(key)
            candidate.program = program
            steps = [step for step in program.steps if isinstance(step, Dispatch)]
            made = outputs(candidate.variant, ((step.kernel, step.grid) for step in steps))
            if candidate is comparison.general:
                comparison.outputs = made
            most = sum(comparison.candidates[0].bound.temporaries) + _MOST_BYTES
            if made > SLOWEST * comparison.outputs > 0 or sum(program.temporaries) > most:
                candidate.is_out = True
                return False
            candidate.pipelines = tuple(
                device.compiled_ahead(step.kernel, step.configuration) for step in steps
            )
        states = [device.recorder.is_compiled(pipeline) for pipeline in candidate.pipelines]
        if None in states:
            candidate.is_out = True
        if not all(states):
            return False
        if candidate.bound is None and candidate.program is not None:
            try:
                candidate.bound = device.bound(candidate.program)
            except Unsupported:  # the problem is too large for this variant
                candidate.is_out = True
                return False
        return True

    def _turn(
        self,
        device: Device,
        op: str,
        comparison: Comparison,
        candidate: Candidate,
        run: Callable[[Any], None],
    ) -> None:
        gpu, number = device.recorder, next(self._numbers)
        has_clock = "timestamp-query" in device.features
        if not candidate.taken and (device.device_type == "cpu" or not has_clock):
            candidate.taken += 1  # the clock would include the final compilation
            run(candidate.bound)
            return
        if has_clock:
            gpu.start_span()
            try:
                run(candidate.bound)
            finally:
                gpu.end_span(number)
            self._running[number] = comparison, candidate
            candidate.taken += 1
            candidate.running += 1
            return
        platform.block_on(gpu.catch_up(), op)
        begun = perf_counter()
        run(candidate.bound)
        candidate.taken += 1
        candidate.running += 1
        platform.block_on(gpu.catch_up(), op)
        candidate.note(perf_counter() - begun)
        comparison.sort_out()

    def _take_times(self, device: Device) -> None:
        if not self._running:
            return
        for number, nanoseconds in device.recorder.spans().items():
            comparison, candidate = self._running.pop(number, (None, None))
            if comparison is not None and candidate is not None:
                candidate.note(nanoseconds * 1e-9)
                comparison.sort_out()

    def _settle(self, device: Device, comparison: Comparison, winner: Candidate) -> None:
        """Pick the winner from now on, save it, and drop the class's comparisons."""
        op, size_class = comparison.op, comparison.size_class
        device.variants.settle(op, size_class, winner.variant.name)
        for key, other in list(self._comparisons.items()):
            if (other.op, other.size_class) == (op, size_class):
                del self._comparisons[key]
        saving = tuned.add_picks(device.info, device.variants)
        if platform.IN_PYODIDE:
            task = ensure_future(saving)  # the event loop keeps only a weak reference
            self._saving.add(task)
            task.add_done_callback(self._saving.discard)
        else:
            platform.block_on(saving, "tune_by_use")
