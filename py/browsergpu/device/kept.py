"""The host's copy of a buffer that is to outlive its device."""

from __future__ import annotations

from browsergpu.core.showing import Shown


class KeptRead(Shown):
    """A read that has begun. ``newer`` counts the first bytes that are known better since then."""

    __slots__ = ("newer",)

    def __init__(self) -> None:
        self.newer = 0


class KeptContents(Shown):
    """What the host last wrote to a buffer or read from it, byte for byte.

    Writes and reads start at the buffer's first byte. A read shows the buffer as it was when the
    read began: of what was written since then, or seen by a read that began later, it says nothing.
    """

    __slots__ = ("_reads", "data")

    def __init__(self) -> None:
        #: The buffer's bytes up to the last one that is known.
        self.data = bytearray()
        self._reads: list[KeptRead] = []  # under way, in the order in which they began

    def write(self, data: memoryview) -> None:
        """Notes bytes that were written to the start of the buffer."""
        self._replace(0, data)
        for read in self._reads:
            read.newer = max(read.newer, len(data))

    def begin_read(self) -> KeptRead:
        """Notes that a read begins; :meth:`end_read` must follow, however it ends."""
        read = KeptRead()
        self._reads.append(read)
        return read

    def end_read(self, read: KeptRead, data: memoryview | None) -> None:
        """Notes what a read saw of the start of the buffer; None where it failed."""
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
        """Takes no notice of the reads under way: their buffer has been replaced."""
        self._reads.clear()

    def _replace(self, start: int, data: memoryview) -> None:
        """Takes over the bytes from ``start`` on, in place: most of them may stay as they are."""
        end = min(len(self.data), len(data))
        if start < end:
            with memoryview(self.data) as whole:
                whole[start:end] = data[start:end]
        self.data += data[end:]
