"""The host's copy of a buffer, which can outlive the device."""

from __future__ import annotations

from browsergpu.engine.core.showing import Shown


class KeptRead(Shown):
    """A read in progress. ``newer`` is the number of first bytes that are newer than the read."""

    __slots__ = ("newer",)

    def __init__(self) -> None:
        self.newer = 0


class KeptContents(Shown):
    """The bytes that the host last wrote to a buffer or read from it.

    Writes and reads start at the buffer's first byte. A read returns the buffer's contents at the
    time when the read began. It does not update bytes that were written since then, or that a later
    read returned.
    """

    __slots__ = ("_reads", "data")

    def __init__(self) -> None:
        #: The buffer's bytes, up to the last known one.
        self.data = bytearray()
        self._reads: list[KeptRead] = []  # in progress, in the order of their start

    def write(self, data: memoryview) -> None:
        """Note a write to the start of the buffer."""
        self._replace(0, data)
        for read in self._reads:
            read.newer = max(read.newer, len(data))

    def begin_read(self) -> KeptRead:
        """Note the start of a read. :meth:`end_read` must follow in any case."""
        read = KeptRead()
        self._reads.append(read)
        return read

    def end_read(self, read: KeptRead, data: memoryview | None) -> None:
        """Note the bytes that a read returned. ``data`` is None if the read failed."""
        if read not in self._reads:
            return
        at = self._reads.index(read)
        del self._reads[at]
        if data is None:
            return
        self._replace(read.newer, data)
        for earlier in self._reads[:at]:
            earlier.newer = max(earlier.newer, len(data))

    def forget_reads(self) -> None:
        """Ignore the reads in progress, because their buffer has been replaced."""
        self._reads.clear()

    def _replace(self, start: int, data: memoryview) -> None:
        """Replace the bytes from ``start`` on, in place."""
        end = min(len(self.data), len(data))
        if start < end:
            with memoryview(self.data) as whole:
                whole[start:end] = data[start:end]
        self.data += data[end:]
