"""Host to device and back."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from browsergpu.core.showing import Shown
from browsergpu.gpu.native.engine import Engine
from browsergpu.gpu.native.fences import Fences

_SMALLEST = 4096  # bytes
_READ = 1 << 26  # bytes; what is larger is read in pieces
_WRITTEN = 1 << 24  # bytes; what is larger is written in pieces
_DIRECT = 1 << 20  # bytes up to which the engine's own way of writing is quicker
_MOST_IDLE = 4  # buffers for each direction

#: One core copies 2 to 5 GB/s to memory that is new to it, less than a bus carries.
_THREADS = 4
_SHARE = 1 << 22  # bytes that are worth a thread


class Piece(NamedTuple):
    """A part of a read: the buffer that carries it, where it begins, and its bytes."""

    staging: Any
    begin: int
    nbytes: int


class Read(Shown):
    """A range that the GPU copies to where it can be read. ``is_wanted``: somebody waits for it."""

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
        self._outbound: deque[Any] = deque()  # in the order in which the GPU has done with them

    @property
    def staging(self) -> int:
        """Buffers that wait to carry data again."""
        return len(self._idle) + len(self._outbound)

    def write(self, buffer: Any, at: int, source: Any, nbytes: int) -> None:
        """Uploads; the rest of a last word becomes 0."""
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
        """Encodes copies of a range to where it can be read."""
        pieces = []
        for begin in range(0, nbytes, _READ):
            count = min(_READ, nbytes - begin)
            staging = self._take(count)
            encoder.copy_buffer_to_buffer(buffer, at + begin, staging, 0, count)
            pieces.append(Piece(staging, begin, count))
        return Read(pieces)

    def finish(self, read: Read, target: memoryview) -> None:
        """Fills ``target`` with what was copied, while it is wanted; waits.

        A buffer carries data again once it is unmapped. One that could not be mapped does not.
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
        """Destroys the buffers that wait."""
        for staging in (*self._idle, *self._outbound):
            staging.destroy()
        self._idle.clear()
        self._outbound.clear()


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    """Copies bytes, by several threads where they are many: NumPy lets go of the GIL."""
    share = max(_SHARE, -(-source.size // _THREADS))
    parts = [slice(begin, begin + share) for begin in range(0, source.size, share)]
    if len(parts) < 2:
        target[:] = source
    else:
        list(_threads().map(lambda part: np.copyto(target[part], source[part]), parts))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="browsergpu-copy")
