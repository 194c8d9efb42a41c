"""The device on which new arrays are made."""

from __future__ import annotations

from typing import Any

from browsergpu.array.lazy.tape import Tape, tape_of
from browsergpu.core.errors import InvalidArgument, NoAdapter, NotInitialized
from browsergpu.device.device import Device
from browsergpu.gpu import platform

_current: list[Tape] = []


def use(device: Any) -> Device:
    """Makes new arrays on a device from now on: a Device, or a backend that has one. Gives it."""
    found = device if isinstance(device, Device) else getattr(device, "device", None)
    if not isinstance(found, Device):
        raise InvalidArgument("use", "device", device, "a Device, or a backend that has one")
    _current[:] = [tape_of(found)]
    return found


async def init_async(**options: Any) -> Device:
    """Opens the GPU for arrays, where Python cannot block: ``await browsergpu.init_async()``.
    ``options`` are fields of BackendConfig. On an open one does nothing."""
    if not _current or _current[0].device.is_closed:
        use(await Device.request(**options))
    return _current[0].device


def init(**options: Any) -> Device:
    """:func:`init_async`, and waits. The first array that is made does it by itself."""
    if not platform.is_available():
        raise NoAdapter("init", platform.why_no_gpu())
    return platform.block_on(init_async(**options), "init")


def open_tape() -> Tape | None:
    """The tape of the device that new arrays are made on, where it is open."""
    return _current[0] if _current and not _current[0].device.is_closed else None


def current(device: Any = None) -> Tape:
    """The tape of a device that an argument names, or of the one that new arrays are made on, which
    is opened where there is none. Raises NotInitialized where that cannot be waited for."""
    if device is not None:
        if not isinstance(device, Device):
            raise InvalidArgument("device", "device", device, "a Device, or None")
        return tape_of(device)
    tape = open_tape()
    if tape is not None:
        return tape
    if not platform.can_block():
        raise NotInitialized("array", "await browsergpu.init_async() opens the GPU first")
    init()
    return _current[0]
