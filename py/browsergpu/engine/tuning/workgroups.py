"""Measurement of the fastest workgroup sizes on the user's device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.device import tuned
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.kernels.base.workgroup_sizes import (
    FAMILIES,
    Family,
    WorkgroupSizes,
    is_possible,
)
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.tensors import pointwise, reductions
from browsergpu.engine.tensors.view import View
from browsergpu.engine.tuning.clock import Clock, quickest_times

CANDIDATES = (32, 64, 128, 256, 512, 1024)

_ELEMENTS = 2**22


@dataclass(frozen=True)
class WorkgroupTuning:
    """The result of :func:`benchmark_workgroup_sizes`.

    Attributes
    ----------
    sizes : WorkgroupSizes
        The fastest sizes.
    seconds : dict
        The best time of one pass over the array, for each kernel family and size.
    clock : str
        "timestamp-query" for the GPU's clock, "wall" for wall time around a wait.
    stored : bool
        Whether the browser stored ``sizes``.
    """

    sizes: WorkgroupSizes
    seconds: dict[Family, dict[int, float]]
    clock: str
    stored: bool


def benchmark_workgroup_sizes(
    device: Device, candidates: Sequence[int] = CANDIDATES, elements: int = _ELEMENTS
) -> WorkgroupTuning:
    """Measure elementwise and reduction kernels with each workgroup size and use the fastest.

    The browser stores the result for this site and GPU. Devices opened later, in the page or its
    workers, start with it. Blocks until done.

    Parameters
    ----------
    device : Device
        An open device.
    candidates : sequence of int
        Powers of two. Sizes that the device does not support are skipped.
    elements : int
        Length of the measured array.

    Returns
    -------
    WorkgroupTuning
        The fastest sizes and all times.

    Raises
    ------
    InvalidArgument
        If a candidate is not a power of two, or the device supports none of them.
    """
    return platform.block_on(
        benchmark_workgroup_sizes_async(device, candidates, elements), "benchmark_workgroup_sizes"
    )


async def benchmark_workgroup_sizes_async(
    device: Device, candidates: Sequence[int] = CANDIDATES, elements: int = _ELEMENTS
) -> WorkgroupTuning:
    """Measure like :func:`benchmark_workgroup_sizes`, without blocking."""
    op = "benchmark_workgroup_sizes"
    given = checks.dimensions(op, "candidates", candidates, minimum=1)
    for size in given:
        if size & (size - 1):
            raise InvalidArgument(op, "candidates", candidates, "powers of two")
    possible = [size for size in given if is_possible(size, device.limits)]
    if not possible:
        largest = device.limits["maxComputeInvocationsPerWorkgroup"]
        raise InvalidArgument(op, "candidates", candidates, f"sizes of at most {largest}")
    n = checks.integer(op, "elements", elements, 1, device.largest_buffer // 4)

    before = device.workgroup_sizes
    buffers = [device.memory.get_buffer(op, 4 * n)]
    clock = Clock(device.recorder, device.features)
    seconds: dict[Family, dict[int, float]] = {}
    best = before
    try:
        buffers.append(device.memory.get_buffer(op, 4 * n))
        x, y = buffers
        device.launch(op, fill, (x,), 1.0, n)
        for family in FAMILIES:
            seconds[family] = await _measure(device, clock, family, possible, x, y, n)
            quickest = min(possible, key=seconds[family].__getitem__)
            best = replace(best, **{family: quickest})
    except BaseException:
        device.workgroup_sizes = before
        raise
    finally:
        for buffer in buffers:
            device.memory.return_buffer(buffer)
    device.workgroup_sizes = best
    stored = await tuned.save_sizes(device.info, best)
    return WorkgroupTuning(best, seconds, clock.name, stored)


def forget_workgroup_sizes(device: Device) -> None:
    """Delete the stored sizes for the device's GPU and use the defaults. Blocks until done."""
    platform.block_on(forget_workgroup_sizes_async(device), "forget_workgroup_sizes")


async def forget_workgroup_sizes_async(device: Device) -> None:
    """Delete sizes like :func:`forget_workgroup_sizes`, without blocking."""
    device.workgroup_sizes = WorkgroupSizes()
    await tuned.save_sizes(device.info, None)


async def _measure(
    device: Device,
    clock: Clock,
    family: Family,
    sizes: Sequence[int],
    x: Allocation,
    y: Allocation,
    n: int,
) -> dict[int, float]:
    """Return the seconds of one pass over n elements with each size."""

    def work(size: int, repeats: int) -> None:
        device.workgroup_sizes = replace(device.workgroup_sizes, **{family: size})
        _work(device, family, x, y, n, repeats)

    return await quickest_times(clock, sizes, work)


def _work(
    device: Device, family: Family, x: Allocation, y: Allocation, n: int, repeats: int
) -> None:
    source, target = View(x, (n,), DType.F32), View(y, (n,), DType.F32)
    for _ in range(repeats):
        if family == "elementwise":
            pointwise.unary(device, "tune", "relu", source, target)
            pointwise.binary(device, "tune", "add", source, target, target)
        else:
            for function, extents in (("sum", (1, n, 1)), ("max", (1, -(-n // 1024), 1024))):
                result = View(y, (extents[2],), DType.F32)
                reductions.reduce(device, "tune", function, source, result, (extents,))
