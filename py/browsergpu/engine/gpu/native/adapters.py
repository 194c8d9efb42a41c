"""The machine's GPUs."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from browsergpu.engine.core.config import BackendConfig
from browsergpu.engine.core.errors import InvalidArgument, NoAdapter
from browsergpu.engine.gpu.adapter_info import AdapterInfo, abilities_of
from browsergpu.engine.gpu.native.engine import engine, why_none
from browsergpu.engine.gpu.native.worker import WORKER

#: wgpu-py's names for the types of adapters, best first.
_KINDS = ("DiscreteGPU", "IntegratedGPU", "CPU", "Unknown")


def is_available() -> bool:
    """Return whether there is an engine that finds a GPU."""
    return bool(adapters())


@cache
def adapters() -> tuple[AdapterInfo, ...]:
    """Return descriptions of the engine's adapters, best first."""
    return WORKER.do(lambda: tuple(_describe(i, adapter) for i, adapter in enumerate(_ask())))


def fresh_adapter(info: AdapterInfo) -> Any:
    """Return the engine's adapter for a description. An adapter can open only one device."""
    return WORKER.do(_ask)[info.index]


def _ask() -> list[Any]:
    found = engine()
    usable = [] if found is None else found.adapters()
    return sorted(usable, key=lambda adapter: _KINDS.index(_kind(adapter)))


async def list_adapters(op: str) -> list[AdapterInfo]:
    """Return descriptions of the machine's GPUs, best first.

    Raises NoAdapter if no engine is installed.
    """
    if engine() is None:
        raise NoAdapter(op, why_none())
    return list(adapters())


def chosen_adapter(op: str, config: BackendConfig) -> AdapterInfo:
    """Return the adapter that a config selects. Raise NoAdapter if there is none."""
    if config.adapter_index is not None:
        return _adapter(op, config.adapter_index)
    if config.power_preference == "low-power":
        for info, adapter in zip(adapters(), WORKER.do(_ask), strict=True):
            if _kind(adapter) == "IntegratedGPU":
                return info
    return _adapter(op, 0)


def _adapter(op: str, index: int) -> AdapterInfo:
    found = adapters()
    if not found:
        raise NoAdapter(op, why_none())
    if index >= len(found):
        raise InvalidArgument(op, "adapter_index", index, f"less than {len(found)}")
    return found[index]


def _kind(adapter: Any) -> str:
    kind = str(adapter.info.get("adapter_type"))
    return kind if kind in _KINDS else "Unknown"


def _describe(index: int, adapter: Any) -> AdapterInfo:
    info, found = adapter.info, engine()
    assert found is not None
    told = found.told(adapter)
    vendor = str(info.get("vendor", "")).lower()
    return AdapterInfo(
        index=index,
        vendor=vendor,
        architecture=str(info.get("architecture", "")),
        device=str(info.get("device", "")),
        description=str(info.get("device") or info.get("description", "")),
        device_type="cpu" if _kind(adapter) == "CPU" else "gpu",
        features=features_of(adapter),
        limits=limits_of(adapter),
        abilities=_abilities(info, told) | abilities_of(vendor),
        memory=_memory(told),
    )


def features_of(owner: Any) -> frozenset[str]:
    """Return the features of an adapter or a device, by WebGPU's names."""
    found = frozenset(str(feature) for feature in owner.features)
    if _is_dawn():
        return found
    # naga has the subgroup functions, but rejects the line that enables them in WGSL. wgpu-native
    # has all core features of WebGPU, but does not report so.
    return found - {"subgroups", "subgroup-size-control"} | {"core-features-and-limits"}


def limits_of(owner: Any) -> dict[str, int]:
    """Return the limits of an adapter or a device, by WebGPU's names."""
    return {_camel(name): int(value) for name, value in owner.limits.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("-")
    joined = first + "".join(word.capitalize() for word in rest)
    return re.sub(r"(?<=\d)d", "D", joined)  # "max-texture-dimension2d"


def _abilities(info: Any, told: dict[str, Any]) -> frozenset[str]:
    found = set()
    # wgpu-py's names of the subgroup sizes really begin with "stackgroup"
    sizes = [tuple(info.get(f"stackgroup_{end}_size", 0) for end in ("min", "max"))]
    for c in told.get("subgroup_matrix_configs") or ():
        # The sizes that subgroup matrices need. The adapter's own sizes are only the API's bounds.
        sizes.append((c["min_subgroup_size"], c["max_subgroup_size"]))
        found.add(
            f"matrices {c['component_type']} {c['result_component_type']} "
            f"{c['m']}x{c['n']}x{c['k']}"
        )
    found |= {f"subgroups of {least}" for least, most in sizes if 0 < least == most}
    return frozenset(found)


def _memory(told: dict[str, Any]) -> int | None:
    heaps = told.get("memory_heaps") or ()
    own = [heap["size"] for heap in heaps if "device-local" in heap["properties"]]
    return max(own, default=None)


def _is_dawn() -> bool:
    found = engine()
    return found is not None and found.is_dawn
