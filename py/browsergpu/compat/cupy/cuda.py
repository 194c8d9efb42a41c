"""CUDA's devices, streams, events and memory pools by CuPy's names, as WebGPU has them."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Self

from browsergpu.arrays.context import current, device_of, open_tracer, use
from browsergpu.compat.cupy.once import warn_once
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.core.showing import Shown
from browsergpu.gpu import platform
from browsergpu.gpu.adapter_info import gpus

_ONE_QUEUE = "WebGPU has one queue: the work of all streams runs in the order of its calls"


def _wait(op: str, device: Any) -> None:
    """Wait until a device has computed all that was recorded, and raise what it reports."""
    platform.block_on(_waited(device), op)


async def _waited(device: Any) -> None:
    device.check_open("synchronize")
    await device.faults.after(device.recorder.synchronize())


class Device(Shown):
    """A GPU by its number, as ``cupy.cuda.Device``.

    In a ``with`` block new arrays are made on it. The device itself, a :class:`browsergpu.Device`,
    is ``device.device``.

    Parameters
    ----------
    device : int, optional
        The number among ``browsergpu.devices()``; None for the one in use.
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
        """The :class:`browsergpu.Device`, which is opened where it is not."""
        tracer = open_tracer()
        if tracer is not None and tracer.device.adapter.index == self.id:
            return tracer.device
        return current().device if tracer is None and self.id == 0 else device_of("cuda", self.id)

    def use(self) -> Self:
        """Make new arrays on it from now on."""
        use(self.device)
        return self

    def synchronize(self) -> None:
        """Wait until it has computed all that was recorded, and raise what it reports."""
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
        """Refused: there is none outside of CUDA."""
        message = "compute capabilities are CUDA's. Ask bg.default_device().adapter."
        raise Unsupported("cuda.Device.compute_capability", message)


class Stream(Shown):
    """The GPU's queue: WebGPU has one, so that all streams are the same and run in order."""

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
        priority: int | None = None,
    ) -> None:  # fmt: skip
        op = "cuda.Stream"
        for name, value in (("null", null), ("non_blocking", non_blocking), ("ptds", ptds)):
            checks.flag(op, name, value)
        if priority is not None:
            raise InvalidArgument(op, "priority", priority, "None, as WebGPU has no priorities")
        if not null:
            warn_once(op, _ONE_QUEUE)

    def _facts(self) -> str:
        return "of the one queue"

    def use(self) -> Self:
        """Nothing: work goes to the one queue anyway."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def synchronize(self) -> None:
        """Wait until the device in use has computed all that was recorded."""
        _wait("cuda.Stream.synchronize", current().device)

    def record(self, event: Event | None = None) -> Event:
        """Have an event warn_once when all that was recorded before is computed. Waits."""
        made = Event() if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Nothing: what was recorded before the event is computed before what comes after."""
        if not isinstance(event, Event):
            raise InvalidType("cuda.Stream.wait_event", "event", event, "an Event")


#: CuPy's ``Stream.null``.
NULL = Stream(null=True)
Stream.null = NULL  # type: ignore[attr-defined]


def get_current_stream(device_id: int | None = None) -> Stream:
    """The one stream."""
    if device_id is not None:
        checks.integer("cuda.get_current_stream", "device_id", device_id)
    return NULL


class Event(Shown):
    """A point in time, of the host's clock: ``record`` waits until all before is computed."""

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
        """Whether it was recorded: recording waits."""
        return self.seconds is not None

    def record(self, stream: Stream | None = None) -> None:
        """Wait until all that was recorded is computed, and keep the time."""
        if stream is not None and not isinstance(stream, Stream):
            raise InvalidType("cuda.Event.record", "stream", stream, "a Stream or None")
        _wait("cuda.Event.record", current().device)
        self.seconds = perf_counter()

    def synchronize(self) -> None:
        """Nothing: recording has waited."""


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events, by the host's clock."""
    op = "cuda.get_elapsed_time"
    times = []
    for name, event in (("start_event", start_event), ("end_event", end_event)):
        if not isinstance(event, Event) or event.seconds is None or not event._is_timed:
            raise InvalidArgument(op, name, event, "an Event with timing that was recorded")
        times.append(event.seconds)
    return 1000 * (times[1] - times[0])


