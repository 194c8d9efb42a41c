"""Progress messages with file names and sizes."""

import threading
from typing import TextIO


def human_size(count: int) -> str:
    """Return a number of bytes in decimal units, such as ``9.6 MB``."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.95 or unit == "GB":
            break
    return f"{size:.1f} {unit}"


class Progress:
    """Receiver of progress reports from several threads. This one ignores them."""

    def note(self, text: str) -> None:
        """Show a message that stays on the screen."""

    def begin(self, files: int, size: int) -> None:
        """Report the number and size of the files to fetch."""

    def received(self, name: str, size: int, source: str) -> None:
        """Report a complete and verified file."""

    def working(self, text: str) -> None:
        """Report the current work, until the next message replaces it."""


class Console(Progress):
    """Progress on a terminal or in a log. Temporary lines appear only on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._lock = threading.Lock()
        self._fleeting = 0
        self._files = self._files_done = 0
        self._size = self._size_done = 0

    def note(self, text: str) -> None:
        with self._lock:
            self._line(text)

    def begin(self, files: int, size: int) -> None:
        with self._lock:
            self._files, self._size = files, size
            self._files_done = self._size_done = 0
            self._line(f"Fetching {files} files, {human_size(size)}")

    def received(self, name: str, size: int, source: str) -> None:
        with self._lock:
            self._files_done += 1
            self._size_done += size
            count = f"[{self._files_done}/{self._files}]"
            share = f"{human_size(self._size_done)} of {human_size(self._size)}"
            self._line(f"{count} {name}, {human_size(size)} from {source} ({share})")

    def working(self, text: str) -> None:
        if not self._is_terminal:
            return
        with self._lock:
            self._erase()
            self._stream.write(text)
            self._stream.flush()
            self._fleeting = len(text)

    def _line(self, text: str) -> None:
        self._erase()
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def _erase(self) -> None:
        if self._fleeting:
            self._stream.write("\r" + " " * self._fleeting + "\r")
            self._fleeting = 0
