"""``torch.device``: names of devices. All tensors are on the GPU of WebGPU."""

from __future__ import annotations

import warnings
from typing import Any

from browsergpu.arrays.context import device_of as engines_device
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.places import frames_of_the_package
from browsergpu.engine.device.device import Device

_TYPES = ("webgpu", "cuda", "cpu", "mps", "xpu", "meta")
_noted: set[str] = set()


def notice(key: str, message: str) -> None:
    """Warn once of a setting that means something else than in PyTorch."""
    if key not in _noted:
        _noted.add(key)
        warnings.warn(message, stacklevel=frames_of_the_package())


class device:
    """The name of a device: "webgpu", "cuda" or "cpu", and perhaps a number.

    "cuda", "mps" and "cpu" are accepted, and mean the GPU of WebGPU, with one notice.
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        given: Any = type
        if isinstance(given, device | Device):
            type, index = given.type, given.index
        if isinstance(type, int):
            type, index = "webgpu", type
        name, _, number = str(type).partition(":")
        if name not in _TYPES or (number and not number.isdecimal()):
            raise InvalidArgument("device", "type", type, f"one of {', '.join(_TYPES)}")
        self.type = name
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, Device):
            return self.type != "meta" and self.index in (None, other.adapter.index)
        if isinstance(other, str):
            return str(self) == other
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __enter__(self) -> device:
        not_meta("with torch.device", self)
        device_of("device", self)
        return self

    def __exit__(self, *_: object) -> None:
        pass


def not_meta(op: str, given: Any) -> None:
    """Refuse the device "meta" where the tensors to come would be on the GPU."""
    name = given if isinstance(given, device | Device) or given is None else device(given)
    if getattr(name, "type", None) == "meta":
        expected = "a device of the GPU"
        raise InvalidArgument(op, "device", "meta", expected, 'Pass device="meta" to functions.')


def device_of(op: str, given: Any) -> Any:
    """Return the engine's device for an argument ``device``, or None for the current one."""
    if given is None or isinstance(given, Device):
        return given
    name = given if isinstance(given, device) else device(given)
    if name.type == "meta":
        from browsergpu.functions.meta import nowhere

        return nowhere().device
    if name.type in ("cuda", "cpu", "mps", "xpu"):
        notice(
            "device",
            f'{op}: the device is "{name}", got the GPU of WebGPU, on which all tensors are.',
        )
        index = name.index if name.type == "cuda" else None
        return None if not index else engines_device(op, index)
    return None if name.index is None else engines_device(op, name.index)
