"""Counter-based random numbers, identical to ``engine/tensors/philox.py`` on the host."""

from __future__ import annotations

from browsergpu.engine.core.grids import cover
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    Codes,
    Kernel,
    KernelFamily,
    bindings,
    by_code,
    of_elements,
)

#: The distributions of each kernel.
UNIFORM_CODES: Codes = {"words": 0, "uniform": 1, "integers": 2}
NORMAL_CODES: Codes = {"normal": 0, "exponential": 1}


def draw(build: Build, y: Slot, distribution: str, n: int) -> None:
    """Write n random words, float32 or integers of a distribution to y. n is not 0.

    The words of the key and the counter, and ``shift``, ``scale`` and ``last``, are passed when the
    program runs. The shaders describe them.
    """
    kernel = "philox" if distribution in UNIFORM_CODES else "normal"
    grid = cover(n, 4 * build.facts.workgroup_sizes.elementwise)  # one vec4 for each thread
    build.dispatch(kernel, distribution, grid, (y,), n, open=True)


_PARAMS = params(
    *("n: u32", "key0: u32", "key1: u32"),
    *(f"counter{i}: u32" for i in range(4)),
    *("shift: u32", "scale: u32", "last: u32"),
)

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "philox",
            "philox.wgsl",
            bindings("y"),
            _PARAMS,
            configurations=by_code(UNIFORM_CODES),
            family="elementwise",
            cost=of_elements(0, 0),
        ),
        Kernel(
            "normal",
            "normal.wgsl",
            bindings("y"),
            _PARAMS,
            configurations=by_code(NORMAL_CODES),
            family="elementwise",
            cost=of_elements(0, 0),
        ),
    )
)
