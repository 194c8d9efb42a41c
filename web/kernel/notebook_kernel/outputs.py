"""What one run prints and displays, within limits that keep the page alive."""

import io
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from . import channel

MAX_CHARACTERS = 256 * 1024
MAX_DISPLAYS = 200
MAX_DISPLAY_CHARACTERS = 16 * 1024 * 1024
# Up to here each line is sent at once; a chattier run is sent in batches.
PROMPT_MESSAGES = 500
BATCH_SECONDS = 0.1
BATCH_CHARACTERS = 8 * 1024


class Outputs:
    """The outputs of one run; background tasks that the run started share it."""

    def __init__(self, run_id: int, send: Callable[..., None] = channel.send) -> None:
        self.run_id = run_id
        self._send = send
        self._stream = "stdout"
        self._pending: list[str] = []
        self._pending_characters = 0
        self._sent_messages = 0
        self._sent_at = 0.0
        self._characters = 0
        self._dropped = 0
        self._displays = 0

    def write(self, stream: str, text: str) -> None:
        """Take what was printed to `stream`; whole lines leave at once, floods in batches."""
        room = MAX_CHARACTERS - self._characters
        if room <= 0:
            self._dropped += len(text)
            return
        if len(text) > room:
            self._dropped += len(text) - room
            text = text[:room]
        self._characters += len(text)
        if stream != self._stream:
            self.flush()
            self._stream = stream
        self._pending.append(text)
        self._pending_characters += len(text)
        if self._due(text):
            self.flush()
        if self._characters >= MAX_CHARACTERS:
            self.flush()
            self._notice(
                f"\n[output cut after {MAX_CHARACTERS:,} characters; the cell goes on running]\n"
            )

    def _due(self, text: str) -> bool:
        if self._sent_messages < PROMPT_MESSAGES:
            return "\n" in text or self._pending_characters >= BATCH_CHARACTERS
        return (
            self._pending_characters >= BATCH_CHARACTERS
            or time.monotonic() - self._sent_at >= BATCH_SECONDS
        )

    def flush(self) -> None:
        """Send what is held back."""
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending.clear()
        self._pending_characters = 0
        self._sent_messages += 1
        self._sent_at = time.monotonic()
        self._send(type="stream", id=self.run_id, name=self._stream, text=text)

    def display(self, data: dict[str, str], metadata: dict[str, Any] | None = None) -> None:
        """Show a MIME bundle below the cell."""
        self.flush()
        self._displays += 1
        if self._displays > MAX_DISPLAYS:
            if self._displays == MAX_DISPLAYS + 1:
                self._notice(f"[only the first {MAX_DISPLAYS} displays of a run are shown]\n")
            return
        self._send(type="display", id=self.run_id, data=limited(data), metadata=metadata or {})

    def close(self) -> None:
        """Send the rest and say how much was left out."""
        self.flush()
        if self._dropped:
            self._notice(f"[{self._dropped:,} more characters were not shown]\n")
            self._dropped = 0

    def _notice(self, text: str) -> None:
        self._send(type="stream", id=self.run_id, name="stderr", text=text)


def limited(data: dict[str, str]) -> dict[str, str]:
    """The bundle without entries that are too large for a page, and a line that says so."""
    kept: dict[str, str] = {}
    for mime, value in data.items():
        if mime == "text/plain" and len(value) > MAX_CHARACTERS:
            more = len(value) - MAX_CHARACTERS
            kept[mime] = f"{value[:MAX_CHARACTERS]}\n[{more:,} more characters were not shown]"
        elif len(value) <= MAX_DISPLAY_CHARACTERS:
            kept[mime] = value
    return kept or {"text/plain": f"[an output above {MAX_DISPLAY_CHARACTERS:,} characters]"}


# Tasks copy the context they are created in, so a task's prints find the cell that started it.
current: ContextVar[Outputs | None] = ContextVar("notebook_outputs", default=None)
_last: Outputs | None = None


def begin(run_id: int) -> Outputs:
    """Open the outputs of a run and make them current."""
    global _last
    _last = Outputs(run_id)
    current.set(_last)
    return _last


def active() -> Outputs | None:
    """The outputs of the run that this code belongs to, else of the latest run."""
    return current.get() or _last


class Stream(io.TextIOBase):
    """`sys.stdout` and `sys.stderr`: every write goes to the run it belongs to."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return f"<{self._name}>"

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        outputs = active()
        if outputs is not None and text:
            outputs.write(self._name, text)
        return len(text)

    def flush(self) -> None:
        outputs = active()
        if outputs is not None:
            outputs.flush()
