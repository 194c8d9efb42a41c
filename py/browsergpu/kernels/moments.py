"""Mean and variance in one stable pass over the elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from browsergpu.device.device import Device
from browsergpu.core.grids import fold
from browsergpu.gpu.memory import Allocation
from browsergpu.kernels.cuts import Cut, cut, cut_lanes
from browsergpu.core.remembered import remembered

_THREADS = 256
_BYTES = 16  # of an output: four words


@dataclass(frozen=True, slots=True)
class _Pass:
    kernel: str
    configuration: str
    views: int  # how often the source is bound
    cut: Cut


@remembered
def _passes(outer: int, length: int, inner: int, merges: bool) -> tuple[_Pass, ...]:
    """One pass, and others that merge its chunks. With ``merges``, the first merges, too."""
    passes = []
    while True:
        if merges:
            part = cut_lanes(outer, length, inner, _THREADS)
            kernel, configuration, views = "moments_merge", "", 1
        else:
            part = cut(outer, length, inner, _THREADS)
            kernel, configuration, views = "moments_rows", "", 1
            if not part.rows:
                kernel, views = "moments_columns", 2
                configuration = "aligned" if part.aligned else ""
        passes.append(_Pass(kernel, configuration, views, part))
        if part.chunks == 1:
            return tuple(passes)
        length, merges = part.chunks, True


def moments(
    device: Device, op: str, x: Allocation, steps: Sequence[tuple[int, int, int]]
) -> Allocation:
    """A new buffer of (count, pivot, mean less pivot, sum of squared deviations) for each output of
    the steps [outer, length, inner] -> [outer, inner], of which there is at least one; no size is
    0."""
    return _run(device, op, x, steps, None, 0.0)


def variance(
    device: Device,
    x: Allocation,
    y: Allocation,
    steps: Sequence[tuple[int, int, int]],
    ddof: float,
) -> None:
    """y = the variance of x over the steps' axes; y is not x."""
    count = 1
    for _, length, _ in steps:
        count *= length
    freedom = max(count - ddof, 0)
    _run(device, "variance", x, steps, y, 1 / freedom if freedom else inf)


def chunk_moments(
    device: Device, op: str, x: Allocation, rows: int, length: int
) -> tuple[Allocation, Cut]:
    """The moments of each chunk of rows, [rows, chunks] quadruples, and how the rows are cut."""
    first = _passes(rows, length, 1, False)[0]
    found = device.memory.get_buffer(op, _BYTES * first.cut.outputs, "moments")
    try:
        device.recorder.dispatch(
            device.pipeline("moments_rows"),
            *fold(first.cut.workgroups),
            x.id,
            found.id,
            *first.cut.fields,
            0.0,
        )
    except BaseException:
        device.memory.return_buffer(found)
        raise
    return found, first.cut


def _run(
    device: Device,
    op: str,
    x: Allocation,
    steps: Sequence[tuple[int, int, int]],
    y: Allocation | None,
    scale: float,
) -> Allocation:
    """The moments in a new buffer, or the variances in y."""
    parts = [part for i, step in enumerate(steps) for part in _passes(*step, i > 0)]
    source = x
    for part in parts:
        configuration = part.configuration
        target = y if part is parts[-1] else None
        if target is not None:
            configuration = f"variance_{configuration}" if configuration else "variance"
        made = None
        try:
            if target is None:
                made = target = device.memory.get_buffer(op, _BYTES * part.cut.outputs, "moments")
            device.recorder.dispatch(
                device.pipeline(part.kernel, configuration), *fold(part.cut.workgroups),
                *(source.id,) * part.views, target.id, *part.cut.fields, scale,
            )  # fmt: skip
        except BaseException:
            if made is not None:
                device.memory.return_buffer(made)
            raise
        finally:
            if source is not x:
                device.memory.return_buffer(source)
        source = target
    return source
