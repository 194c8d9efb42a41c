"""What programs are made for: all that a kernel's choice of grids and variants may depend on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from browsergpu.kernels.base.family import Variant
from browsergpu.kernels.base.workgroup_sizes import WorkgroupSizes


class Chooser(Protocol):
    """What families ask for a variant: :class:`~browsergpu.kernels.choices.Choices`, which knows
    all families and which they therefore must not know."""

    def choose(self, op: str, size_class: str, able: Callable[[Variant], bool]) -> Variant:
        """The variant for a problem of a size class, among those that are ``able`` to do it."""


@dataclass(slots=True)
class Facts:
    """A device's workgroup sizes, its variants and picks, and the bytes that one buffer may have.

    Programs made before one of them changed are not to be used afterwards.
    """

    workgroup_sizes: WorkgroupSizes
    variants: Chooser
    largest_buffer: int
