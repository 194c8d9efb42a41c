"""Device facts on which the choice of grids and variants may depend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.base.workgroup_sizes import WorkgroupSizes


class Chooser(Protocol):
    """Interface through which families choose variants.

    :class:`~browsergpu.engine.kernels.choices.Choices` implements it. It imports all families, so
    they cannot import it.
    """

    def choose(self, op: str, size_class: str, able: Callable[[Variant], bool]) -> Variant:
        """Return the variant for a problem of a size class, among those that ``able`` accepts."""

    @property
    def is_first_result(self) -> bool:
        """Whether a program is wanted whose kernels compile soon, as others still compile."""


@dataclass(slots=True)
class Facts:
    """A device's workgroup sizes, its selection of variants, and its maximum buffer size in bytes.

    After a change of any of them, older programs must not be used.
    """

    workgroup_sizes: WorkgroupSizes
    variants: Chooser
    largest_buffer: int
