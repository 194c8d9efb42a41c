"""Tells a person what is going on, file by file and with sizes."""

import threading
from typing import TextIO


def human_size(count: int) -> str:
    """A number of bytes in decimal units, such as ``9.6 MB``."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.95 or unit == "GB":
            break
    return f"{size:.1f} {unit}"


class Progress:
    """What the work reports, from several threads; this one keeps it to itself."""

    def note(self, text: str) -> None:
        """Say one thing that stays on the screen."""

    def begin(self, files: int, size: int) -> None:
        """The number and the size of the files that will be fetched."""

    def received(self, name: str, size: int, source: str) -> None:
        """One file is complete and checked."""

    def working(self, text: str) -> None:
        """What is being done right now; replaced by whatever comes next."""


class Console(Progress):
    """Reports on a terminal or a log; short-lived lines only on a terminal."""

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
