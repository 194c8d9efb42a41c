"""Invalid values that kernels report late: indices out of range, and singular matrices.

A kernel that finds such a value writes the number of its check and another number into a small
buffer. The next read or wait checks that buffer, if such a kernel ran since, and raises the error.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from struct import unpack

from browsergpu.engine.core.errors import BackendError, ValidationError
from browsergpu.engine.core.places import users_place
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.memory import Allocation, BufferPool
from browsergpu.engine.gpu.port import Gpu

#: A function that makes the error from the kernel's number and the line of the user's code.
Tell = Callable[[int, str], BackendError]

_BYTES = 16
#: Maximum number of checks whose lines are remembered.
_MOST = 4096
_NUMBERS = 2**31 - 1


class Faults(Shown):
    """The fault buffer of a device, and the lines of the user's code for its check numbers."""

    def __init__(self, recorder: Gpu, memory: BufferPool) -> None:
        self._recorder = recorder
        self._memory = memory
        self._buffer: Allocation | None = None
        self._checks: OrderedDict[int, tuple[Tell, str]] = OrderedDict()
        self._last = 0
        #: Whether a kernel with a check was recorded since the buffer was last read.
        self.is_armed = False

    def _facts(self) -> str:
        return f"{len(self._checks)} checks, {'armed' if self.is_armed else 'not armed'}"

    @property
    def buffer(self) -> Allocation:
        """The buffer, created on first use. It lives as long as the device."""
        if self._buffer is None:
            self._buffer = self._memory.get_lasting("index", _BYTES, "faults")
        return self._buffer

    def number(self, tell: Tell) -> int:
        """Return a number for a check that is being recorded."""
        self._last = self._last % _NUMBERS + 1
        self._checks[self._last] = tell, users_place()
        if len(self._checks) > _MOST:
            self._checks.popitem(last=False)
        return self._last

    def replayed(self) -> None:
        """Note that kernels of a captured graph, which may have checks, were recorded."""
        self.is_armed |= self._buffer is not None

    async def after(self, waiting: Awaitable[None]) -> None:
        """Wait, and raise the error of the first invalid value found by then."""
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
        number, value = unpack("<Iq", found[:12])
        if number:
            self._recorder.clear(self.buffer.id, 0, _BYTES)
            raise self._error(number, value)

    def _error(self, number: int, found: int) -> BackendError:
        noted = self._checks.get(number)
        if noted is None:
            return ValidationError(
                "wait",
                f"an index was out of range or a matrix singular, more than {_MOST} checks ago",
            )
        tell, place = noted
        return tell(found, place)