class MemoryPool(Shown):
    """The buffers of the device in use, as ``cupy.get_default_memory_pool()`` has them."""

    def _facts(self) -> str:
        return "of the device in use"

    def malloc(self, size: int) -> Any:
        """Refused: what ``set_allocator`` is given is not called, as arrays have the buffers."""
        checks.integer("MemoryPool.malloc", "size", size, 0)
        raise Unsupported("MemoryPool.malloc", "buffers belong to arrays. Use bg.empty().")

    def used_bytes(self) -> int:
        """Bytes of buffers that arrays have."""
        return int(current().device.memory.in_use)

    def total_bytes(self) -> int:
        """Bytes of all buffers, also of those that wait for the next array."""
        return int(current().device.memory.allocated)

    def free_bytes(self) -> int:
        """Bytes of the buffers that wait for the next array."""
        return self.total_bytes() - self.used_bytes()

    def free_all_blocks(self, stream: Stream | None = None) -> None:
        """Destroy the buffers that wait for the next array."""
        if stream is not None and not isinstance(stream, Stream):
            raise InvalidType("MemoryPool.free_all_blocks", "stream", stream, "a Stream or None")
        current().device.memory.trim()

    def get_limit(self) -> int:
        """The most bytes that arrays may take, 0 where there is no limit."""
        limit = current().device.config.memory_limit
        return 0 if limit is None else int(limit)

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Refused: a device has the limit that it was opened with."""
        given = size if fraction is None else fraction
        expected = "given when the device is opened"
        advice = "Use bg.init(memory_limit=...)."
        raise InvalidArgument("MemoryPool.set_limit", "size", given, expected, advice)


class PinnedMemoryPool(Shown):
    """The host's memory of transfers, which the browser or the driver has."""

    def _facts(self) -> str:
        return "of the browser or the driver"

    def free_all_blocks(self) -> None:
        """Nothing, which a warning says once."""
        warn_once("PinnedMemoryPool.free_all_blocks", "the browser or the driver has this memory")

    def malloc(self, size: int) -> bytearray:
        """Return memory of the host: :func:`alloc_pinned_memory`."""
        return alloc_pinned_memory(size)

    def n_free_blocks(self) -> int:
        """0."""
        return 0


_POOL, _PINNED = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """The buffers of the device in use."""
    return _POOL


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The host's memory of transfers."""
    return _PINNED


def set_allocator(allocator: Any = None) -> None:
    """Nothing, which a warning says once: all arrays take their buffers from one pool."""
    if allocator is not None and not callable(allocator):
        raise InvalidType("cuda.set_allocator", "allocator", allocator, "a function or None")
    warn_once("cuda.set_allocator", "all arrays take their buffers from one pool, which stays")


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """Nothing, which a warning says once: the browser or the driver has this memory."""
    op = "cuda.set_pinned_memory_allocator"
    if allocator is not None and not callable(allocator):
        raise InvalidType(op, "allocator", allocator, "a function or None")
    warn_once(op, "the browser or the driver has the memory of transfers")


def alloc_pinned_memory(size: int) -> bytearray:
    """Return memory of the host, in which a NumPy array can be made."""
    return bytearray(checks.integer("cuda.alloc_pinned_memory", "size", size, 0))


class Streams(Shown):
    """``cupy.cuda.stream``: the names of streams and events."""

    Event, Stream = Event, Stream
    get_current_stream = staticmethod(get_current_stream)
    get_elapsed_time = staticmethod(get_elapsed_time)

    def _facts(self) -> str:
        return "and events"


stream = Streams()


class Runtime(Shown):
    """CUDA's runtime functions that have a meaning here."""

    def _facts(self) -> str:
        return "WebGPU"

    def getDeviceCount(self) -> int:
        """How many GPUs there are."""
        return platform.block_on(_count(), "cuda.runtime.getDeviceCount")

    def getDevice(self) -> int:
        """The number of the device in use."""
        return Device().id

    def setDevice(self, device: int) -> None:
        """Make new arrays on a device from now on."""
        Device(device).use()

    def deviceSynchronize(self) -> None:
        """Wait until the device in use has computed all that was recorded."""
        Device().synchronize()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Runtime' object has no attribute {name!r}")
        message = "this is CUDA's alone. Ask bg.default_device() of the GPU."
        raise Unsupported(f"cuda.runtime.{name}", message)


async def _count() -> int:
    return len(gpus(await platform.list_adapters("cuda.runtime.getDeviceCount")))


runtime = Runtime()


def is_available() -> bool:
    """Whether there is WebGPU."""
    return platform.is_available()
