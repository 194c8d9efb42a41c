"""What programs are made for: all that a kernel's choice of grids and variants may depend on."""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.kernels.choices import Choices
from browsergpu.kernels.workgroup_sizes import WorkgroupSizes


@dataclass(slots=True)
class Facts:
    """A device's workgroup sizes, its variants and picks, and the bytes that one buffer may have.

    Programs made before one of them changed are not to be used afterwards.
    """

    workgroup_sizes: WorkgroupSizes
    variants: Choices
    largest_buffer: int
