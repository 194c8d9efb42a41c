"""The kernels that can do one operation's work, and which of them is picked for which problem,
gathered from the families that declare them."""

from __future__ import annotations

from collections.abc import Mapping

from browsergpu.kernels.base.family import Variant
from browsergpu.kernels.table import FAMILIES

_OPERATIONS = tuple(operation for family in FAMILIES for operation in family.operations)

#: Operation → its variants, as :class:`~browsergpu.kernels.base.family.Operation` has them.
VARIANTS: Mapping[str, tuple[Variant, ...]] = {
    operation.name: operation.variants for operation in _OPERATIONS
}

#: Device class → operation → size class → variant. The class "" holds for every device that
#: nothing else says more about.
PICKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    device: {o.name: o.picks[device] for o in _OPERATIONS if device in o.picks}
    for device in sorted({device for o in _OPERATIONS for device in o.picks})
}


def device_class(info: Mapping[str, str]) -> str:
    """The class of devices that a GPU belongs to, by its vendor's and architecture's names: the
    most exact key of PICKS, "vendor architecture", "vendor" or ""."""
    for name in (f"{info['vendor']} {info['architecture']}", info["vendor"]):
        if name in PICKS:
            return name
    return ""
