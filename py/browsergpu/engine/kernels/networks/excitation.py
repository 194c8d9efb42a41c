"""The excitation of squeeze-and-excite: two matrix-vector products with activations, in one kernel.

Source: Hu et al., "Squeeze-and-Excitation Networks", arXiv 1709.01507.
"""

from __future__ import annotations

from browsergpu.engine.core.grids import MAX_PER_DIMENSION, blocks
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings

#: Maximum channels, a multiple of 4, and hidden values: what the workgroup's memory holds.
_MOST_CHANNELS, _MOST_HIDDEN = 1024, 128
_FILTERS = 64  # results of a workgroup


def takes(vectors: int, channels: int, hidden: int) -> bool:
    """Return whether :func:`excite` computes the gates of vectors of so many channels."""
    fits = 0 < channels <= _MOST_CHANNELS and 0 < hidden <= _MOST_HIDDEN
    return fits and not channels % 4 and 0 < vectors <= MAX_PER_DIMENSION


def excite(
    build: Build, x: Slot, w1: Slot, b1: Slot | None, w2: Slot, b2: Slot | None, y: Slot,
    vectors: int, channels: int, hidden: int, filters: int, hard: tuple[float, float] | None,
) -> None:  # fmt: skip
    """Add y = gate(relu(x w1ᵀ + b1) w2ᵀ + b2), all float32. It needs :func:`takes`.

    x is [vectors, channels], w1 [hidden, channels], w2 [filters, hidden], and y [vectors, filters],
    another buffer. ``gate`` is the logistic function, or clip(alpha v + beta, 0, 1) if ``hard`` is
    (alpha, beta).
    """
    biases = int(b1 is not None) + 2 * int(b2 is not None)
    alpha, beta = hard or (0.0, 0.0)
    build.dispatch(
        "excitation", "", (blocks(filters, _FILTERS), vectors, 1),
        (x, w1, w1 if b1 is None else b1, w2, w2 if b2 is None else b2, y),
        channels // 4, hidden, filters, biases, int(hard is not None), alpha, beta,
    )  # fmt: skip


def _work(f: Fields) -> Work:
    weights = f["hidden"] * (4 * f["vectors"] + f["filters"])
    return 2 * weights, 4 * (weights + 4 * f["vectors"] + f["filters"])


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "excitation",
            "excitation.wgsl",
            bindings("x", "w1", "b1", "w2", "b2", "y"),
            params(
                "vectors: u32", "hidden: u32", "filters: u32", "biases: u32", "is_hard: u32",
                "alpha: f32", "beta: f32",
            ),
            cost=_work,
        ),
    )
)  # fmt: skip
