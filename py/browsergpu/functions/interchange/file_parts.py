"""Files that are read in parts, when the parts are needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.engine.core.files import file_bytes
from browsergpu.engine.core.showing import Shown

#: Bytes that are read at once for small parts, such as the entries of a header.
_WINDOW = 1 << 18


class FileParts(Shown):
    """The bytes of a file. Slices are read when NumPy converts them.

    It replaces a memory-mapped file in a page, because Emscripten copies a mapped file into
    Python's memory.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = _File(path)
        self._begin, self._end = 0, self._file.size

    def _facts(self) -> str:
        return f"of {self.size} bytes"

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self._end - self._begin

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, where: slice) -> FileParts:
        begin, end, step = where.indices(self.size)
        if step != 1:
            raise ValueError("slices of a file must have step 1")
        part = FileParts.__new__(FileParts)
        part._file = self._file
        part._begin = self._begin + begin
        part._end = max(self._begin + end, part._begin)
        return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the bytes of a file must be copied")
        found = self._file.read(self._begin, self._end)
        return found if dtype is None else found.astype(dtype, copy=False)


class JoinedParts(Shown):
    """Bytes one after another. Slices are read when NumPy converts them.

    Parameters
    ----------
    parts : sequence of array of uint8, or FileParts
        The bytes.
    """

    def __init__(self, parts: Sequence[np.ndarray | FileParts]) -> None:
        self._parts = tuple(parts)

    def _facts(self) -> str:
        return f"of {self.size} bytes"

    @property
    def size(self) -> int:
        """Number of bytes."""
        return sum(int(part.size) for part in self._parts)

    def __getitem__(self, where: slice) -> JoinedParts:
        begin, end, step = where.indices(self.size)
        if step != 1:
            raise ValueError("slices of joined parts must have step 1")
        found = []
        for part in self._parts:
            own = part[max(begin, 0) : max(end, 0)]
            if own.size:
                found.append(own)
            begin, end = begin - int(part.size), end - int(part.size)
        return JoinedParts(found)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if len(self._parts) == 1:
            return np.asarray(self._parts[0], dtype=dtype, copy=copy)
        if copy is False:
            raise ValueError("the bytes of several parts must be copied")
        found = np.concatenate(
            [np.asarray(part) for part in self._parts] or [np.empty(0, np.uint8)]
        )
        return found if dtype is None else found.astype(dtype, copy=False)


class _File:
    """An open file, and the bytes around the last small part."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed with the last part
        self.size = os.fstat(self._file.fileno()).st_size
        self._begin, self._window = 0, np.empty(0, np.uint8)

    def read(self, begin: int, end: int) -> np.ndarray:
        """Return the bytes of a part. Raises OSError if the file has become shorter."""
        if end - begin > _WINDOW:
            return self._whole(begin, end)
        if begin < self._begin or end > self._begin + self._window.size:
            self._window = self._whole(begin, min(begin + _WINDOW, self.size))
            self._begin = begin
        return self._window[begin - self._begin : end - self._begin]

    def _whole(self, begin: int, end: int) -> np.ndarray:
        found = np.empty(end - begin, np.uint8)
        left = found.data
        self._file.seek(begin)
        while left:
            count = self._file.readinto(left)
            if not count:
                raise OSError(f"{self._file.name}: the file has become shorter")
            left = left[count:]
        return found


def file_parts(op: str, argument: str, source: Any) -> np.ndarray | FileParts:
    """Return the bytes of a path, bytes or file object, as ``file_bytes`` takes them.

    In a page, a path is read in parts. Elsewhere it is memory-mapped.
    """
    if sys.platform == "emscripten" and isinstance(source, str | os.PathLike):
        return FileParts(source)
    return file_bytes(op, argument, source)
