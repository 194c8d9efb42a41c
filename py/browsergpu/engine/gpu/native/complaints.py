"""Errors that the GPU reported.

Every wait that had begun when an error was first raised raises it too. A read that fails leaves its
array unchanged, so it must not end without the error.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import NoReturn

from browsergpu.engine.core.errors import (
    BackendError,
    OutOfMemory,
    ShaderCompilation,
    ValidationError,
)
from browsergpu.engine.core.places import Section
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.port import OPEN_ANOTHER, closed, lost

#: Maximum number of errors that were not raised yet. Further errors are dropped.
_MOST = 64
#: Position of an error in a shader: Dawn's ":2:21 error", naga's "┌─ wgsl:2:21".
_PLACES = (re.compile(r"┌─ [^:]*:(\d+):(\d+)"), re.compile(r"(?:^|\s):(\d+):(\d+)"))

#: Creates the exception, because each raise needs its own traceback.
Complaint = Callable[[], BackendError]


class Complaints(Shown):
    """The numbered errors of one device."""

    def __init__(self) -> None:
        self._errors: list[tuple[int, Complaint]] = []
        self._numbers = count(1)
        self._reported = 0
        self._told = 0
        self._waits: dict[object, int] = {}
        self.lost = ""
        self.closed = False
        self.recovery = OPEN_ANOTHER

    def __len__(self) -> int:
        return len(self._errors)

    def note(self, complaint: Complaint) -> None:
        """Keep an error for the next wait."""
        if self._reported - self._told < _MOST:
            self._reported = next(self._numbers)
            self._errors.append((self._reported, complaint))

    def note_failure(self, op: str, error: Exception) -> None:
        """Keep an exception of the engine, in the name of an operation."""
        kind = OutOfMemory if isinstance(error, MemoryError) else ValidationError
        message = str(error)
        self.note(lambda: kind(op, message))

    def wait(self) -> _Wait:
        """Return a context manager for a wait. It yields a function that raises new errors."""
        return _Wait(self)

    def _raise_first(self, ticket: object) -> None:
        if self.closed or self.lost:
            self.raise_end("device")
        news = [complaint for number, complaint in self._errors if number > self._waits[ticket]]
        self._told = self._waits[ticket] = self._reported
        if news:
            error = news[0]()
            if len(news) > 1:
                error.args = (f"{error.args[0]} (and {len(news) - 1} more)",)
            raise error

    def raise_end(self, op: str) -> NoReturn:
        """Raise the error for a device that is closed or lost."""
        raise closed(op) if self.closed else lost(op, self.recovery, self.lost)

    def _forget(self) -> None:
        since = min(self._since())
        self._errors = [one for one in self._errors if one[0] > since]

    def _since(self) -> Iterator[int]:
        yield self._told
        yield from self._waits.values()


class _Wait(Shown):
    """A wait for the GPU.

    It is not an async generator. Event loops keep those in weak sets, whose Python code loses a
    KeyboardInterrupt that comes while it runs.
    """

    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints

    async def __aenter__(self) -> Callable[[], None]:
        self._complaints._waits[self] = self._complaints._told
        try:
            await asyncio.sleep(0)  # let concurrent waits begin
        except BaseException:
            self._end()
            raise
        return self._raise_first

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._raise_first()
        finally:
            self._end()

    def _raise_first(self) -> None:
        self._complaints._raise_first(self)

    def _end(self) -> None:
        self._complaints._waits.pop(self, None)
        self._complaints._forget()


def of_shader(op: str, error: Exception, sections: list[Section], recorded: str) -> Complaint:
    """Convert the engine's error of a shader, with the position in one of the code's files."""
    text = str(error)
    place = next((found for pattern in _PLACES if (found := pattern.search(text))), None)
    line, column = map(int, place.groups()) if place else (0, 0)
    section = next((one for one in reversed(sections) if one[1] <= line), sections[0])
    file, begin = section[:2]
    by_whom = section[2] if len(section) == 3 else recorded
    said = [part.strip() for part in text.splitlines() if "error" in part.lower()]
    message = said[-1] if said and place else text
    return lambda: ShaderCompilation(op, message, file, line and line - begin + 1, column, by_whom)
