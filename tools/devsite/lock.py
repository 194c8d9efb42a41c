"""Lock that lets one process at a time prepare the cache."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from devsite.errors import CacheUnusable
from devsite.progress import Progress
from devsite.store import storage_error

_POLL = 0.2


@contextlib.contextmanager
def cache_lock(path: Path, progress: Progress, wait: float = 900.0) -> Iterator[None]:
    """Hold the lock file ``path``. The system releases it when the process dies."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        _acquire(handle, path, progress, wait)
        yield
    finally:
        # Closing releases the lock.
        os.close(handle)


def _acquire(handle: int, path: Path, progress: Progress, wait: float) -> None:
    deadline = time.monotonic() + wait
    announced = False
    while not _try_lock(handle):
        if time.monotonic() > deadline:
            raise CacheUnusable(
                f"Another process has held {path} for {wait:.0f} s. "
                "Stop it, or wait until it is done, and start again."
            )
        if not announced:
            progress.note("Waiting for another process that is preparing the cache")
            announced = True
        time.sleep(_POLL)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
