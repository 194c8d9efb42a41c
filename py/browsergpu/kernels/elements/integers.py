"""Sums of integers modulo 2^32, for i32 and u32 alike."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Kernel, KernelFamily, bindings

_CHUNK = 256  # elements that one thread adds up


def total(build: Build, x: Slot, y: Slot, outer: int, length: int, inner: int) -> None:
    """y[o, i] = sum over j of x[o, j, i]; y is not x, no size is 0."""
    source = x
    while True:
        chunks = blocks(length, _CHUNK)
        outputs = outer * chunks * inner
        target = y if chunks == 1 else build.temporary(4 * outputs)
        build.dispatch(
            "sum_integer", "", fold(blocks(outputs, build.facts.workgroup_sizes.reduction)),
            (source, target), outer, length, inner, _CHUNK, chunks,
        )  # fmt: skip
        if source != x:
            build.release(source)
        if chunks == 1:
            return
        source, length = target, chunks


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "sum_integer",
            "sum_integer.wgsl",
            bindings("x", "y"),
            params("outer: u32", "length: u32", "inner: u32", "chunk: u32", "chunks: u32"),
            family="reduction",
        ),
    )
)
