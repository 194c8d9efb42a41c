"""What a dispatch's work amounts to, by what its kernel's family says."""

from __future__ import annotations

from collections.abc import Mapping

from browsergpu.kernels.base.family import Cost, Fields, Work
from browsergpu.kernels.table import KERNELS

#: Kernel → its work, from its parameters, of those whose work is known.
COSTS: Mapping[str, Cost] = {
    kernel.name: kernel.cost for kernel in KERNELS.values() if kernel.cost is not None
}


def work_of(kernel: str, parameters: Fields, layers: float) -> Work:
    """Operations and bytes of one dispatch; (0, 0) where they are not known."""
    cost = COSTS.get(kernel)
    if cost is None:
        return 0.0, 0.0
    operations, nbytes = cost(parameters)
    return operations * layers, nbytes * layers
