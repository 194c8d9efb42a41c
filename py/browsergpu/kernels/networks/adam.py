"""Adam's parameter update."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Kernel, KernelFamily, bindings

_THREADS = 256


def adam(build: Build, param: Slot, grad: Slot, m: Slot, v: Slot, n: int) -> None:
    """Add one in-place step for n float32 parameters.

    The four buffers must be different, and n must not be 0. :func:`factors` are passed when the
    program runs.
    """
    build.dispatch("adam", "", fold(blocks(n, _THREADS)), (grad, param, m, v), n, open=True)


def factors(
    *, lr: float, beta1: float, beta2: float, eps: float, step: int
) -> tuple[float, float, float, float, float, float, float, float]:
    """Return the kernel's parameters for a step number and the optimizer's settings."""
    return (
        lr, beta1, beta2, 1.0 - beta1, 1.0 - beta2, eps, 1.0 - beta1**step, 1.0 - beta2**step,
    )  # fmt: skip


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "adam",
            "adam.wgsl",
            bindings("grad", "param", "m", "v", written=3),
            params(
                "n: u32", "lr: f32", "beta1: f32", "beta2: f32", "rest1: f32", "rest2: f32",
                "eps: f32", "correction1: f32", "correction2: f32",
            ),
            cost=lambda f: (12 * f["n"], 28 * f["n"]),
        ),
    )
)  # fmt: skip
