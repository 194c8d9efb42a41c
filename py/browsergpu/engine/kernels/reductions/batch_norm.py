"""Batch normalization."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.core.shapes import reduction_steps
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
    of_elements,
)
from browsergpu.engine.kernels.reductions.moments import Statistics, merged_statistics


def normalise(
    build: Build,
    x: Slot,
    mean: Slot,
    variance: Slot,
    gamma: Slot,
    beta: Slot,
    y: Slot,
    shape: tuple[int, int, int],
    eps: float,
    *,
    halves: bool = False,
) -> None:
    """Add y = (x - mean) / sqrt(variance + eps) * gamma + beta for x of [N, C, inner].

    The others have C values each. All are float32, or float16 if ``halves``. y must be a different
    buffer from the others, and no extent may be 0.
    """
    images, channels, inner = shape
    n = images * channels * inner
    kernel, each = "batch_norm", 1
    if halves:
        kernel, each = ("batch_norm_halves", 2) if inner % 8 else ("batch_norm_eights", 8)
    build.dispatch(
        kernel, "", fold(blocks(n, each * build.facts.workgroup_sizes.elementwise)),
        (x, mean, variance, gamma, beta, y), n, channels, inner, eps, 0.0, 0.0,
    )  # fmt: skip


def statistics(
    build: Build,
    x: Slot,
    mean: Slot,
    variance: Slot,
    running_mean: Slot,
    running_variance: Slot,
    shape: tuple[int, int, int],
    momentum: float,
) -> None:
    """Compute the mean and biased variance of each channel of x of [N, C, inner].

    The running statistics move towards them by ``momentum``, with the unbiased variance. All five
    buffers must be different, and a channel must have at least two elements.
    """
    images, channels, inner = shape
    count = images * inner
    steps = reduction_steps(shape, (0, 2))
    unbiased = count / (count - 1)
    targets = Statistics(mean, variance, running_mean, running_variance, momentum, unbiased)
    found = merged_statistics(build, x, steps, targets)
    if found is None:
        return
    build.dispatch(
        "batch_norm_statistics", "",
        fold(blocks(channels, build.facts.workgroup_sizes.elementwise)),
        (found, mean, variance, running_mean, running_variance),
        0, channels, inner, 0.0, momentum, unbiased,
    )  # fmt: skip
    build.release(found)


def _of_halves(f: Fields) -> Work:
    return 4 * f["n"], 4 * f["n"]


_PARAMS = params(
    "n: u32", "channels: u32", "inner: u32", "eps: f32", "momentum: f32", "unbiased: f32"
)

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "batch_norm",
            "batch_norm.wgsl",
            bindings("x", "mean", "variance", "gamma", "beta", "y"),
            _PARAMS,
            family="elementwise",
            cost=of_elements(1, 4),
        ),
        Kernel(
            "batch_norm_halves",
            "batch_norm.wgsl",
            bindings(
                "x_halves", "mean_halves", "variance_halves", "gamma_halves", "beta_halves",
                "y_halves",
            ),
            _PARAMS,
            "main_halves",
            family="elementwise",
            cost=_of_halves,
        ),
        Kernel(
            "batch_norm_eights",
            "batch_norm.wgsl",
            bindings(
                "x_eights", "mean_halves", "variance_halves", "gamma_halves", "beta_halves",
                "y_eights",
            ),
            _PARAMS,
            "main_eights",
            family="elementwise",
            cost=_of_halves,
        ),
        Kernel(
            "batch_norm_statistics",
            "batch_norm.wgsl",
            bindings(
                "moments", "batch_mean", "batch_variance", "running_mean", "running_variance",
                written=4, first=6,
            ),
            _PARAMS,
            "statistics",
            family="elementwise",
        ),
    )
)  # fmt: skip
