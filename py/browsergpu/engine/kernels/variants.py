"""Variants of each operation and their tuned defaults, gathered from all families."""

from __future__ import annotations

from collections.abc import Mapping

from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.table import FAMILIES

_OPERATIONS = tuple(operation for family in FAMILIES for operation in family.operations)

#: Operation → its variants, as ``Operation`` of ``engine/kernels/base/family.py`` declares them.
VARIANTS: Mapping[str, tuple[Variant, ...]] = {
    operation.name: operation.variants for operation in _OPERATIONS
}

#: Tuned defaults: device class → operation → size class → variant. The class "" is the fallback for
#: devices without a class of their own.
PICKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    device: {o.name: o.picks[device] for o in _OPERATIONS if device in o.picks}
    for device in sorted({device for o in _OPERATIONS for device in o.picks})
}


def device_class(info: Mapping[str, str]) -> str:
    """Return the most specific key of PICKS for a GPU: "vendor architecture", "vendor" or ""."""
    for name in (f"{info['vendor']} {info['architecture']}", info["vendor"]):
        if name in PICKS:
            return name
    return ""
