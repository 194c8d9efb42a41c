"""CuPy's devices, streams, events and memory pools, implemented with WebGPU."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Self

from browsergpu.arrays.context import current, device_of, open_tracer, use
from browsergpu.compat.cupy.once import warn_once
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.adapter_info import gpus

_ONE_QUEUE = "WebGPU has one queue, so the work of all streams runs in the order of the calls"


def _wait(op: str, device: Any) -> None:
    """Wait until a device has finished all recorded work, and raise its errors."""
    platform.block_on(_waited(device), op)


async def _waited(device: Any) -> None:
    device.check_open("synchronize")
    await device.faults.after(device.recorder.synchronize())


class Device(Shown):
    """A GPU, as ``cupy.cuda.Device``.

    New arrays in a ``with`` block are created on it.

    Parameters
    ----------
    device : int, optional
        The index in ``browsergpu.devices()``. None means the current device.
    """

    def __init__(self, device: int | None = None) -> None:
        op = "cuda.Device"
        if device is None:
            tracer = open_tracer()
            device = 0 if tracer is None else tracer.device.adapter.index
        self.id = checks.integer(op, "device", device)
        self._before: list[Any] = []

    def _facts(self) -> str:
        return f"{self.id}"

    @property
    def device(self) -> Any:
        """The :class:`browsergpu.Device`. It is opened if necessary."""
        tracer = open_tracer()
        if tracer is not None and tracer.device.adapter.index == self.id:
            return tracer.device
        return current().device if tracer is None and self.id == 0 else device_of("cuda", self.id)

    def use(self) -> Self:
        """Make it the current device, on which new arrays are created."""
        use(self.device)
        return self

    def synchronize(self) -> None:
        """Wait until it has finished all recorded work, and raise its errors."""
        _wait("cuda.Device.synchronize", self.device)

    def __enter__(self) -> Self:
        self._before.append(current().device)
        return self.use()

    def __exit__(self, *error: object) -> None:
        use(self._before.pop())

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def compute_capability(self) -> str:
        """Not supported. Only CUDA has compute capabilities."""
        message = "only CUDA has compute capabilities. Use bg.default_device().adapter."
        raise Unsupported("cuda.Device.compute_capability", message)


class Stream(Shown):
    """A stream, as ``cupy.cuda.Stream``. WebGPU has one queue, so all streams run in order."""

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
        priority: int | None = None,
    ) -> None:  # fmt: skip
        op = "cuda.Stream"
        for name, value in (("null", null), ("non_blocking", non_blocking), ("ptds", ptds)):
            checks.flag(op, name, value)
        if priority is not None:
            raise InvalidArgument(op, "priority", priority, "None", "WebGPU has no priorities.")
        if not null:
            warn_once(op, _ONE_QUEUE)

    def _facts(self) -> str:
        return "of the one queue"

    def use(self) -> Self:
        """Do nothing, because there is one queue."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def synchronize(self) -> None:
        """Wait until the current device has finished all recorded work."""
        _wait("cuda.Stream.synchronize", current().device)

    def record(self, event: Event | None = None) -> Event:
        """Wait until all recorded work is finished, and record an event."""
        made = Event() if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Do nothing, because the queue keeps the order."""
        if not isinstance(event, Event):
            raise InvalidType("cuda.Stream.wait_event", "event", event, "an Event")


#: CuPy's ``Stream.null``.
NULL = Stream(null=True)
Stream.null = NULL  # type: ignore[attr-defined]


def get_current_stream(device_id: int | None = None) -> Stream:
    """Return the null stream. All streams are the same queue."""
    if device_id is not None:
        checks.integer("cuda.get_current_stream", "device_id", device_id)
    return NULL


class Event(Shown):
    """A point in time of the host's clock. ``record`` waits for all earlier work."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        op = "cuda.Event"
        checks.flag(op, "block", block)
        self._is_timed = not checks.flag(op, "disable_timing", disable_timing)
        if checks.flag(op, "interprocess", interprocess):
            raise InvalidArgument(op, "interprocess", interprocess, "False")
        self.seconds: float | None = None

    def _facts(self) -> str:
        return "not recorded" if self.seconds is None else f"at {self.seconds} s"

    @property
    def done(self) -> bool:
        """Whether the event was recorded. ``record`` waits, so its work is finished then."""
        return self.seconds is not None

    def record(self, stream: Stream | None = None) -> None:
        """Wait until all recorded work is finished, and save the time."""
        if stream is not None and not isinstance(stream, Stream):
            raise InvalidType("cuda.Event.record", "stream", stream, "a Stream or None")
        _wait("cuda.Event.record", current().device)
        self.seconds = perf_counter()

    def synchronize(self) -> None:
        """Do nothing, because ``record`` waits."""


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Return the milliseconds between two events, measured by the host's clock."""
    op = "cuda.get_elapsed_time"
    times = []
    for name, event in (("start_event", start_event), ("end_event", end_event)):
        if not isinstance(event, Event) or event.seconds is None or not event._is_timed:
            raise InvalidArgument(op, name, event, "a recorded Event with timing")
        times.append(event.seconds)
    return 1000 * (times[1] - times[0])


