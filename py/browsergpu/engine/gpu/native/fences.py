"""Waiting for a device and for its memory, by blocking calls in C.

wgpu-py's promises poll when they find a running event loop, which takes ten times as long as
blocking. The waits here run in threads that may block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NoReturn

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native import private
from browsergpu.engine.gpu.native.engine import Engine

#: Nanoseconds between checks for a KeyboardInterrupt.
_LOOK = 100_000_000
#: Nanoseconds to wait for the report of a loss, after an operation failed because of it.
_SOON = 2_000_000_000


class Fences(Shown, ABC):
    """Waits for one device.

    Errors have the engine's own classes. If the device is lost, the message contains "is lost".
    """

    def __init__(self, engine: Engine, device: Any) -> None:
        self._ffi, self._lib = engine.ffi, engine.checked
        self._values = engine.lib
        self._device = device
        self._modes = engine.api.MapMode

    @abstractmethod
    def finish(self) -> None:
        """Wait until the submitted commands are done."""

    @abstractmethod
    def _ask(self, buffer: Any, mode: int, nbytes: int) -> bool:
        """Wait for memory to be mapped. Return whether it was."""

    def map(self, buffer: Any, nbytes: int, *, write: bool = False) -> np.ndarray:
        """Wait for the GPU and return the first bytes of a staging buffer.

        The array is valid until :meth:`unmap`.
        """
        mode = self._modes.WRITE if write else self._modes.READ
        if not self._ask(buffer, int(mode), nbytes):
            self._raise_unmapped()
        return self._bytes(buffer, nbytes, write)

    def mapped(self, buffer: Any, nbytes: int) -> np.ndarray:
        """Return the first bytes of a buffer that is mapped for writing."""
        return self._bytes(buffer, nbytes, True)

    def unmap(self, buffer: Any) -> None:
        """Return a buffer to the GPU."""
        self._lib.wgpuBufferUnmap(buffer._internal)

    @abstractmethod
    def _check(self) -> None:
        """Raise an error if the device is lost."""

    def _raise_unmapped(self) -> NoReturn:
        self._check()
        raise RuntimeError("the GPU's memory could not be mapped")

    def _bytes(self, buffer: Any, nbytes: int, write: bool) -> np.ndarray:
        get = self._lib.wgpuBufferGetMappedRange
        pointer = (get if write else self._lib.wgpuBufferGetConstMappedRange)(
            buffer._internal, 0, nbytes
        )
        if pointer == self._ffi.NULL:
            self._raise_unmapped()
        return np.frombuffer(self._ffi.buffer(pointer, nbytes), np.uint8)


class _Dawns(Fences):
    """Fences for Dawn, whose futures a thread can wait for."""

    def __init__(self, engine: Engine, device: Any) -> None:
        super().__init__(engine, device)
        self._instance = private.dawns_instance()
        mode = self._values.WGPUCallbackMode_WaitAnyOnly
        self._done, self._mapped = (
            self._ffi.new(f"{kind}Info *", {"mode": mode, "callback": private.dawns_callback(kind)})
            for kind in ("WGPUQueueWorkDoneCallback", "WGPUBufferMapCallback")
        )

    def finish(self) -> None:
        self._wait(
            self._lib.wgpuQueueOnSubmittedWorkDone(self._device.queue._internal, self._done[0])
        )
        self._check()

    def _ask(self, buffer: Any, mode: int, nbytes: int) -> bool:
        self._wait(self._lib.wgpuBufferMapAsync(buffer._internal, mode, 0, nbytes, self._mapped[0]))
        return bool(
            self._lib.wgpuBufferGetMapState(buffer._internal)
            == self._values.WGPUBufferMapState_Mapped
        )

    def _check(self) -> None:
        self._raise_if_lost(0)
        self._device.create_command_encoder().finish()

    def _raise_unmapped(self) -> NoReturn:
        self._raise_if_lost(_SOON)
        super()._raise_unmapped()

    def _raise_if_lost(self, patience: int) -> None:
        # Ask for the loss itself: other errors of a lost device depend on how far the loss has got.
        future = self._values.wgpuDeviceGetLostFuture(self._device._internal)
        info = self._ffi.new("WGPUFutureWaitInfo *", {"future": future})
        self._values.wgpuInstanceWaitAny(self._instance, 1, info, patience)
        if info.completed:
            raise RuntimeError("the device is lost")

    def _wait(self, future: Any) -> None:
        info = self._ffi.new("WGPUFutureWaitInfo *", {"future": future})
        ongoing = (self._values.WGPUWaitStatus_Success, self._values.WGPUWaitStatus_TimedOut)
        while not info.completed:
            status = self._lib.wgpuInstanceWaitAny(self._instance, 1, info, _LOOK)
            if status not in ongoing:
                raise RuntimeError(f"waiting for the GPU failed (status {status})")


class _Wgpus(Fences):
    """Fences for wgpu-native, which has no futures. The device is polled until it is idle."""

    def __init__(self, engine: Engine, device: Any) -> None:
        super().__init__(engine, device)
        # A closure over self would keep this object, and with it the device, alive in C forever.
        outcome = self._outcome = [0]

        @self._ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)")  # type: ignore[untyped-decorator]
        def mapped(status: int, _message: Any, _first: Any, _second: Any) -> None:
            outcome[0] = status

        self._callback = mapped
        self._nothing = device.create_bind_group_layout(entries=[])
        self._mapped = self._ffi.new(
            "WGPUBufferMapCallbackInfo *",
            {"mode": self._values.WGPUCallbackMode_AllowProcessEvents, "callback": mapped},
        )

    def finish(self) -> None:
        self._lib.wgpuDevicePoll(self._device._internal, True, self._ffi.NULL)
        self._check()

    def _check(self) -> None:
        # This layout exists already, so nothing is created. A command buffer would not do:
        # wgpu-native never frees one that was not submitted, about 90 KB each.
        self._device.create_bind_group_layout(entries=[])

    def _ask(self, buffer: Any, mode: int, nbytes: int) -> bool:
        self._outcome[0] = 0
        self._lib.wgpuBufferMapAsync(buffer._internal, mode, 0, nbytes, self._mapped[0])
        self._lib.wgpuDevicePoll(self._device._internal, True, self._ffi.NULL)
        self._check()  # using the memory of a lost device ends the process
        return bool(self._outcome[0] == self._values.WGPUMapAsyncStatus_Success)


def fences_of(engine: Engine, device: Any) -> Fences:
    """Return the fences for a device."""
    return _Dawns(engine, device) if engine.is_dawn else _Wgpus(engine, device)
