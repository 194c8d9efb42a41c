"""What the GPU's side reported. An error is told to every wait that had begun when it was first
told: a read that sees one leaves its array alone, so it must not end without it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import NoReturn

from browsergpu.core.errors import (
    BackendError,
    OutOfMemory,
    ShaderCompilation,
    ValidationError,
)
from browsergpu.core.places import Section
from browsergpu.core.showing import Shown
from browsergpu.gpu.port import OPEN_ANOTHER, closed, lost

#: That nobody was told yet; further ones are dropped.
_MOST = 64
#: The place of an error in a shader: Dawn's ":2:21 error", naga's "┌─ wgsl:2:21".
_PLACES = (re.compile(r"┌─ [^:]*:(\d+):(\d+)"), re.compile(r"(?:^|\s):(\d+):(\d+)"))

#: Makes an error anew, since each that is raised gets a traceback of its own.
Complaint = Callable[[], BackendError]


class Complaints(Shown):
    """The errors of one device, each with its number."""

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
        """Keeps an error for those that wait."""
        if self._reported - self._told < _MOST:
            self._reported = next(self._numbers)
            self._errors.append((self._reported, complaint))

    def note_failure(self, op: str, error: Exception) -> None:
        """Keeps what the engine raised in the name of an operation."""
        kind = OutOfMemory if isinstance(error, MemoryError) else ValidationError
        message = str(error)
        self.note(lambda: kind(op, message))

    def wait(self) -> _Wait:
        """A block that waits for the GPU: it gets what raises the errors that it is to be told."""
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
        """Raises that the device is gone."""
        raise closed(op) if self.closed else lost(op, self.recovery, self.lost)

    def _forget(self) -> None:
        since = min(self._since())
        self._errors = [one for one in self._errors if one[0] > since]

    def _since(self) -> Iterator[int]:
        yield self._told
        yield from self._waits.values()


class _Wait(Shown):
    """A wait. It is no asynchronous generator: event loops keep these in sets of weak references,
    whose Python code loses a Ctrl-C that comes while it runs."""

    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints

    async def __aenter__(self) -> Callable[[], None]:
        self._complaints._waits[self] = self._complaints._told
        try:
            await asyncio.sleep(0)  # those beside it begin, too
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
    """What the engine says of a shader, with its place in one of the files that it is of."""
    text = str(error)
    place = next((found for pattern in _PLACES if (found := pattern.search(text))), None)
    line, column = map(int, place.groups()) if place else (0, 0)
    section = next((one for one in reversed(sections) if one[1] <= line), sections[0])
    file, begin = section[:2]
    by_whom = section[2] if len(section) == 3 else recorded
    said = [part.strip() for part in text.splitlines() if "error" in part.lower()]
    message = said[-1] if said and place else text
    return lambda: ShaderCompilation(op, message, file, line and line - begin + 1, column, by_whom)
