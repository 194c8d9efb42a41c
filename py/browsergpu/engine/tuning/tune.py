"""Measurement of the fastest variant of each operation on the user's device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.device import tuned
from browsergpu.engine.device.device import Device, open_devices
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.kernels.base.family import Problem
from browsergpu.engine.kernels.base.workgroup_sizes import WorkgroupSizes
from browsergpu.engine.kernels.choices import Picks
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.tuning import problems
from browsergpu.engine.tuning.clock import Clock, quickest_times
from browsergpu.engine.tuning.progress import Progress, show_progress
from browsergpu.engine.tuning.workgroups import (
    benchmark_workgroup_sizes_async,
    forget_workgroup_sizes_async,
)


@dataclass(frozen=True)
class Tuning:
    """The result of :func:`tune`. ``print`` shows it as a table.

    Attributes
    ----------
    picks : dict
        The fastest variant: operation → size class → variant.
    seconds : dict
        The best time of each measured variant: operation → size class → variant → seconds.
    workgroup_sizes : WorkgroupSizes
        The device's workgroup sizes.
    clock : str
        "timestamp-query" for the GPU's clock, "wall" for wall time around a wait.
    stored : bool
        Whether the browser stored the result.
    """

    picks: Picks
    seconds: dict[str, dict[str, dict[str, float]]]
    workgroup_sizes: WorkgroupSizes
    clock: str
    stored: bool

    def __str__(self) -> str:
        sizes = self.workgroup_sizes
        lines = [f"threads: elementwise {sizes.elementwise}, reductions {sizes.reduction}"]
        for op, of_op in self.seconds.items():
            for size_class, times in of_op.items():
                picked = self.picks[op][size_class]
                ranked = sorted(times, key=times.__getitem__)
                shown = ", ".join(f"{name} {_shown(times[name])}" for name in ranked)
                lines.append(f"{op} {size_class}: {picked} ({shown})")
        return "\n".join(lines)


def tune(
    device: Any = None,
    operations: Sequence[str] | None = None,
    progress: Progress | None = show_progress,
) -> Tuning:
    """Measure all variants of the operations on this GPU and use the fastest from now on.

    It takes some seconds on a GPU, and minutes on a software renderer. The browser stores the
    result for this site and GPU. Devices opened later, in the page or its workers, start with it.
    Blocks until done.

    Parameters
    ----------
    device : Device, backend or executor, optional
        Defaults to the only open device.
    operations : sequence of str, optional
        Operations with variants ("gemm", "conv2d" and so on). Defaults to all of them, and then
        workgroup sizes are measured too.
    progress : callable, optional
        Called as ``progress(done, total, what)``, where ``what`` is the next step. By default, a
        line of standard error shows the progress. None shows nothing.

    Returns
    -------
    Tuning
        The fastest variants and all times.

    Raises
    ------
    InvalidArgument
        If ``device`` is not open or ambiguous, or an operation is unknown.
    """
    return platform.block_on(tune_async(device, operations, progress), "tune")


async def tune_async(
    device: Any = None,
    operations: Sequence[str] | None = None,
    progress: Progress | None = show_progress,
) -> Tuning:
    """Measure like :func:`tune`, without blocking."""
    target = _device("tune", device)
    chosen = _chosen(target, operations)
    clock = Clock(target.recorder, target.features)
    seconds: dict[str, dict[str, dict[str, float]]] = {}
    tell = progress or _to_nobody
    steps = [f"{problem.op} {problem.size_class}" for problem in chosen]
    if operations is None:
        steps.append("sizes of workgroups")
    for done, problem in enumerate(chosen):
        tell(done, len(steps), steps[done])
        times = await _times(target, clock, problem)
        if times:
            seconds.setdefault(problem.op, {})[problem.size_class] = times
    picked = target.variants.tuned
    picks: Picks = {}
    for op, of_op in seconds.items():
        picks[op] = {c: min(times, key=times.__getitem__) for c, times in of_op.items()}
        picked.setdefault(op, {}).update(picks[op])
    sizes = target.workgroup_sizes
    if operations is None:
        tell(len(chosen), len(steps), steps[-1])
        sizes = (await benchmark_workgroup_sizes_async(target)).sizes
    target.variants.tuned = picked
    stored = await tuned.save_picks(target.info, target.variants.tuned)
    if steps:
        tell(len(steps), len(steps), "done")
    return Tuning(picks, seconds, sizes, clock.name, stored)


def _to_nobody(_done: int, _total: int, _what: str) -> None:
    """Ignore the progress."""


def forget_tuning(device: Any = None) -> None:
    """Delete the stored results of :func:`tune` for the device's GPU. Blocks until done.

    The device uses its tuned defaults again.
    """
    platform.block_on(forget_tuning_async(device), "forget_tuning")


async def forget_tuning_async(device: Any = None) -> None:
    """Delete results like :func:`forget_tuning`, without blocking."""
    target = _device("forget_tuning", device)
    target.variants.tuned = {}
    await tuned.save_picks(target.info, None)
    await forget_workgroup_sizes_async(target)


def _device(op: str, given: Any) -> Device:
    if given is None:
        found = open_devices()
        if len(found) != 1:
            raise InvalidArgument(op, "device", None, f"one of the {len(found)} open devices")
        return found[0]
    device = given if isinstance(given, Device) else getattr(given, "device", None)
    if not isinstance(device, Device):
        raise InvalidArgument(
            op, "device", given, "a Device, or a backend or executor that is open"
        )
    return device


def _chosen(device: Device, operations: Any) -> list[Problem]:
    """Return the problems of the given operations that fit into the device's buffers."""
    known = list(dict.fromkeys(problem.op for problem in problems.PROBLEMS))
    if operations is not None:
        expected = f"names among {', '.join(known)}"
        if isinstance(operations, str) or not isinstance(operations, Sequence):
            raise InvalidArgument("tune", "operations", operations, expected)
        for name in operations:
            if name not in known:
                raise InvalidArgument("tune", "operations", operations, expected)
    return [
        problem
        for problem in problems.PROBLEMS
        if (operations is None or problem.op in operations)
        and 4 * max(problem.elements) <= device.largest_buffer
    ]


async def _times(device: Device, clock: Clock, problem: Problem) -> dict[str, float]:
    """Return the seconds of each variant that supports a problem, empty if only one does."""
    buffers: list[Allocation] = []
    try:
        for n in problem.elements:
            buffers.append(device.memory.get_buffer("tune", 4 * n))
            device.launch("tune", fill, buffers[-1:], 1.0, n)
        able = [
            variant.name
            for variant in device.variants.available(problem.op)
            if _does(device, problem, variant.name, buffers)
        ]
        if len(able) < 2:
            return {}

        def work(name: str, repeats: int) -> None:
            with device.variants.only(problem.op, name):
                for _ in range(repeats):
                    device.launch("tune", problem.prepare, buffers)

        return await quickest_times(clock, able, work)
    finally:
        for buffer in buffers:
            device.memory.return_buffer(buffer)


def _does(device: Device, problem: Problem, name: str, buffers: Sequence[Allocation]) -> bool:
    """Whether a variant computes the problem instead of falling back to another."""
    with device.variants.only(problem.op, name) as forced:
        device.launch("tune", problem.prepare, buffers)
    return forced.was_used


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 0.01 else f"{seconds * 1e3:.0f} ms"
