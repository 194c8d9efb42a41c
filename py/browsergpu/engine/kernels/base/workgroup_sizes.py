"""Workgroup sizes of the kernels where the size can be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from browsergpu.engine.core import checks

Family = Literal["elementwise", "reduction"]
FAMILIES: tuple[Family, ...] = get_args(Family)

_SMALLEST = 32


@dataclass(frozen=True, slots=True)
class WorkgroupSizes:
    """Threads per workgroup for each kernel family, as powers of two.

    A size may be given as (x, y, z) and is stored as the product: (64, 1, 1) is 64.
    """

    elementwise: int = 256
    reduction: int = 256

    def __post_init__(self) -> None:
        for family in FAMILIES:
            size = checks.threads("WorkgroupSizes", family, self[family])
            object.__setattr__(self, family, size)

    def __getitem__(self, family: Family) -> int:
        return self.elementwise if family == "elementwise" else self.reduction

    def for_elements(self, n: int) -> int:
        """Return the elementwise size, halved while one workgroup still covers n elements."""
        size = self.elementwise
        while size > _SMALLEST and size // 2 >= n:
            size //= 2
        return size

    def fit(self, limits: Mapping[str, int]) -> bool:
        """Return whether a device with these limits supports all sizes."""
        return all(is_possible(self[family], limits) for family in FAMILIES)


def is_possible(size: Any, limits: Mapping[str, int]) -> bool:
    """Return whether a size is a valid workgroup size of the tuned kernels on a device."""
    largest = min(limits["maxComputeInvocationsPerWorkgroup"], limits["maxComputeWorkgroupSizeX"])
    return type(size) is int and 1 <= size <= largest and size.bit_count() == 1
