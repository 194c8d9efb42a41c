"""Exceptions as text: the user's frames first, the libraries' frames on demand."""

import linecache
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

KERNEL_MARKS = (
    "/notebook_kernel/",
    "/_pyodide/_base.py",
    "/IPython/core/interactiveshell.py",
    "/IPython/core/compilerop.py",
)
CELLS = ("Cell ", "Run ")  # a run's name instead of a file
# Also code that %time and %timeit compile, and the user's files.
USER_MARKS = (*CELLS, "<timed ", "<magic-timeit>", "/home/")

# Lines shown before and after the one that failed.
AROUND = 2
# Terminal colours, as notebook files store them and Jupyter shows them.
ERROR, MARK, PLACE, NUMBER, FAILED, PLAIN = (
    f"\033[{codes}m" for codes in ("1;31", "1;32", "34", "90", "4;31", "0")
)


@dataclass(frozen=True)
class Report:
    """The short and the full text of an exception."""

    name: str
    message: str
    shown: str
    """The user's frames, with lines around and in colours."""
    full: str
    """All frames but the notebook's own, as Python tells them."""
    shortened: bool
    """Whether `full` has more frames."""


def is_kernel(frame: traceback.FrameSummary) -> bool:
    """Whether the frame is in the notebook's own code."""
    return any(mark in frame.filename for mark in KERNEL_MARKS)


def is_user(frame: traceback.FrameSummary) -> bool:
    """Whether the frame is in a cell, in `browsergpu.run`, or in a file of the user."""
    return frame.filename.startswith(USER_MARKS)


def report(error: BaseException) -> Report:
    """Describe `error`, whose source lines linecache has under the cell's name."""
    name, message = type(error).__name__, _message(error)
    if isinstance(error, UsageError):
        # For a magic, the position in the code has no further information.
        text = f"{name}: {error}\n"
        return Report(name, message, shown=text, full=text, shortened=False)
    told = traceback.TracebackException.from_exception(error, compact=True)
    _keep(told, lambda frame: not is_kernel(frame), traceback.StackSummary)
    full = "".join(told.format())
    _keep(told, is_user, _WithLinesAround)
    _forget_foreign_context(told)
    shown = _with_coloured_endings("".join(told.format()), set(_type_names(told)))
    _keep(told, is_user, traceback.StackSummary)
    return Report(name, message, shown, full, shortened="".join(told.format()) != full)


def fields(error: BaseException) -> dict[str, Any]:
    """Describe `error` in the fields of a message to the page."""
    told = report(error)
    return {
        "name": told.name,
        "message": told.message,
        "traceback": told.shown,
        "full": told.full,
        "shortened": told.shortened,
    }


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "<the message of this exception could not be created>"


def _linked(told: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    for linked in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if linked is not None:
            yield linked


def _keep(
    told: traceback.TracebackException,
    wanted: Callable[[traceback.FrameSummary], bool],
    kind: type[traceback.StackSummary],
) -> None:
    told.stack = kind(frame for frame in told.stack if wanted(frame))
    for linked in _linked(told):
        _keep(linked, wanted, kind)


def _forget_foreign_context(told: traceback.TracebackException) -> None:
    """Drop "during handling of…" parts that are entirely inside a library."""
    if told.__context__ is not None and not told.__context__.stack:
        told.__context__ = None
    for linked in _linked(told):
        _forget_foreign_context(linked)


class _WithLinesAround(traceback.StackSummary):
    """Frames with the surrounding lines, and a mark at the one that failed."""

    def format_frame_summary(self, frame: traceback.FrameSummary, **options: Any) -> str:
        if not frame.lineno or not linecache.getline(frame.filename, frame.lineno):
            return super().format_frame_summary(frame, **options)
        first = max(1, frame.lineno - AROUND)
        lines = linecache.getlines(frame.filename)[first - 1 : frame.lineno + AROUND]
        last = first + len("".join(lines).rstrip().splitlines())
        place = f'{PLACE}"{frame.filename}", line {frame.lineno}{PLAIN}'
        told = [f"  File {place}, in {PLACE}{frame.name}{PLAIN}\n"]
        for number, line in zip(range(first, last), lines, strict=False):
            if number == frame.lineno:
                told.append(f"{MARK}{'-' * (5 - len(str(number)))}> {number}{PLAIN} ")
                told.append(f"{_marked(line.rstrip(), frame)}\n")
            else:
                told.append(f"{NUMBER}{number:7}{PLAIN} {line.rstrip()}\n")
        return "".join(told)


def _marked(line: str, frame: traceback.FrameSummary) -> str:
    """Return the line with the failed part underlined, unless it is all of it."""
    if frame.end_lineno != frame.lineno or frame.colno is None or frame.end_colno is None:
        return line
    # Python counts bytes.
    begin, end = (
        len(line.encode()[:column].decode(errors="replace"))
        for column in (frame.colno, frame.end_colno)
    )
    if line[begin:end] == line.strip():
        return line
    return f"{line[:begin]}{FAILED}{line[begin:end]}{PLAIN}{line[end:]}"


def _type_names(told: traceback.TracebackException) -> Iterator[str]:
    yield told.exc_type_str
    for linked in _linked(told):
        yield from _type_names(linked)


def _with_coloured_endings(text: str, names: set[str]) -> str:
    """Colour the names of exceptions at the beginnings of lines."""
    pattern = rf"^([ |]*)({'|'.join(map(re.escape, names))})(?=:|$)"
    return re.sub(pattern, rf"\1{ERROR}\2{PLAIN}", text, flags=re.MULTILINE)
