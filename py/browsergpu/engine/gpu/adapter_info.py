"""Descriptions of GPUs that are not opened yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class AdapterInfo:
    """Description of a GPU, as the browser or the native engine reports it.

    Attributes
    ----------
    index : int
        Position among the adapters, best first.
    vendor, architecture, device, description : str
        Names of the GPU. Any of them may be empty.
    device_type : str
        "cpu" for a software adapter, else "gpu". Browsers do not report more.
    features : frozenset of str
        WebGPU feature names.
    limits : dict
        WebGPU limits by name.
    abilities : frozenset of str
        Details that feature names leave out. "subgroups of 32" means that every subgroup has that
        size. "matrices f16 f32 16x16x16" is one shape of subgroup matrices: operand type, result
        type, and M x N x K. "subnormal halves" means that unpack2x16float is exact for all of
        them.
    memory : int or None
        Bytes of the GPU's own memory. None if unknown; only Dawn reports it, outside a browser.
    """

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
        """The vendor, architecture, device and description as a dict."""
        return {
            "vendor": self.vendor,
            "architecture": self.architecture,
            "device": self.device,
            "description": self.description,
        }

    @property
    def name(self) -> str:
        """The most descriptive of the names."""
        return self.description or self.device or f"{self.vendor} {self.architecture}".strip()


def abilities_of(vendor: str) -> frozenset[str]:
    """Return the abilities that all GPUs of a vendor have."""
    return frozenset({"subnormal halves"} if vendor == "nvidia" else ())


def gpus(found: Sequence[AdapterInfo]) -> list[AdapterInfo]:
    """Return the hardware adapters, or all adapters if there are only software ones."""
    return [info for info in found if info.device_type != "cpu"] or list(found)
