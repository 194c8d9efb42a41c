"""Mean and variance in one numerically stable pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.params import params
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.cuts import FIELDS, Cut, cut, cut_lanes, inputs, outputs
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Configurations,
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
)

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
    """Return a pass over the elements, and the passes that merge its chunks.

    With ``merges``, the first pass merges moments too.
    """
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


def moments(build: Build, x: Slot, steps: Sequence[tuple[int, int, int]]) -> Slot:
    """Return a temporary of (count, pivot, mean - pivot, sum of squared deviations) per output.

    The steps reduce [outer, length, inner] to [outer, inner]. There is at least one, and no size is
    0.
    """
    found = _add(build, x, steps, None, 0.0)
    assert found is not None
    return found


class Statistics(NamedTuple):
    """Where the statistics of a batch norm's channels are written, and how."""

    mean: Slot
    variance: Slot
    running_mean: Slot
    running_variance: Slot
    momentum: float
    unbiased: float


def merged_statistics(
    build: Build, x: Slot, steps: Sequence[tuple[int, int, int]], statistics: Statistics
) -> Slot | None:
    """Add the statistics of :func:`moments` if a pass merges them. Otherwise return the moments."""
    return _add(build, x, steps, None, 0.0, statistics)


def variance(
    build: Build,
    x: Slot,
    y: Slot,
    steps: Sequence[tuple[int, int, int]],
    ddof: float,
) -> None:
    """Add y = the variance of x over the steps' axes. y must be a different buffer from x."""
    count = 1
    for _, length, _ in steps:
        count *= length
    freedom = max(count - ddof, 0)
    _add(build, x, steps, y, 1 / freedom if freedom else inf)


def chunk_moments(build: Build, x: Slot, rows: int, length: int) -> tuple[Slot, Cut]:
    """Return the moments of each chunk of rows, [rows, chunks] quadruples, and the division."""
    first = _passes(rows, length, 1, False)[0].cut
    found = build.temporary(_BYTES * first.outputs)
    grid = fold(first.workgroups)
    build.dispatch("moments_rows", "", grid, (x, found), *first.fields, 0.0, 0.0, 0.0)
    return found, first


def _add(
    build: Build,
    x: Slot,
    steps: Sequence[tuple[int, int, int]],
    y: Slot | None,
    scale: float,
    statistics: Statistics | None = None,
) -> Slot | None:
    """Return the moments in a temporary, or write the variances to y, or statistics."""
    parts = [part for i, step in enumerate(steps) for part in _passes(*step, i > 0)]
    source: Slot | None = x
    for part in parts:
        assert source is not None
        kernel, configuration = part.kernel, part.configuration
        target: Slot | None = None
        slots: tuple[Slot, ...]
        factors = (scale, 0.0, 0.0)
        if part is parts[-1] and statistics is not None and kernel == "moments_merge":
            kernel = "moments_statistics"
            slots = statistics[:4]
            factors = (0.0, statistics.momentum, statistics.unbiased)
        elif part is parts[-1] and y is not None:
            target = y
            configuration = f"variance_{configuration}" if configuration else "variance"
            slots = (y,)
        else:
            target = build.temporary(_BYTES * part.cut.outputs)
            slots = (target,)
        build.dispatch(
            kernel, configuration, fold(part.cut.workgroups),
            (*(source,) * part.views, *slots), *part.cut.fields, *factors,
        )  # fmt: skip
        if source != x:
            build.release(source)
        source = target
    return source


def _work(f: Fields) -> Work:
    return 8 * inputs(f), 4 * (inputs(f) + 4 * outputs(f))


_PARAMS = params(*FIELDS, "scale: f32", "momentum: f32", "unbiased: f32")
_RESULTS: Configurations = {
    "": {"ALIGNED": 0, "VARIANCE": 0},
    "variance": {"ALIGNED": 0, "VARIANCE": 1},
}

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "moments_rows",
            "moments.wgsl",
            (Binding(0, "x", READ), Binding(2, "y", WRITE)),
            _PARAMS,
            "main_rows",
            _RESULTS,
            cost=_work,
        ),
        Kernel(
            "moments_columns",
            "moments.wgsl",
            bindings("x", "words", "y"),
            _PARAMS,
            "main_columns",
            {
                **_RESULTS,
                "aligned": {"ALIGNED": 1, "VARIANCE": 0},
                "variance_aligned": {"ALIGNED": 1, "VARIANCE": 1},
            },
            cost=_work,
        ),
        Kernel(
            "moments_merge",
            "moments.wgsl",
            bindings("words", "y", first=1),
            _PARAMS,
            "main_merge",
            _RESULTS,
            cost=lambda f: (8 * inputs(f), 16 * (inputs(f) + outputs(f))),
        ),
        Kernel(
            "moments_statistics",
            "moments.wgsl",
            bindings(
                "words",
                "batch_mean",
                "batch_variance",
                "running_mean",
                "running_variance",
                written=4,
                first=1,
            ),
            _PARAMS,
            "main_statistics",
            {"": _RESULTS[""]},
            cost=lambda f: (8 * inputs(f), 16 * inputs(f) + 24 * outputs(f)),
        ),
    )
)
