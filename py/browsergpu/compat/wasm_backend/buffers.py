"""The device of a compute backend and its buffers: opening, recovering, memory, pointers."""

from __future__ import annotations

from asyncio import ensure_future, wait_for
from collections.abc import Callable
from inspect import isawaitable
from operator import index
from typing import Any, Self
from weakref import finalize

import numpy as np

from browsergpu.engine.core import checks
from browsergpu.engine.core.config import BackendConfig, configured
from browsergpu.engine.core.errors import (
    DeviceLost,
    InvalidArgument,
    NoAdapter,
    NotInitialized,
    Timeout,
)
from browsergpu.engine.core.mutex import Mutex
from browsergpu.engine.core.showing import Description, Shown, byte_count
from browsergpu.engine.device import canvas, host_memory
from browsergpu.engine.device.debugging import Debugger
from browsergpu.engine.device.device import Device
from browsergpu.engine.device.kept import KeptContents
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.gpu.port import lost
from browsergpu.engine.tensors import transfers

_F32 = 4


class ComputeBackend(Shown):
    """The type of compute backends.

    :class:`WasmBackend` implements it and documents the methods. ComputeBackend itself cannot be
    instantiated.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls is ComputeBackend:
            raise TypeError("ComputeBackend cannot be instantiated. Create a WasmBackend.")
        return super().__new__(cls)


class DeviceBuffers(ComputeBackend):
    """A device that is opened, recovered and closed, and its buffers by integer pointers."""

    def __init__(self, config: BackendConfig | None = None, **options: Any) -> None:
        self._config = configured("WasmBackend", config, options)
        self._open: Device | None = None
        self._closings = 0  # number of calls of close()
        self._opening = Mutex()
        self._canvas_id: str | None = None
        self._buffers: dict[int, Allocation] = {}
        self._release: finalize[..., DeviceBuffers] | None = None
        self._kept: dict[int, KeptContents] = {}  # by handle
        self._gone: dict[int, str] = {}  # lost handle -> label

    # -- opening and closing ---------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the backend, ``"webgpu"``."""
        return "webgpu"

    @property
    def is_initialized(self) -> bool:
        """Whether the device is open."""
        return self._open is not None

    @property
    def device(self) -> Device:
        """The open device: its info, features, limits, memory and recorder."""
        return self._opened("device")

    def init(self) -> None:
        """Open the device. Do nothing if it is open. Raise NoAdapter if there is none."""
        if not platform.is_available():
            raise NoAdapter("init", platform.why_no_gpu())
        platform.block_on(self.init_async(), "init")

    async def init_async(self) -> None:
        """Open the device, as :meth:`init` does, without blocking."""
        closings = self._closings
        turn = await self._opening.turn()
        try:
            device = None
            if self._open is None and closings == self._closings:
                device = await self._request()
            if closings != self._closings:
                if device is not None:
                    device.close()
                raise NotInitialized(
                    "init", "the backend was closed while init() opened it. Call init() again."
                )
            if device is not None:
                self._use(device, {})
        finally:
            turn.is_over = True

    def _use(self, device: Device, buffers: dict[int, Allocation]) -> None:
        """Make a device, with its buffers, the open one."""
        self._forget_device()
        self._open, self._buffers = device, buffers
        # Frees the buffers if the device outlives the backend, since only the backend knows the
        # pointers.
        self._release = finalize(self, _give_back, device, buffers)
        self._release.atexit = False

    def _forget_device(self) -> None:
        if self._release is not None:
            self._release.detach()
        self._open = self._release = None

    def _facts(self) -> str:
        if self._open is None:
            return "closed" if self._closings else "not open"
        return f"of {len(self._buffers)} buffers on {self._open!r}"

    async def _request(self) -> Device:
        device = await Device.request(self._config)
        device.recorder.recovery = "Open it again with `await backend.recover()`."
        if self._config.debug_mode:
            device.recorder.observers.append(Debugger(device))
        return device

    @classmethod
    async def init_from_canvas(
        cls, canvas_id: str, config: BackendConfig | None = None, **options: Any
    ) -> Self:
        """Return an open backend that draws on a canvas by default.

        Parameters
        ----------
        canvas_id : str
            On the main thread, the id of an element of the document. In a worker, the id of an
            OffscreenCanvas that the page has registered in ``globalThis.browsergpuCanvases``.
        config : BackendConfig, optional
            Options of the device.
        **options
            Fields of BackendConfig, which override ``config``.

        Raises
        ------
        InvalidArgument
            If there is no canvas with the id.
        """
        canvas.find("init_from_canvas", canvas_id)
        backend = cls(config, **options)
        backend._canvas_id = canvas_id
        await backend.init_async()
        return backend

    def close(self) -> None:
        """Free all buffers and close the device.

        Closing twice is allowed. A concurrent ``init`` raises NotInitialized.
        """
        device = self._open
        self._forget_device()
        self._closings += 1
        self._buffers.clear()
        self._kept.clear()
        self._gone.clear()
        if device is not None:
            device.close()

    async def recover(self) -> None:
        """Open the GPU again after a loss, with the same pointers.

        Buffers allocated with ``keep=True`` are restored to the values that the host last wrote to
        them or read from them. Using another buffer raises DeviceLost with its label. If the device
        is not lost, nothing happens.

        Raises
        ------
        NoAdapter
            If the browser gives no GPU. After two crashes of the GPU process, Chrome gives none
            until the page is reloaded.
        """
        old = self._opened("recover")
        turn = await self._opening.turn()
        try:
            if self._open is not old or not old.is_lost:
                return
            device = await self._request()
            if self._open is not old:  # closed in the meantime
                device.close()
                return
            try:
                restored = self._restore(device)
            except BaseException:
                device.close()
                raise
            old.close()
            for handle in self._buffers.keys() - restored.keys():
                self._gone[handle] = self._buffers[handle].label
            self._use(device, restored)
        finally:
            turn.is_over = True

    def _restore(self, device: Device) -> dict[int, Allocation]:
        """Create the kept buffers on another device, under their handles."""
        restored = {}
        for handle, kept in self._kept.items():
            kept.forget_reads()
            old = self._buffers[handle]
            new = device.memory.get_buffer("recover", old.nbytes, old.label)
            restored[handle] = new._replace(handle=handle)
            if kept.data:
                device.recorder.write(new.id, 0, kept.data, (len(kept.data) + 3) & ~3)
        return restored

    async def with_retry(self, fn: Callable[[], Any], attempts: int = 3) -> Any:
        """Call a function, and call it again after recovering from a loss of the GPU.

        Parameters
        ----------
        fn : callable
            A function without arguments. An awaitable result is awaited.
        attempts : int
            Maximum number of calls.

        Returns
        -------
        object
            The function's result.

        Raises
        ------
        DeviceLost
            If the GPU was lost in all calls.
        """
        op = "with_retry"
        if not callable(fn):
            raise InvalidArgument(op, "fn", fn, "a function without arguments")
        number = checks.integer(op, "attempts", attempts, 1)
        while True:
            try:
                result = fn()
                return await result if isawaitable(result) else result
            except DeviceLost:
                number -= 1
                if number == 0:
                    raise
                await self.recover()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # -- memory ----------------------------------------------------------------------------------

    def alloc(self, bytes: int, *, keep: bool = False, label: str = "") -> int:
        """Allocate a buffer with undefined contents and return its pointer.

        Parameters
        ----------
        bytes : int
            Size of the buffer.
        keep : bool
            Whether :meth:`recover` restores its contents.
        label : str
            Its name in statistics, errors and the browser's developer tools.

        Raises
        ------
        OutOfMemory
            If no buffer can be that large.
        """
        device = self.ready("alloc")
        nbytes = checks.integer("alloc", "bytes", bytes, maximum=2**53)
        kept = checks.flag("alloc", "keep", keep)
        if not isinstance(label, str):
            raise InvalidArgument("alloc", "label", label, "a string")
        buffer = device.memory.get_buffer("alloc", nbytes, label)
        self._buffers[buffer.handle] = buffer
        if kept:
            self._kept[buffer.handle] = KeptContents()
        return buffer.handle

    def free(self, ptr: int) -> None:
        """Free a buffer. Operations recorded with it still run."""
        device = self._opened("free")
        if type(ptr) is int and self._gone.pop(ptr, None) is not None:
            return  # lost with its device
        buffer = self._buffer("free", "ptr", ptr)
        del self._buffers[buffer.handle]
        self._kept.pop(buffer.handle, None)
        device.memory.return_buffer(buffer)

    def buffer_bytes(self, ptr: int) -> int:
        """Return the size with which a buffer was allocated."""
        self._opened("buffer_bytes")
        return self._buffer("buffer_bytes", "ptr", ptr).nbytes

    def copy_htod(self, dst: int, src: Any) -> None:
        """Copy a bytes-like object or NumPy array to the start of a buffer.

        Elements are copied in C order. Further bytes of the buffer stay the same. A big-endian
        array is converted to the GPU's little-endian order. float64 is refused; cast it with
        ``.astype(np.float32)``.
        """
        op = "copy_htod"
        device = self.ready(op)
        buffer = self._buffer(op, "dst", dst)
        view = host_memory.source_view(op, "src", src)
        self._check_room(op, "src", view.nbytes, "dst", buffer)
        transfers.write(device, buffer, 0, view)
        kept = self._kept.get(buffer.handle)
        if kept is not None and view.nbytes > 0:
            kept.write(_bytes_of(view).data)

    def copy_dtoh(self, dst: Any, src: int) -> None:
        """Fill a writable C-contiguous bytes-like object or NumPy array from the start of a buffer.

        A big-endian array gets the values in its own byte order. Waits for earlier operations.
        """
        platform.block_on(self.copy_dtoh_async(dst, src), "copy_dtoh")

    async def copy_dtoh_async(self, dst: Any, src: int) -> None:
        """Read a buffer, as :meth:`copy_dtoh` does, without blocking."""
        op = "copy_dtoh"
        device = self.ready(op)
        buffer = self._buffer(op, "src", src)
        view = host_memory.target_view(op, "dst", dst)
        self._check_room(op, "dst", view.nbytes, "src", buffer)
        if view.nbytes == 0:
            return
        received = host_memory.receiver(view)
        kept = self._kept.get(buffer.handle)
        if kept is None:
            await transfers.read(device, buffer, 0, received)
        else:
            await _read_kept(device, buffer, received, kept)
        host_memory.deliver(received, view)

    def synchronize(self, *, timeout: float | None = None) -> None:
        """Wait for all recorded operations, at most ``timeout`` seconds.

        Errors that the device reported are raised. After ``timeout`` seconds, Timeout is raised
        and the operations continue.
        """
        platform.block_on(self.synchronize_async(timeout=timeout), "synchronize")

    async def synchronize_async(self, *, timeout: float | None = None) -> None:
        """Wait for all recorded operations, as :meth:`synchronize` does, without blocking."""
        op = "synchronize"
        device = self.ready(op)
        seconds = None if timeout is None else checks.real(op, "timeout", timeout)
        if seconds is None:
            await device.recorder.synchronize()
            return
        try:
            # In a task of its own: wait_for() needs one, and a blocking call runs in none.
            await ensure_future(wait_for(device.recorder.synchronize(), seconds))
        except TimeoutError:
            raise Timeout(
                op, f"the GPU has not finished within {timeout} s. Wait again, or send less work."
            ) from None

    # -- checks ----------------------------------------------------------------------------------

    def ready(self, op: str) -> Device:
        """Return the open device.

        Raises NotInitialized if there is none, and DeviceLost if it is lost. ``op`` names the
        operation in the error.
        """
        device = self._open
        if device is None or device.recorder.loss[0]:
            raise lost(op, self._opened(op).recorder.recovery)
        return device

    def _opened(self, op: str) -> Device:
        """Return the open device, which may be lost."""
        if self._open is None:
            if self._closings:
                raise NotInitialized(op, "the backend is closed. Open it again with init().")
            raise NotInitialized(op, "call init() first, or await init_async()")
        return self._open

    def _buffer(self, op: str, name: str, ptr: Any) -> Allocation:
        buffer = self._buffers.get(ptr) if type(ptr) is int else self._lookup(ptr)
        if buffer is None:
            if type(ptr) is int and ptr in self._gone:
                raise DeviceLost(
                    op,
                    f"{name} is {ptr}, the buffer {self._gone[ptr]!r}, whose contents were lost "
                    "with the device (alloc with keep=True restores them)",
                )
            raise InvalidArgument(
                op, name, ptr, "a pointer from this backend's alloc that was not freed"
            )
        return buffer

    def _lookup(self, ptr: Any) -> Allocation | None:
        if isinstance(ptr, bool):
            return None
        try:
            return self._buffers.get(index(ptr))
        except TypeError:
            return None

    def _elements(self, op: str, name: str, ptr: Any, n: int, itemsize: int = _F32) -> Allocation:
        """Return the buffer of a pointer, which must hold n elements."""
        buffer = self._buffers.get(ptr) if type(ptr) is int else None
        if buffer is None:
            buffer = self._buffer(op, name, ptr)
        if n * itemsize > buffer.nbytes:
            raise InvalidArgument(
                op,
                name,
                Description(f"buffer {buffer.handle} of {byte_count(buffer.nbytes)}"),
                f"a buffer of at least {byte_count(n * itemsize)}, {n} elements of {itemsize}",
            )
        return buffer

    @staticmethod
    def _check_room(op: str, host: str, nbytes: int, device: str, buffer: Allocation) -> None:
        if nbytes > buffer.nbytes:
            raise InvalidArgument(
                op,
                host,
                Description(byte_count(nbytes)),
                f"at most as large as {device}, {byte_count(buffer.nbytes)}",
            )


async def _read_kept(
    device: Device, buffer: Allocation, view: memoryview, kept: KeptContents
) -> None:
    """Fill ``view`` from a kept buffer, and note the buffer's contents."""
    read = kept.begin_read()
    found = None
    try:
        # Read into separate memory, because other code may write to the view in the meantime.
        contents = bytearray(view.nbytes)
        await transfers.read(device, buffer, 0, memoryview(contents))
        found = memoryview(contents)
        _bytes_of(view)[:] = found
    finally:
        kept.end_read(read, found)


def _bytes_of(view: memoryview) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the bytes of non-empty contiguous memory, whatever its element type."""
    return np.frombuffer(view, np.uint8)


def _give_back(device: Device, buffers: dict[int, Allocation]) -> None:
    for buffer in buffers.values():
        device.memory.return_buffer(buffer)
