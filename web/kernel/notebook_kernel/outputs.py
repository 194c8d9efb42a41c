"""Outputs of one run, within limits that keep the page responsive."""

import asyncio
import base64
import io
import time
from collections import deque
from contextvars import ContextVar
from typing import Any

from . import channel

# Characters shown from the beginning and from the end of printed text.
HEAD_CHARACTERS = 224 * 1024
TAIL_CHARACTERS = 32 * 1024
MAX_DISPLAYS = 200
MAX_PLAIN_CHARACTERS = 256 * 1024
MAX_DISPLAY_CHARACTERS = 16 * 1024 * 1024
# Whole lines are sent at once. After many messages, which use up this credit, they are batched.
CREDIT = 500.0
CREDIT_A_SECOND = 50.0
BATCH_SECONDS = 0.1
BATCH_CHARACTERS = 8 * 1024
TAIL_SECONDS = 1.0

Piece = tuple[str, str]  # the stream's name, and text


class _Tail:
    """The end of printed text, once the beginning is full."""

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self._characters = 0
        self.left_out = 0

    def add(self, stream: str, text: str) -> None:
        self.left_out += max(0, len(text) - TAIL_CHARACTERS)
        text = text[-TAIL_CHARACTERS:]
        self._pieces.append((stream, text))
        self._characters += len(text)
        while self._characters - len(self._pieces[0][1]) >= TAIL_CHARACTERS:
            _, dropped = self._pieces.popleft()
            self._characters -= len(dropped)
            self.left_out += len(dropped)

    def joined(self) -> list[Piece]:
        """Return the pieces, with neighbours of one stream joined."""
        joined: list[tuple[str, list[str]]] = []
        for stream, text in self._pieces:
            if not joined or joined[-1][0] != stream:
                joined.append((stream, []))
            joined[-1][1].append(text)
        return [(stream, "".join(texts)) for stream, texts in joined]


