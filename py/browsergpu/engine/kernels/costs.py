"""Floating-point operations and bytes of a dispatch, as declared by its kernel's family."""

from __future__ import annotations

from collections.abc import Mapping

from browsergpu.engine.kernels.base.family import Cost, Fields, Work
from browsergpu.engine.kernels.table import KERNELS

#: Kernel → function from its parameters to its work. Kernels without a declared cost are missing.
COSTS: Mapping[str, Cost] = {
    kernel.name: kernel.cost for kernel in KERNELS.values() if kernel.cost is not None
}


def work_of(kernel: str, parameters: Fields, layers: float) -> Work:
    """Return the operations and bytes of one dispatch, (0, 0) if unknown."""
    cost = COSTS.get(kernel)
    if cost is None:
        return 0.0, 0.0
    operations, nbytes = cost(parameters)
    return operations * layers, nbytes * layers
