"""Sums of the partial sums that ``engine/kernels/fused/norm_gradient.py`` computes."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings

_ACROSS = 8  # vec4s of a workgroup


def norm_sums(
    build: Build, sums: Slot, of_weight: Slot, of_bias: Slot, groups: int, length: int
) -> None:
    """Add the sums of both rows of float32 ``sums`` of shape [groups, 2, length] over the groups.

    ``length`` is a multiple of 4. All three buffers are different.
    """
    columns = length // 4
    build.dispatch(
        "norm_sums", "", fold(blocks(2 * columns, _ACROSS)), (sums, of_weight, of_bias),
        groups, columns,
    )  # fmt: skip


def _work(f: Fields) -> Work:
    n = 8 * f["columns"]
    return n * f["groups"], 4 * n * (f["groups"] + 1)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "norm_sums", "norm_sums.wgsl", bindings("sums", "of_weight", "of_bias", written=2),
            params("groups: u32", "columns: u32"), cost=_work,
        ),
    )
)  # fmt: skip