class MemoryPool(Shown):
    """The buffer pool of the current device, as returned by ``cupy.get_default_memory_pool()``."""

    def _facts(self) -> str:
        return "of the device in use"

    def malloc(self, size: int) -> Any:
        """Not supported. Arrays own their buffers, so allocators are never called."""
        checks.integer("MemoryPool.malloc", "size", size, 0)
        raise Unsupported("MemoryPool.malloc", "buffers belong to arrays. Use bg.empty().")

    def used_bytes(self) -> int:
        """Return the bytes of buffers in use by arrays."""
        return int(current().device.memory.in_use)

    def total_bytes(self) -> int:
        """Return the bytes of all buffers, including free ones."""
        return int(current().device.memory.allocated)

    def free_bytes(self) -> int:
        """Return the bytes of free buffers, which new arrays reuse."""
        return self.total_bytes() - self.used_bytes()

    def free_all_blocks(self, stream: Stream | None = None) -> None:
        """Destroy the free buffers."""
        if stream is not None and not isinstance(stream, Stream):
            raise InvalidType("MemoryPool.free_all_blocks", "stream", stream, "a Stream or None")
        current().device.memory.trim()

    def get_limit(self) -> int:
        """Return the memory limit in bytes, or 0 without a limit."""
        limit = current().device.config.memory_limit
        return 0 if limit is None else int(limit)

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Not supported. The limit is set when the device is opened."""
        given = size if fraction is None else fraction
        expected = "set when the device is opened"
        advice = "Use bg.init(memory_limit=...)."
        raise InvalidArgument("MemoryPool.set_limit", "size", given, expected, advice)


class PinnedMemoryPool(Shown):
    """Host memory for transfers, which the browser or the driver manages."""

    def _facts(self) -> str:
        return "managed by the browser or the driver"

    def free_all_blocks(self) -> None:
        """Do nothing, with one warning."""
        name = "PinnedMemoryPool.free_all_blocks"
        warn_once(name, "the browser or the driver manages this memory")

    def malloc(self, size: int) -> bytearray:
        """Return host memory, as :func:`alloc_pinned_memory`."""
        return alloc_pinned_memory(size)

    def n_free_blocks(self) -> int:
        """Return 0."""
        return 0


_POOL, _PINNED = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """Return the buffer pool of the current device."""
    return _POOL


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool of host memory for transfers."""
    return _PINNED


def set_allocator(allocator: Any = None) -> None:
    """Do nothing, with one warning. All arrays share one buffer pool."""
    if allocator is not None and not callable(allocator):
        raise InvalidType("cuda.set_allocator", "allocator", allocator, "a function or None")
    warn_once(
        "cuda.set_allocator", "all arrays share one pool of buffers, which cannot be replaced"
    )


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """Do nothing, with one warning. The browser or the driver manages this memory."""
    op = "cuda.set_pinned_memory_allocator"
    if allocator is not None and not callable(allocator):
        raise InvalidType(op, "allocator", allocator, "a function or None")
    warn_once(op, "the browser or the driver manages the memory for transfers")


def alloc_pinned_memory(size: int) -> bytearray:
    """Return a bytearray of host memory, for ``np.frombuffer``."""
    return bytearray(checks.integer("cuda.alloc_pinned_memory", "size", size, 0))


class Streams(Shown):
    """Names of the module ``cupy.cuda.stream``."""

    Event, Stream = Event, Stream
    get_current_stream = staticmethod(get_current_stream)
    get_elapsed_time = staticmethod(get_elapsed_time)

    def _facts(self) -> str:
        return "and events"


stream = Streams()


class Runtime(Shown):
    """Functions of ``cupy.cuda.runtime`` that apply to WebGPU."""

    def _facts(self) -> str:
        return "WebGPU"

    def getDeviceCount(self) -> int:
        """Return the number of GPUs."""
        return platform.block_on(_count(), "cuda.runtime.getDeviceCount")

    def getDevice(self) -> int:
        """Return the index of the current device."""
        return Device().id

    def setDevice(self, device: int) -> None:
        """Make a device the current one, on which new arrays are created."""
        Device(device).use()

    def deviceSynchronize(self) -> None:
        """Wait until the current device has finished all recorded work."""
        Device().synchronize()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Runtime' object has no attribute {name!r}")
        message = "only CUDA has it. Use bg.default_device() for properties of the GPU."
        raise Unsupported(f"cuda.runtime.{name}", message)


async def _count() -> int:
    return len(gpus(await platform.list_adapters("cuda.runtime.getDeviceCount")))


runtime = Runtime()


def is_available() -> bool:
    """Return whether WebGPU is available."""
    return platform.is_available()
