"""Devices whose picks nobody has measured: what their names, limits and subgroups say of them, and
which variants are safe there.

The sums that a thread holds decide: a kernel whose sums do not fit a GPU's registers keeps them in
memory, and is then many times slower. NVIDIA's and AMD's GPUs give a thread up to 255 registers;
GPUs that share their memory with a CPU give it 64 to 128, or fewer where many threads run.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from math import prod
from typing import Literal

from browsergpu.kernels.base.family import Variant

Kind = Literal["software", "integrated", "discrete"]

_INTEGRATED = frozenset({"apple", "arm", "broadcom", "img-tec", "intel", "qualcomm", "samsung"})
#: Intel's GPUs with memory of their own.
_ARC = frozenset({"xe-hpg", "xe-2hpg", "xe2-hpg"})
#: What tells a large GPU where its vendor is not known.
_LARGE = {"maxComputeWorkgroupStorageSize": 49_152, "maxComputeInvocationsPerWorkgroup": 1024}
#: Bytes of workgroup memory that every WebGPU device has.
_LEAST_BYTES = 16_384
#: Sums of one thread: with which a variant is picked unseen, and with which it may be tried.
_SAFE_SUMS, _POSSIBLE_SUMS = 32, 64
_EXTENTS = ("rows", "columns", "filters", "pixels", "head_dim")


def is_measured(info: Mapping[str, str]) -> bool:
    """Whether the picks were measured on such a GPU, by its names: NVIDIA's H200, of which Chrome
    tells the vendor alone, and SwiftShader."""
    told = f"{info.get('device', '')} {info['description']}".strip()
    if info["vendor"] == "nvidia":
        return "H200" in told if told else not info["architecture"]
    return (info["vendor"], info["architecture"]) == ("google", "swiftshader")


def kind_of(info: Mapping[str, str], limits: Mapping[str, int], *, software: bool) -> Kind:
    """Which kind of device it is, as far as its names tell; else by its limits."""
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
    """The sums that each of its threads holds: its tile's extents by its threads, 0 where it has no
    tile."""
    extents = [variant.traits[name] for name in _EXTENTS if name in variant.traits]
    return prod(extents) / variant.threads if extents else 0.0


@dataclass(frozen=True, slots=True)
class Caution:
    """What is asked of variants on a device: at most so many sums of a thread and bytes of a
    workgroup, at least so many threads of a workgroup. ``possible_sums``: those of a variant that
    may be tried."""

    safe_sums: float = float("inf")
    possible_sums: float = float("inf")
    most_bytes: float = float("inf")
    least_threads: int = 1

    def is_safe(self, variant: Variant) -> bool:
        """Whether a variant may be picked unseen."""
        return (
            sums_of(variant) <= self.safe_sums
            and variant.workgroup_bytes <= self.most_bytes
            and variant.threads >= self.least_threads
        )

    def is_possible(self, variant: Variant) -> bool:
        """Whether a variant may be tried on real work."""
        return sums_of(variant) <= self.possible_sums


def caution_for(kind: Kind, limits: Mapping[str, int], abilities: Set[str]) -> Caution:
    """What is asked of variants on a device that was not measured.

    Of the workgroup memory of an integrated GPU half is taken, so that a core has work while
    another workgroup waits, but for what every device has. A workgroup smaller than a subgroup
    would leave lanes idle.
    """
    least = max(
        (int(name.rsplit(" ", 1)[1]) for name in abilities if name.startswith("subgroups of ")),
        default=1,
    )
    if kind != "integrated":
        return Caution(least_threads=least)
    half = limits["maxComputeWorkgroupStorageSize"] // 2
    return Caution(_SAFE_SUMS, _POSSIBLE_SUMS, max(half, _LEAST_BYTES), least)
