"""What kernels find wrong with values and tell late: indices outside of an axis.

A kernel that finds such an index writes its number and the index into a small buffer. The next read
or wait looks there, if a kernel that may have written ran since, and raises.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable
from struct import unpack

from browsergpu.core.errors import InvalidIndex
from browsergpu.core.places import users_place
from browsergpu.core.showing import Description, Shown
from browsergpu.gpu.memory import Allocation, BufferPool
from browsergpu.gpu.port import Gpu

_BYTES = 16
#: Checks whose places are remembered.
_MOST = 4096
_NUMBERS = 2**31 - 1


class Faults(Shown):
    """The buffer of a device, and where in the user's code its numbers come from."""

    def __init__(self, recorder: Gpu, memory: BufferPool) -> None:
        self._recorder = recorder
        self._memory = memory
        self._buffer: Allocation | None = None
        self._checks: OrderedDict[int, tuple[int, int, str]] = OrderedDict()
        self._last = 0
        #: Whether a kernel that checks was recorded since the last look.
        self.is_armed = False

    def _facts(self) -> str:
        return f"{len(self._checks)} checks, {'armed' if self.is_armed else 'not armed'}"

    @property
    def buffer(self) -> Allocation:
        """The buffer, made when the first kernel needs it. It stays as long as the device."""
        if self._buffer is None:
            self._buffer = self._memory.get_lasting("index", _BYTES, "faults")
        return self._buffer

    def check(self, axis: int, extent: int) -> int:
        """The number of a check that is recorded now, of indices along an axis."""
        self._last = self._last % _NUMBERS + 1
        self._checks[self._last] = axis, extent, users_place()
        if len(self._checks) > _MOST:
            self._checks.popitem(last=False)
        return self._last

    def replayed(self) -> None:
        """Says that kernels of a captured graph, which may check, were recorded."""
        self.is_armed |= self._buffer is not None

    async def after(self, waiting: Awaitable[None]) -> None:
        """Wait, and raise InvalidIndex, an IndexError, for what was found until then."""
        await waiting
        if not self.is_armed:
            return
        self.is_armed = False
        found = bytearray(_BYTES)
        try:
            await self._recorder.read(self.buffer.id, 0, memoryview(found), _BYTES)
        except BaseException:
            self.is_armed = True
            raise
        number, index = unpack("<Iq", found[:12])
        if number:
            self._recorder.clear(self.buffer.id, 0, _BYTES)
            raise self._error(number, index)

    def _error(self, number: int, index: int) -> InvalidIndex:
        axis, extent, place = self._checks.get(number, (0, 0, ""))
        where = f" in {place}" if place else ""
        if not extent:
            return InvalidIndex("index", "key", index, "indices of the axis")
        told = Description(f"{index} along axis {axis}{where}")
        return InvalidIndex("index", "key", told, f"indices from {-extent} to {extent - 1}")
