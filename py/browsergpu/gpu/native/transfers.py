"""Host to device and back."""

from __future__ import annotations

from typing import Any, NamedTuple

_SMALLEST = 4096  # bytes
_PIECE = 1 << 26  # bytes; what is larger is read in pieces
_MOST_IDLE = 4  # buffers


class Piece(NamedTuple):
    """A part of a read: the buffer that carries it, where it begins, and its bytes."""

    staging: Any
    begin: int
    nbytes: int


class Transfers:
    """The uploads and reads of one device."""

    def __init__(self, device: Any, api: Any) -> None:
        self._device = device
        self._api = api
        self._idle: list[Any] = []

    @property
    def staging(self) -> int:
        """Buffers that wait to carry data again."""
        return len(self._idle)

    def write(self, buffer: Any, at: int, source: Any, nbytes: int) -> None:
        """Uploads; the rest of a last word becomes 0."""
        data = memoryview(source).cast("B") if nbytes else memoryview(b"")
        whole = min(data.nbytes, nbytes) & ~3
        queue = self._device.queue
        if whole:
            queue.write_buffer(buffer, at, data, 0, whole)
        if whole < nbytes:
            queue.write_buffer(buffer, at + whole, bytes(data[whole:nbytes]).ljust(4, b"\0"))

    def begin(self, buffer: Any, at: int, nbytes: int) -> list[Piece]:
        """Has a range copied to where it can be read, as it is now."""
        pieces = []
        encoder = self._device.create_command_encoder()
        for begin in range(0, nbytes, _PIECE):
            count = min(_PIECE, nbytes - begin)
            staging = self._take(count)
            encoder.copy_buffer_to_buffer(buffer, at + begin, staging, 0, count)
            pieces.append(Piece(staging, begin, count))
        self._device.queue.submit([encoder.finish()])
        return pieces

    def finish(self, pieces: list[Piece], target: memoryview) -> None:
        """Fills ``target`` with what was copied; waits."""
        out = target.cast("B")
        for staging, begin, count in pieces:
            staging.map_sync(self._api.MapMode.READ, 0, count)
            fits = min(count, out.nbytes - begin)
            out[begin : begin + fits] = staging.read_mapped(0, count, copy=False)[:fits]
            staging.unmap()

    def give_back(self, pieces: list[Piece]) -> None:
        """Takes back what a read has used."""
        self._idle += [piece.staging for piece in pieces]
        self._idle.sort(key=lambda one: one.size)
        while len(self._idle) > _MOST_IDLE:
            self._idle.pop().destroy()

    def _take(self, nbytes: int) -> Any:
        for i, staging in enumerate(self._idle):
            if staging.size >= nbytes:
                return self._idle.pop(i)
        usage = self._api.BufferUsage
        size = max(_SMALLEST, 1 << (nbytes - 1).bit_length())
        return self._device.create_buffer(
            size=size, usage=usage.MAP_READ | usage.COPY_DST, label="staging"
        )

    def trim(self) -> None:
        """Destroys the buffers that wait."""
        while self._idle:
            self._idle.pop().destroy()
