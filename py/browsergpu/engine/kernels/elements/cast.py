"""Changes of element type."""

from __future__ import annotations

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Codes, Kernel, KernelFamily, bindings

#: Codes of both types of a cast. unorm8 is u8 whose 0..255 represent 0..1.
CODES: Codes = {
    DType.F32: 0,
    DType.F16: 1,
    DType.I32: 2,
    DType.U32: 3,
    DType.BOOL: 4,
    DType.U8: 5,
    "unorm8": 6,
}


def cast(build: Build, x: Slot, y: Slot, source: DType, target: DType, n: int) -> None:
    """Write x[i] to y[i] in another element type, for i < n.

    y is not x, and source is not target.
    """
    _cast(build, f"{source}_{target}", x, y, n)


def image_cast(build: Build, x: Slot, y: Slot, source: DType, target: DType, n: int) -> None:
    """Cast images to or from f32 as :func:`cast`. 0..255 of u8 represent 0..1."""
    names = ("unorm8" if dtype is DType.U8 else dtype.value for dtype in (source, target))
    _cast(build, "_".join(names), x, y, n)


def _cast(build: Build, configuration: str, x: Slot, y: Slot, n: int) -> None:
    if n > 0:
        grid = fold(blocks(n, 4 * build.facts.workgroup_sizes.elementwise))
        build.dispatch("cast", configuration, grid, (x, y), n)


_PAIRS = (
    *((str(source), str(target)) for source in DType for target in DType if source is not target),
    ("unorm8", "f32"),
    ("f32", "unorm8"),
)

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "cast",
            "cast.wgsl",
            bindings("x", "y"),
            params("n: u32"),
            configurations={
                f"{source}_{target}": {"FROM": CODES[source], "TO": CODES[target]}
                for source, target in _PAIRS
            },
            family="elementwise",
        ),
    )
)