class Outputs:
    """The outputs of one run, including its background tasks."""

    def __init__(self, run_id: int) -> None:
        self.run_id = run_id
        self._widgets: list[str] = []
        self._stream = "stdout"
        self._pending: list[str] = []
        self._pending_characters = 0
        self._credit = CREDIT
        self._sent_at = time.monotonic()
        self._characters = 0
        self._tail: _Tail | None = None
        self._tail_sent_at = 0.0
        self._displays = 0

    @property
    def widget(self) -> str | None:
        """The Output widget that captures the outputs, by its comm."""
        return self._widgets[-1] if self._widgets else None

    def capture(self, widget: str) -> None:
        """Send outputs to an Output widget from now on."""
        self._begin_anew()
        self._widgets.append(widget)

    def release(self, widget: str) -> None:
        """Undo `capture`."""
        self._begin_anew()
        self._widgets.remove(widget)

    def _begin_anew(self) -> None:
        """Send everything, since each place has its own limits."""
        self.close()
        self._characters = self._displays = 0
        self._tail = None

    def _send(self, **message: Any) -> None:
        channel.send(id=self.run_id, widget=self.widget, **message)

    def write(self, stream: str, text: str) -> None:
        """Print text to `stream`."""
        if self._tail is not None:
            self._tail.add(stream, text)
            if time.monotonic() - self._tail_sent_at >= TAIL_SECONDS:
                self._send_tail()
            return
        text, rest = self._split(text)
        self._characters += len(text)
        if stream != self._stream:
            self.flush()
            self._stream = stream
        self._pending.append(text)
        self._pending_characters += len(text)
        if self._due(text):
            self.flush()
        else:
            _flush_later()
        if rest:
            self.flush()
            self._tail = _Tail()
            self._tail.add(stream, rest)

    def _split(self, text: str) -> Piece:
        room = HEAD_CHARACTERS - self._characters
        return text[:room], text[room:]

    def _due(self, text: str) -> bool:
        waited = time.monotonic() - self._sent_at
        prompt = not poked or "\n" in text or "\r" in text
        return (
            (prompt and self._credit + waited * CREDIT_A_SECOND >= 1)
            or waited >= BATCH_SECONDS
            or self._pending_characters >= BATCH_CHARACTERS
        )

    def flush(self) -> None:
        """Send buffered text."""
        if not self._pending:
            return
        # Taken first, since a signal may call this method again.
        pieces, self._pending = self._pending, []
        self._pending_characters = 0
        now = time.monotonic()
        earned = (now - self._sent_at) * CREDIT_A_SECOND
        self._credit = max(0.0, min(CREDIT, self._credit + earned) - 1)
        self._sent_at = now
        self._send(type="stream", name=self._stream, text="".join(pieces))

    def _send_tail(self) -> None:
        if self._tail is not None:
            self._tail_sent_at = time.monotonic()
            left_out = self._tail.left_out
            self._send(type="tail", left_out=left_out, pieces=self._tail.joined())

    def display(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        display_id: str | None = None,
        update: bool = False,
    ) -> None:
        """Show a MIME bundle below the cell, or replace the display with this id."""
        self.flush()
        bundle = {"data": limited(data), "metadata": metadata or {}, "display_id": display_id}
        if update:
            self._send(type="update", **bundle)
            return
        self._displays += 1
        if self._displays > MAX_DISPLAYS:
            if self._displays == MAX_DISPLAYS + 1:
                self._notice(f"[only the first {MAX_DISPLAYS} displays of a run are shown]\n")
            return
        self._send(type="display", **bundle)

    def result(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Show the value of the run's last expression."""
        self.flush()
        self._send_tail()
        self._send(type="result", data=limited(data), metadata=metadata)

    def error(self, error: dict[str, Any]) -> None:
        """Show an error that does not end the run. `error` has the fields of a failed run."""
        self.flush()
        self._send(type="error", **error)

    def clear(self, wait: bool) -> None:
        """Clear the outputs. With `wait`, clear when the next output arrives."""
        self._pending.clear()
        self._pending_characters = self._characters = self._displays = 0
        self._tail = None
        self._send(type="clear", wait=wait)

    def close(self) -> None:
        """Send the remaining text."""
        self.flush()
        self._send_tail()

    def _notice(self, text: str) -> None:
        self._send(type="stream", name="stderr", text=text)


def limited(data: dict[str, Any]) -> dict[str, Any]:
    """Return the bundle for JSON, with binary data in base64.

    Entries that are too large for a page are replaced by a line that says so.
    """
    kept: dict[str, Any] = {}
    for mime, value in data.items():
        if isinstance(value, bytes | bytearray | memoryview):
            value = base64.b64encode(value).decode("ascii")
        # The rest is JSON, which its maker keeps small.
        size = len(value) if isinstance(value, str) else 0
        if mime == "text/plain" and size > MAX_PLAIN_CHARACTERS:
            more = size - MAX_PLAIN_CHARACTERS
            kept[mime] = (
                f"{value[:MAX_PLAIN_CHARACTERS]}\n[{more:,} more characters were not shown]"
            )
        elif size <= MAX_DISPLAY_CHARACTERS:
            kept[mime] = value
    return kept or {"text/plain": f"[an output above {MAX_DISPLAY_CHARACTERS:,} characters]"}


# Whether the page raises a signal every BATCH_SECONDS that calls `flush_all`. It works while Python
# computes. While Python waits, the event loop's timer does the same.
poked = False
_timer_runs = False


def _flush_later() -> None:
    global _timer_runs
    if not _timer_runs:
        _timer_runs = True
        asyncio.get_event_loop().call_later(BATCH_SECONDS, _timer_rings)


def _timer_rings() -> None:
    global _timer_runs
    _timer_runs = False
    flush_all()


def flush_all(*_signal: Any) -> None:
    """Send the buffered text of all runs."""
    for one in (_last, current.get()):
        if one is not None:
            one.flush()


# A task copies the context it is created in, so its prints belong to the cell that started it.
current: ContextVar[Outputs | None] = ContextVar("notebook_outputs", default=None)
_last: Outputs | None = None


def begin(run_id: int) -> Outputs:
    """Create the outputs of a run and make them current."""
    global _last
    _last = Outputs(run_id)
    current.set(_last)
    return _last


_capturing: dict[str, Outputs] = {}


def capture(widget: str, run_id: str) -> None:
    """Send the outputs of the running code to an Output widget, or no longer if `run_id` is empty.

    `run_id` is the number of the code's run as text, as the widget has it.
    """
    before = _capturing.pop(widget, None)
    if before is not None:
        before.release(widget)
    shown = active()
    if shown is not None and run_id == str(shown.run_id):
        shown.capture(widget)
        _capturing[widget] = shown


def active() -> Outputs | None:
    """Return the outputs of the run that this code belongs to, else of the latest run."""
    return current.get() or _last


class Stream(io.TextIOBase):
    """`sys.stdout` and `sys.stderr`: every write belongs to the current run."""

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
