"""What is known of a GPU before it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class AdapterInfo:
    """What the browser tells of a GPU. ``device_type`` is "cpu" for a software fallback, else
    "gpu": browsers tell no more. ``abilities`` names what a feature's name leaves open:
    "subgroups of 32" where all have that size, and "matrices f16 f32 16x16x16" for each shape of
    subgroup matrices: the operands' type, the result's, and M x N x K. ``memory`` are the bytes of
    its own memory where that is told: by Dawn, outside a browser."""

    index: int
    vendor: str
    architecture: str
    device: str
    description: str
    device_type: str
    features: frozenset[str]
    limits: dict[str, int] = field(repr=False)
    abilities: frozenset[str] = frozenset()
    memory: int | None = None

    @property
    def names(self) -> dict[str, str]:
        """vendor, architecture, device and description."""
        return {
            "vendor": self.vendor,
            "architecture": self.architecture,
            "device": self.device,
            "description": self.description,
        }

    @property
    def name(self) -> str:
        """The most telling of its names."""
        return self.description or self.device or f"{self.vendor} {self.architecture}".strip()


def gpus(found: Sequence[AdapterInfo]) -> list[AdapterInfo]:
    """Those adapters that are no software; all where there is no other."""
    return [info for info in found if info.device_type != "cpu"] or list(found)
