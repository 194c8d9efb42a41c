"""Buffers of GPU memory, with usages, ranges and mapping."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from typing import Any

import numpy as np

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, NotInitialized
from browsergpu.engine.core.showing import byte_count
from browsergpu.engine.device import host_memory
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import memory, platform
from browsergpu.engine.tensors import transfers


class BufferUsage(StrEnum):
    """The allowed uses of a buffer, by WebGPU's names. Other calls are refused.

    storage and uniform bind the buffer to kernels. copy_src and map_read let the host read it.
    copy_dst and map_write let the host write it.
    """

    STORAGE = "storage"
    UNIFORM = "uniform"
    COPY_SRC = "copy_src"
    COPY_DST = "copy_dst"
    MAP_READ = "map_read"
    MAP_WRITE = "map_write"


class MapMode(StrEnum):
    """The access of the host to a mapped range."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "read_write"


_ALL = tuple(BufferUsage)


class Buffer:
    """``nbytes`` of a device's memory, or a range of another Buffer.

    Memory comes from the device's pool. It is freed when the buffer and its ranges are garbage, or
    by :meth:`free`. Offsets and sizes are in bytes and need no alignment.

    Parameters
    ----------
    device : Device
        The device.
    nbytes : int
        The size.
    usage : iterable of BufferUsage or str
        The allowed uses, by default all.
    label : str
        A name for error messages.
    """

    def __init__(
        self,
        device: Device,
        nbytes: int,
        *,
        usage: Iterable[BufferUsage | str] = _ALL,
        label: str = "",
    ) -> None:
        op = "Buffer"
        if not isinstance(device, Device):
            raise InvalidArgument(op, "device", device, "a Device")
        size = checks.integer(op, "nbytes", nbytes, maximum=2**53)
        given = (usage,) if isinstance(usage, str) else tuple(usage)
        self.usage = frozenset(checks.choice(op, "usage", u, BufferUsage) for u in given)
        if not self.usage:
            raise InvalidArgument(op, "usage", usage, "have at least one usage")
        self.device = device
        self.label = label
        self.nbytes = size
        self._offset = 0
        self._parent: Buffer | None = None
        self._allocation = device.memory.get_buffer(op, size, label)
        device.memory.owned_by(self, self._allocation)

    @property
    def allocation(self) -> memory.Allocation:
        """The underlying buffer of the pool.

        Raises NotInitialized after :meth:`free`, and after the device is closed.
        """
        root = self if self._parent is None else self._parent
        self.device.check_open("Buffer")
        if not self.device.memory.is_owned(root, root._allocation):
            raise NotInitialized("Buffer", f"buffer {self.label!r} was freed")
        return root._allocation

    def free(self) -> None:
        """Free the memory now. This does nothing for a range, or the second time."""
        if self._parent is None:
            self.device.memory.free(self, self._allocation)

    def range(self, offset: int, nbytes: int | None = None) -> Buffer:
        """Return a Buffer that shares part of this memory.

        Parameters
        ----------
        offset : int
            The start of the range.
        nbytes : int, optional
            Its size, by default up to the end.
        """
        start, size = self._range("range", offset, nbytes)
        part = object.__new__(Buffer)
        part.device, part.label, part.usage = self.device, self.label, self.usage
        part.nbytes = size
        part._offset = self._offset + start
        part._parent = self if self._parent is None else self._parent
        return part

    def write_data(self, data: Any, offset: int = 0) -> None:
        """Copy a bytes-like object or NumPy array to ``offset``. Other bytes stay."""
        op = "write_data"
        self._allow(op, BufferUsage.COPY_DST, BufferUsage.MAP_WRITE)
        view = host_memory.source_view(op, "data", data)
        start, _ = self._range(op, offset, view.nbytes)
        transfers.write(self.device, self.allocation, self._offset + start, view)

    def read_data(self, offset: int = 0, nbytes: int | None = None) -> bytes:
        """Return ``nbytes`` bytes from ``offset``, by default up to the end. Waits for the GPU."""
        return platform.block_on(self.read_data_async(offset, nbytes), "read_data")

    async def read_data_async(self, offset: int = 0, nbytes: int | None = None) -> bytes:
        """Return bytes: :meth:`read_data` for callers that cannot block."""
        op = "read_data"
        self._allow(op, BufferUsage.COPY_SRC, BufferUsage.MAP_READ)
        start, size = self._range(op, offset, nbytes)
        contents = bytearray(size)
        await self._fill(start, contents)
        return bytes(contents)

    @contextmanager
    def map(
        self, mode: MapMode | str = MapMode.READ, offset: int = 0, nbytes: int | None = None
    ) -> Iterator[np.ndarray[Any, np.dtype[np.uint8]]]:
        """Map a range as a uint8 array in a ``with`` block. Waits for the GPU if it reads.

        Parameters
        ----------
        mode : MapMode or str
            "read" gives the contents, read-only. "write" gives zeros, and copies the array to the
            GPU when the block ends. "read_write" does both. Nothing is copied after an exception.
        offset : int
            The start of the range.
        nbytes : int, optional
            Its size, by default up to the end.

        Yields
        ------
        ndarray
            ``array.view(np.float32)`` reads it as floats.
        """
        start, array, kind = self._begin_map(mode, offset, nbytes)
        if kind is not MapMode.WRITE:
            platform.block_on(self._fill(start, array), "map", "`async with x.map_async(...)`")
        array.flags.writeable = kind is not MapMode.READ
        yield array
        self._end_map(start, array, kind)

    @asynccontextmanager
    async def map_async(
        self, mode: MapMode | str = MapMode.READ, offset: int = 0, nbytes: int | None = None
    ) -> AsyncIterator[np.ndarray[Any, np.dtype[np.uint8]]]:
        """Map a range in an ``async with`` block: :meth:`map` for callers that cannot block."""
        start, array, kind = self._begin_map(mode, offset, nbytes)
        if kind is not MapMode.WRITE:
            await self._fill(start, array)
        array.flags.writeable = kind is not MapMode.READ
        yield array
        self._end_map(start, array, kind)

    def _begin_map(
        self, mode: MapMode | str, offset: int, nbytes: int | None
    ) -> tuple[int, np.ndarray[Any, np.dtype[np.uint8]], MapMode]:
        kind = checks.choice("map", "mode", mode, MapMode)
        if kind is not MapMode.WRITE:
            self._allow("map", BufferUsage.MAP_READ)
        if kind is not MapMode.READ:
            self._allow("map", BufferUsage.MAP_WRITE)
        start, size = self._range("map", offset, nbytes)
        _ = self.allocation  # raises if the memory is freed
        return start, np.zeros(size, np.uint8), kind

    def _end_map(self, start: int, array: np.ndarray[Any, Any], kind: MapMode) -> None:
        if kind is not MapMode.READ:
            transfers.write(self.device, self.allocation, self._offset + start, array.data)

    async def _fill(self, start: int, target: Any) -> None:
        place = self._offset + start
        await transfers.read(self.device, self.allocation, place, memoryview(target))

    def _range(self, op: str, offset: int, nbytes: int | None) -> tuple[int, int]:
        start = checks.integer(op, "offset", offset, maximum=2**53)
        if start > self.nbytes:
            raise InvalidArgument(
                op, "offset", offset, f"at most the buffer's size, {byte_count(self.nbytes)}"
            )
        room = self.nbytes - start
        size = room if nbytes is None else checks.integer(op, "nbytes", nbytes, maximum=2**53)
        if size > room:
            raise InvalidArgument(
                op, "nbytes", size, f"at most {room}, of a buffer of {byte_count(self.nbytes)}"
            )
        return start, size

    def _allow(self, op: str, *any_of: BufferUsage) -> None:
        if not self.usage.intersection(any_of):
            names = " or ".join(any_of)
            raise InvalidArgument(
                op,
                "buffer",
                self,
                f"a buffer of usage {names}",
            )

    def __len__(self) -> int:
        return self.nbytes

    def __repr__(self) -> str:
        label = f" {self.label!r}" if self.label else ""
        usage = ", ".join(sorted(self.usage))
        return f"<Buffer{label} of {byte_count(self.nbytes)}, {usage}>"
