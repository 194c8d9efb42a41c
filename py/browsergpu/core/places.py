"""Lines of the user's code, for errors that are raised late."""

from __future__ import annotations

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


def users_place() -> str:
    """Return the line that called the package, as "Cell 3, line 2", or "" if unknown.

    It takes microseconds, so use it only for rare events such as creating a pipeline.
    """
    frame = _getframe(1)
    while (room := _package(frame.f_globals)) in _PASSED:
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return "" if room in _LOOPS else f"{frame.f_code.co_filename}, line {frame.f_lineno}"


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
