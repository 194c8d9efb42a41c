"""Transfers between host and device."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native.engine import Engine
from browsergpu.engine.gpu.native.fences import Fences

_SMALLEST = 4096  # bytes
_READ = 1 << 26  # bytes; larger reads are split
_WRITTEN = 1 << 24  # bytes; larger writes are split
_DIRECT = 1 << 20  # bytes up to which the engine's own upload is faster
_MOST_IDLE = 4  # buffers for each direction

#: One core copies 2 to 5 GB/s to newly allocated memory, less than the bus transfers.
_THREADS = 4
_SHARE = 1 << 22  # minimum bytes for each thread


class Piece(NamedTuple):
    """Part of a read: its staging buffer, first byte, and size in bytes."""

    staging: Any
    begin: int
    nbytes: int


class Read(Shown):
    """A range that the GPU copies to staging buffers. ``is_wanted`` is False if it is abandoned."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces
        self.is_wanted = True


class Transfers(Shown):
    """The uploads and reads of one device."""

    def __init__(self, engine: Engine, device: Any, fences: Fences) -> None:
        self._engine = engine
        self._device = device
        self._fences = fences
        self._idle: list[Any] = []
        self._outbound: deque[Any] = deque()  # in the order in which the GPU finishes with them

    @property
    def staging(self) -> int:
        """Number of idle staging buffers."""
        return len(self._idle) + len(self._outbound)

    def write(self, buffer: Any, at: int, source: Any, nbytes: int) -> None:
        """Upload data. The rest of the last word becomes 0."""
        data = memoryview(source).cast("B") if nbytes else memoryview(b"")
        whole = min(data.nbytes, nbytes) & ~3
        if whole > _DIRECT:
            self._write_in_pieces(buffer, at, np.frombuffer(data, np.uint8, whole))
        elif whole:
            self._engine.upload(self._device, buffer, at, data, whole)
        if whole < nbytes:
            rest = bytes(data[whole:nbytes]).ljust(4, b"\0")
            self._engine.upload(self._device, buffer, at + whole, rest, 4)

    def _write_in_pieces(self, buffer: Any, at: int, data: np.ndarray) -> None:
        for begin in range(0, data.size, _WRITTEN):
            part = data[begin : begin + _WRITTEN]
            if len(self._outbound) < _MOST_IDLE:
                staging, room = self._new_outbound()
            else:
                staging = self._outbound.popleft()
                room = self._fences.map(staging, _WRITTEN, write=True)
            _copy(part, room[: part.size])
            del room
            self._fences.unmap(staging)
            self._outbound.append(staging)
            encoder = self._device.create_command_encoder()
            encoder.copy_buffer_to_buffer(staging, 0, buffer, at + begin, part.size)
            self._device.queue.submit([encoder.finish()])

    def _new_outbound(self) -> tuple[Any, np.ndarray]:
        usage = self._engine.api.BufferUsage
        staging = self._device.create_buffer(
            size=_WRITTEN,
            usage=usage.MAP_WRITE | usage.COPY_SRC,
            mapped_at_creation=True,
            label="staging",
        )
        return staging, self._fences.mapped(staging, _WRITTEN)

    def begin(self, encoder: Any, buffer: Any, at: int, nbytes: int) -> Read:
        """Encode copies of a range to staging buffers."""
        pieces = []
        for begin in range(0, nbytes, _READ):
            count = min(_READ, nbytes - begin)
            staging = self._take(count)
            encoder.copy_buffer_to_buffer(buffer, at + begin, staging, 0, count)
            pieces.append(Piece(staging, begin, count))
        return Read(pieces)

    def finish(self, read: Read, target: memoryview) -> None:
        """Wait for a read and copy it into ``target``, as long as it is wanted.

        A staging buffer is reused once it is unmapped. It is not reused if mapping it fails.
        """
        out = np.frombuffer(target, np.uint8)
        while read.pieces:
            staging, begin, count = read.pieces.pop()
            if read.is_wanted:
                mapped = self._fences.map(staging, count)
                part = out[begin : begin + count]
                _copy(mapped[: part.size], part)
                del mapped
                self._fences.unmap(staging)
            self._keep(staging)

    def _keep(self, staging: Any) -> None:
        self._idle.append(staging)
        self._idle.sort(key=lambda one: one.size)
        while len(self._idle) > _MOST_IDLE:
            self._idle.pop().destroy()

    def _take(self, nbytes: int) -> Any:
        for i, staging in enumerate(self._idle):
            if staging.size >= nbytes:
                return self._idle.pop(i)
        usage = self._engine.api.BufferUsage
        size = max(_SMALLEST, 1 << (nbytes - 1).bit_length())
        return self._device.create_buffer(
            size=size, usage=usage.MAP_READ | usage.COPY_DST, label="staging"
        )

    def trim(self) -> None:
        """Destroy the idle staging buffers."""
        for staging in (*self._idle, *self._outbound):
            staging.destroy()
        self._idle.clear()
        self._outbound.clear()


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    """Copy bytes, in several threads if there are many. NumPy releases the GIL."""
    share = max(_SHARE, -(-source.size // _THREADS))
    parts = [slice(begin, begin + share) for begin in range(0, source.size, share)]
    if len(parts) < 2:
        target[:] = source
    else:
        list(_threads().map(lambda part: np.copyto(target[part], source[part]), parts))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="browsergpu-copy")
