"""Where in the user's code something was asked for, which errors that come late tell."""

from __future__ import annotations

from sys import _getframe
from types import FrameType

_OWN = __name__.partition(".")[0]
#: Packages whose lines are not the user's: NumPy reads arrays for him.
_PASSED = frozenset((_OWN, "numpy"))
#: What runs coroutines: who has started one is not to be seen from within.
_LOOPS = frozenset(("asyncio", "pyodide", "_pyodide"))

#: A part of a shader's text: its file, its first line in the whole text, and, where the user has
#: brought it, where that was.
Section = tuple[str, int] | tuple[str, int, str]


def users_place() -> str:
    """The line that has called the package: "Cell 3, line 2"; "" where no code of the user's has.

    It takes microseconds: for what happens once, as making a pipeline.
    """
    frame = _getframe(1)
    while (room := _package(frame.f_globals)) in _PASSED:
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return "" if room in _LOOPS else f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def is_own(frame: FrameType) -> bool:
    """Whether a frame runs a function of this package."""
    return _package(frame.f_globals) == _OWN


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]


def frames_of_the_package() -> int:
    """How far up the user's own line is, counted as ``warnings.warn`` in the caller counts."""
    frame, count = _getframe(1), 1
    while frame.f_back is not None and is_own(frame):
        frame, count = frame.f_back, count + 1
    return count
