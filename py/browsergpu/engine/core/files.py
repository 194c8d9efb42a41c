"""Atomic file writing: a file is replaced as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import IO, Any

import numpy as np

from browsergpu.engine.core.errors import InvalidType

#: Errors of systems that cannot flush this kind of file to disk.
_CANNOT_FLUSH = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


def file_bytes(op: str, argument: str, source: Any) -> np.ndarray:
    """Return the bytes of a path, memory-mapped, of bytes, or of a file object.

    Parameters
    ----------
    op, argument : str
        Names for the error.
    source : path, bytes or file object
        The file. A file object is read to its end.
    """
    if isinstance(source, str | os.PathLike):
        if not os.path.getsize(source):
            return np.empty(0, np.uint8)
        try:
            return np.memmap(source, np.uint8, mode="r")
        except (ImportError, OSError, ValueError):  # the file system cannot map files
            return np.fromfile(source, np.uint8)
    if hasattr(source, "read"):
        source = source.read()
    if not isinstance(source, bytes | bytearray | memoryview):
        expected = "a path, bytes, or a binary file"
        raise InvalidType(op, argument, source, expected)
    return np.frombuffer(source, np.uint8)


@contextmanager
def opened(op: str, file: Any, suffix: str = "") -> Iterator[Any]:
    """Open a binary file for writing.

    Parameters
    ----------
    op : str
        Name of the operation, for errors.
    file : path or file object
        A path, which is written by :func:`replacing`, or an object with ``write()``, which is used
        as it is.
    suffix : str
        Added to a path without it.

    Raises
    ------
    InvalidType
        If ``file`` is neither.
    """
    if hasattr(file, "write"):
        yield file
        return
    if not isinstance(file, str | os.PathLike):
        raise InvalidType(op, "file", file, "a path, or a binary file with write()")
    path = os.fspath(file)
    with replacing(path if path.endswith(suffix) else path + suffix) as target:
        yield target


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces ``path`` when the block ends without an error.

    Until then, and after an error, ``path`` is unchanged. The data goes to a temporary file in the
    same folder, which is flushed to disk and renamed, or removed after an error. If several writers
    have the same path, the last one to end wins. Links are followed, and an existing file's
    permissions are kept. Pipes and devices cannot be replaced and are written directly.

    Raises
    ------
    OSError
        If the file cannot be written. Its file name is ``path``.
    """
    target = os.path.realpath(path)
    before = _status(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(path, "wb") as file:
            yield file
        return
    if before is not None and not os.access(target, os.W_OK):
        raise _error(errno.EACCES, path)
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:40]}.{token_hex(8)}.part")
    try:
        with _created(beside, path) as file:
            yield file
            file.flush()
            _to_disk(file.fileno())
        if before is not None:
            _take_over(before, beside)
        os.replace(beside, target)
    except BaseException:  # including interrupts and cancelled tasks
        with suppress(FileNotFoundError):
            os.remove(beside)
        raise
    _folder_to_disk(folder)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _created(beside: str, path: str | os.PathLike[str]) -> IO[bytes]:
    try:
        return open(beside, "xb")
    except OSError as error:
        raise _error(error.errno or errno.EIO, path) from None


def _error(number: int, path: str | os.PathLike[str]) -> OSError:
    return OSError(number, os.strerror(number), os.fspath(path))


def _take_over(before: os.stat_result, path: str) -> None:
    """Give a file the owner and the permissions of another file, as far as the system allows."""
    own = os.stat(path)
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):  # only the superuser may do this
            os.chown(path, before.st_uid, before.st_gid)
    if own.st_mode != before.st_mode:
        os.chmod(path, stat.S_IMODE(before.st_mode))


def _to_disk(number: int) -> None:
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in _CANNOT_FLUSH:
            raise


def _folder_to_disk(folder: str) -> None:
    """Make the renaming survive a crash of the machine, if the system supports it."""
    with suppress(OSError):  # the file is renamed already
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
