"""The device on which new arrays are made."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays import einops_backend
from browsergpu.arrays.lazy.trace import Tracer, tracer_of
from browsergpu.engine.core.config import configured
from browsergpu.engine.core.errors import InvalidArgument, NoAdapter, NotInitialized
from browsergpu.engine.core.mutex import Mutex
from browsergpu.engine.core.turns import in_others_turn
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.adapter_info import AdapterInfo, gpus
from browsergpu.engine.gpu.port import OPEN_ANOTHER

#: Advice in errors after a device was lost, before and after the GPU is opened again.
_RECOVER = "Open it again with browsergpu.recover(), and make the arrays again."
_RECOVERED = "It was opened again since: make its arrays again."

_current: list[Tracer] = []
_by_number: dict[int, Device] = {}  # devices opened here, by adapter number
#: Held while a GPU is opened, so that concurrent tasks and threads get one device.
_opening = Mutex()


def use(device: Any) -> Device:
    """Make new arrays on this device from now on.

    Parameters
    ----------
    device : Device
        A device, or a backend that has one.

    Returns
    -------
    Device
        The device.

    Raises
    ------
    InvalidArgument
        For anything else.
    """
    found = device if isinstance(device, Device) else getattr(device, "device", None)
    if not isinstance(found, Device):
        raise InvalidArgument("use", "device", device, "a Device, or a backend that has one")
    if found.recorder.recovery == OPEN_ANOTHER:  # no backend has set its own advice
        found.recorder.recovery = _RECOVER
    _current[:] = [tracer_of(found)]
    return found


async def init_async(**options: Any) -> Device:
    """Open the GPU for arrays, where Python cannot block: ``await browsergpu.init_async()``.

    If it is already open, this returns the device. Concurrent tasks and threads get the same
    device.

    Parameters
    ----------
    **options
        Fields of :class:`BackendConfig`.

    Returns
    -------
    Device
        The device on which new arrays are made.

    Raises
    ------
    InvalidArgument
        For an unknown option, or one that differs from the open device's.
    NoAdapter
        If there is no WebGPU or no GPU.
    """
    op = "init"
    config = configured(op, None, options)
    turn = await _opening.turn()
    try:
        tracer = open_tracer()
        if tracer is None:
            device = use(await Device.request(config))
            _by_number.setdefault(device.adapter.index, device)
            return device
    finally:
        turn.is_over = True
    for name in options:
        found, wanted = getattr(tracer.device.config, name), getattr(config, name)
        if found != wanted:
            advice = "Open another device with browsergpu.use(await Device.request(...))."
            expected = f"{found!r}, the value with which the GPU was opened"
            raise InvalidArgument(op, name, wanted, expected, advice)
    return tracer.device


def init(**options: Any) -> Device:
    """Open the GPU for arrays, and wait for it. The first array also does this.

    See :func:`init_async` for parameters and errors.
    """
    if not platform.is_available():
        raise NoAdapter("init", platform.why_no_gpu())
    return platform.block_on(init_async(**options), "init")


async def recover_async() -> Device:
    """Open the GPU again: :func:`recover` for callers that cannot block."""
    op, tracer = "recover", open_tracer()
    if tracer is None:
        raise NotInitialized(op, "no GPU is open for arrays. Call init() first.")
    turn = await _opening.turn()
    try:
        old = (open_tracer() or tracer).device  # another task may have opened it
        if not old.is_lost:
            return old
        made = await Device.request(old.config)
        old.recorder.recovery = _RECOVERED
        _by_number[made.adapter.index] = made
        return use(made)
    finally:
        turn.is_over = True


def recover() -> Device:
    """Open the GPU for arrays again after it was lost, with the same options.

    Arrays on the lost device raise DeviceLost. Make them again, and load networks from a
    checkpoint. If the device is not lost, this does nothing.

    Returns
    -------
    Device
        The device on which new arrays are made.

    Raises
    ------
    NotInitialized
        If no GPU was open.
    NoAdapter
        If there is no GPU any more. After two crashes, Chrome provides none until the page is
        reloaded.
    """
    return platform.block_on(recover_async(), "recover")


async def devices_async() -> tuple[Device, ...]:
    """Open all GPUs: :func:`devices` for callers that cannot block."""
    return tuple([await _opened(info) for info in gpus(await platform.list_adapters("devices"))])


def devices() -> tuple[Device, ...]:
    """Open all GPUs and return them, best first. Waits for them.

    Software adapters are left out if there is another. In a page there is one GPU.

    Raises
    ------
    NoAdapter
        If there is no WebGPU.
    """
    return platform.block_on(devices_async(), "devices")


def default_device(device: Any = None) -> Device:
    """Return the device on which new arrays are made, or set it.

    Parameters
    ----------
    device : Device or int, optional
        The new device, or its number in :func:`devices`. By default the device does not change.

    Raises
    ------
    InvalidArgument
        If ``device`` is not a device.
    """
    return current().device if device is None else use(device_of("default_device", device))


def device_of(op: str, device: Any) -> Device:
    """Return the device for a ``device`` argument, which may be the number of a device."""
    if isinstance(device, Device):
        return device
    if isinstance(device, int) and not isinstance(device, bool):
        known = _open_on(device)
        if known is not None:
            return known
        found = devices()
        if 0 <= device < len(found):
            return found[device]
        raise InvalidArgument(op, "device", device, f"one of the {len(found)} devices, or None")
    raise InvalidArgument(op, "device", device, "a Device, its number, or None")


def _open_on(number: int) -> Device | None:
    """Return an open device on an adapter, preferably the current one."""
    known = [*(tracer.device for tracer in _current), *_by_number.values()]
    there = (
        one
        for one in known
        if one.adapter.index == number and not one.is_closed and not one.is_lost
    )
    return next(there, None)


async def _opened(info: AdapterInfo) -> Device:
    turn = await _opening.turn()
    try:
        known = _open_on(info.index)
        if known is None or known.adapter.names != info.names:
            known = _by_number[info.index] = await Device.request(adapter_index=info.index)
            known.recorder.recovery = _RECOVER
        return known
    finally:
        turn.is_over = True


def open_tracer() -> Tracer | None:
    """Return the tracer of the current device, or None if no GPU is open."""
    return _current[0] if _current and not _current[0].device.is_closed else None


def current(device: Any = None) -> Tracer:
    """Return the tracer of a device, by default of the one that new arrays are made on.

    Opens a GPU if none is open. Raises NotInitialized if Python cannot wait for that.
    """
    einops_backend.register()
    if device is not None:
        return tracer_of(device_of("device", device))
    tracer = open_tracer()
    if tracer is not None:
        return tracer
    if not platform.can_block():
        raise NotInitialized("array", "no GPU is open. Call await browsergpu.init_async() first.")
    return in_others_turn(lambda: tracer_of(init()))
