"""Devices without measured tuned defaults, and the variants that are safe on them.

The criterion is the number of sums that a thread holds. If they do not fit a GPU's registers, the
compiler keeps them in memory and the kernel is many times slower. NVIDIA and AMD GPUs have up to
255 registers per thread. GPUs that share memory with a CPU have 64 to 128, or fewer if many threads
run.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from math import prod
from typing import Literal

from browsergpu.engine.kernels.base.family import Variant

Kind = Literal["software", "integrated", "discrete"]

_INTEGRATED = frozenset({"apple", "arm", "broadcom", "img-tec", "intel", "qualcomm", "samsung"})
#: Intel architectures with dedicated memory.
_ARC = frozenset({"xe-hpg", "xe-2hpg", "xe2-hpg"})
#: Limits that identify a large GPU of an unknown vendor.
_LARGE = {"maxComputeWorkgroupStorageSize": 49_152, "maxComputeInvocationsPerWorkgroup": 1024}
#: Bytes of workgroup memory that every WebGPU device has.
_LEAST_BYTES = 16_384
#: Maximum sums per thread for a variant to be used unmeasured, and for one to be autotuned.
_SAFE_SUMS, _POSSIBLE_SUMS = 32, 64
_EXTENTS = ("rows", "columns", "filters", "pixels", "head_dim")


def is_measured(info: Mapping[str, str]) -> bool:
    """Return whether the device is one of the measured kinds: NVIDIA H200 or SwiftShader.

    Chrome reports only the vendor of the H200.
    """
    told = f"{info.get('device', '')} {info['description']}".strip()
    if info["vendor"] == "nvidia":
        return "H200" in told if told else not info["architecture"]
    return (info["vendor"], info["architecture"]) == ("google", "swiftshader")


def kind_of(info: Mapping[str, str], limits: Mapping[str, int], *, software: bool) -> Kind:
    """Return the kind of a device, from its names if possible, else from its limits."""
    vendor, architecture = info["vendor"], info["architecture"]
    if software:
        return "software"
    if vendor == "intel" and architecture in _ARC:
        return "discrete"
    if vendor in _INTEGRATED:
        return "integrated"
    large = all(limits[name] >= least for name, least in _LARGE.items())
    return "discrete" if large or vendor in ("amd", "nvidia") else "integrated"


def sums_of(variant: Variant) -> float:
    """Return the sums that each thread of a variant holds, 0 if the variant has no tile."""
    extents = [variant.traits[name] for name in _EXTENTS if name in variant.traits]
    return prod(extents) / variant.threads if extents else 0.0


@dataclass(frozen=True, slots=True)
class Caution:
    """Restrictions on the variants for a device.

    Attributes
    ----------
    safe_sums, possible_sums : float
        Maximum sums per thread for use without a measurement, and for autotuning.
    most_bytes : float
        Maximum bytes of workgroup memory.
    least_threads : int
        Minimum threads per workgroup.
    """

    safe_sums: float = float("inf")
    possible_sums: float = float("inf")
    most_bytes: float = float("inf")
    least_threads: int = 1

    def is_safe(self, variant: Variant) -> bool:
        """Return whether a variant may be used without a measurement."""
        return (
            sums_of(variant) <= self.safe_sums
            and variant.workgroup_bytes <= self.most_bytes
            and variant.threads >= self.least_threads
        )

    def is_possible(self, variant: Variant) -> bool:
        """Return whether autotuning may run a variant in normal calls."""
        return sums_of(variant) <= self.possible_sums


def caution_for(kind: Kind, limits: Mapping[str, int], abilities: Set[str]) -> Caution:
    """Return the restrictions for a device that was not measured.

    On an integrated GPU, a variant may use half of the workgroup memory, so that a core can run a
    second workgroup while the first one waits. The 16 KiB that every device has are always allowed.
    A workgroup smaller than a subgroup would leave lanes idle.
    """
    least = max(
        (int(name.rsplit(" ", 1)[1]) for name in abilities if name.startswith("subgroups of ")),
        default=1,
    )
    if kind != "integrated":
        return Caution(least_threads=least)
    half = limits["maxComputeWorkgroupStorageSize"] // 2
    return Caution(_SAFE_SUMS, _POSSIBLE_SUMS, max(half, _LEAST_BYTES), least)
