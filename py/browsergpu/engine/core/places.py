"""Lines of the user's code, for errors that are raised late, and for profiles.

The kernels of recorded operations run later than the user's lines. The code that dispatches such a
kernel sets the lines of its operations. Every other kernel gets the line that is running.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from sys import _getframe
from types import FrameType

_OWN = __name__.partition(".")[0]
#: Packages whose frames are skipped. NumPy calls the package for the user.
_PASSED = frozenset((_OWN, "numpy"))
#: Packages that run coroutines. The caller of a coroutine is not in its frames.
_LOOPS = frozenset(("asyncio", "pyodide", "_pyodide"))

#: A part of a shader's text: its file, its first line in the whole text, and for the user's code
#: the line that supplied it.
Section = tuple[str, int] | tuple[str, int, str]
#: The name of a file and a line in it.
Line = tuple[str, int]

_announced: ContextVar[tuple[Line, ...] | None] = ContextVar("announced", default=None)


def users_place() -> str:
    """Return the line that called the package, as "Cell 3, line 2", or "" if unknown.

    It takes microseconds, so use it only for rare events such as creating a pipeline.
    """
    frame = users_frame(_getframe(1))
    return "" if frame is None else f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def users_frame(frame: FrameType) -> FrameType | None:
    """Return the first frame of the user's code among a frame and its callers, if there is one."""
    while (room := _package(frame.f_globals)) in _PASSED:
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None if room in _LOOPS else frame


def is_own(frame: FrameType) -> bool:
    """Return whether a frame runs a function of this package."""
    return _package(frame.f_globals) == _OWN


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]


def frames_of_the_package() -> int:
    """Return the ``stacklevel`` of the user's line for ``warnings.warn`` in the caller."""
    frame, count = _getframe(1), 1
    while frame.f_back is not None and is_own(frame):
        frame, count = frame.f_back, count + 1
    return count


def running() -> tuple[Line, ...]:
    """Return the user's line that called the package, or nothing if it is unknown."""
    frame = users_frame(_getframe(1))
    return () if frame is None else ((frame.f_code.co_filename, frame.f_lineno),)


def current() -> tuple[Line, ...]:
    """Return the lines of the dispatch that is being recorded."""
    known = _announced.get()
    return running() if known is None else known


@contextmanager
def announced(lines: tuple[Line, ...]) -> Iterator[None]:
    """Set the lines of all dispatches that the body records."""
    token = _announced.set(lines)
    try:
        yield
    finally:
        _announced.reset(token)
