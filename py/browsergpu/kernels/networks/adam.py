"""Adam's update of parameters."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Kernel, KernelFamily, bindings

_THREADS = 256


def adam(build: Build, param: Slot, grad: Slot, m: Slot, v: Slot, n: int) -> None:
    """One step in place on n float32 parameters; the four buffers are different, n is not 0.
    :func:`factors` come when the program runs."""
    build.dispatch("adam", "", fold(blocks(n, _THREADS)), (grad, param, m, v), n, open=True)


def factors(
    *, lr: float, beta1: float, beta2: float, eps: float, step: int
) -> tuple[float, float, float, float, float, float, float, float]:
    """What the kernel takes of a step's number and the optimiser's settings."""
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
