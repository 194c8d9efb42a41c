"""What the GPU's side reported and nobody has raised yet."""

from __future__ import annotations

import re
from typing import NoReturn

from browsergpu.core.errors import (
    BackendError,
    OutOfMemory,
    ShaderCompilation,
    ValidationError,
)
from browsergpu.gpu.port import closed, lost

#: That are kept; further ones are dropped.
_MOST = 64
#: The place of an error in a shader: Dawn's ":2:21 error", naga's "wgsl:2:21".
_PLACE = re.compile(r"(?:^|wgsl|\s):(\d+):(\d+)")
_NAGAS = re.compile(r"┌─ [^:]*:(\d+):(\d+)")


class Complaints:
    """Errors in the order in which they came; each is raised once."""

    def __init__(self) -> None:
        self._errors: list[BackendError] = []
        self.lost = ""
        self.closed = False

    def __len__(self) -> int:
        return len(self._errors)

    def note(self, error: BackendError) -> None:
        """Keeps an error for the next wait."""
        if len(self._errors) < _MOST:
            self._errors.append(error)

    def note_failure(self, op: str, error: Exception) -> None:
        """Keeps what the engine raised in the name of an operation."""
        if isinstance(error, MemoryError):
            self.note(OutOfMemory(op, str(error)))
        else:
            self.note(ValidationError(op, str(error)))

    def raise_first(self) -> None:
        """Raises the first error, if any; that there are more is said in its message."""
        if self.closed or self.lost:
            self.raise_end("device")
        if self._errors:
            errors, self._errors = self._errors, []
            if len(errors) > 1:
                errors[0].args = (f"{errors[0].args[0]} (and {len(errors) - 1} more)",)
            raise errors[0]

    def raise_end(self, op: str) -> NoReturn:
        """Raises that the device is gone."""
        raise closed(op) if self.closed else lost(op, self.lost)


def of_shader(op: str, error: Exception, sections: list[tuple[str, int]]) -> ShaderCompilation:
    """What the engine says of a shader, with its place in one of the files that it is of."""
    text = str(error)
    place = _NAGAS.search(text) or _PLACE.search(text)
    line, column = map(int, place.groups()) if place else (0, 0)
    file, begin = next((one for one in reversed(sections) if one[1] <= line), sections[0])
    message = next((part for part in text.splitlines() if "error" in part), text)
    return ShaderCompilation(op, message.strip(), file, line and line - begin + 1, column)
