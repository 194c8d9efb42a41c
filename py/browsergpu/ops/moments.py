"""Mean and variance in one stable pass over the elements."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from browsergpu.device import Device
from browsergpu.grids import blocks, fold
from browsergpu.memory import Allocation
from browsergpu.ops.cuts import Cut, cut, cut_triples
from browsergpu.ops.remembered import remembered

_THREADS = 256


@dataclass(frozen=True, slots=True)
class _Pass:
    kernel: str
    configuration: str
    views: int  # how often the source is bound
    grid: tuple[int, int, int]
    cut: Cut


@remembered
def _passes(outer: int, length: int, inner: int, merges: bool) -> tuple[_Pass, ...]:
    """One pass, and others that merge its chunks. With ``merges``, the first merges, too."""
    passes = []
    while True:
        if merges:
            part = cut_triples(outer, length, inner, _THREADS)
            kernel, configuration, views = "moments_merge", "", 1
        else:
            part = cut(outer, length, inner, _THREADS)
            kernel, configuration, views = "moments_rows", "", 1
            if not part.rows:
                kernel, views = "moments_columns", 2
                configuration = "aligned" if part.aligned else ""
        passes.append(_Pass(kernel, configuration, views, fold(part.workgroups), part))
        if part.chunks == 1:
            return tuple(passes)
        length, merges = part.chunks, True


def moments(
    device: Device, op: str, x: Allocation, steps: list[tuple[int, int, int]]
) -> Allocation:
    """A new buffer of (count, mean, sum of squared deviations) for each output of the steps
    [outer, length, inner] -> [outer, inner], of which there is at least one; no size is 0."""
    source = x
    for step in steps:
        for part in _passes(*step, source is not x):
            target = device.memory.get_buffer(op, 12 * part.cut.outputs, "moments")
            device.recorder.dispatch(
                device.pipeline(part.kernel, part.configuration), *part.grid,
                *(source.id,) * part.views, target.id, *part.cut.fields,
            )  # fmt: skip
            if source is not x:
                device.memory.return_buffer(source)
            source = target
    return source


def variance(
    device: Device,
    x: Allocation,
    y: Allocation,
    steps: list[tuple[int, int, int]],
    n: int,
    ddof: float,
) -> None:
    """y = the variance of x over the steps' axes, n values; y is not x."""
    count = 1
    for _, length, _ in steps:
        count *= length
    freedom = max(count - ddof, 0)
    found = moments(device, "variance", x, steps)
    device.recorder.dispatch(
        device.pipeline("variance"), *fold(blocks(n, device.workgroup_sizes.elementwise)),
        found.id, y.id, n, 1 / freedom if freedom else inf,
    )  # fmt: skip
    device.memory.return_buffer(found)
