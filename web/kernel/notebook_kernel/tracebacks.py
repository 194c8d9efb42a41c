"""Exceptions as text: the user's own frames first, the libraries' frames on demand."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass

from IPython.core.error import UsageError

KERNEL_MARKS = (
    "/notebook_kernel/",
    "/_pyodide/_base.py",
    "/IPython/core/interactiveshell.py",
    "/IPython/core/compilerop.py",
)
CELLS = ("Cell ", "Run ")  # a run's name stands for a file
# And what %time and %timeit compile, and files that the user brought.
USER_MARKS = (*CELLS, "<timed ", "<magic-timeit>", "/home/")


@dataclass(frozen=True)
class Report:
    """An exception told twice: trimmed to the user's frames, and with the libraries' frames."""

    name: str
    message: str
    trimmed: str
    full: str


def is_kernel(frame: traceback.FrameSummary) -> bool:
    """Whether the frame is of the notebook's own machinery."""
    return any(mark in frame.filename for mark in KERNEL_MARKS)


def is_user(frame: traceback.FrameSummary) -> bool:
    """Whether the frame is of a cell, of `browsergpu.run`, or of a file the user brought."""
    return frame.filename.startswith(USER_MARKS)


def report(error: BaseException) -> Report:
    """Describe `error`, whose source lines linecache knows by the cell's name."""
    if isinstance(error, UsageError):
        # Of a magic: where in the code it stands says nothing more.
        text = f"{type(error).__name__}: {error}\n"
        return Report(name=type(error).__name__, message=str(error), trimmed=text, full=text)
    full = traceback.TracebackException.from_exception(error, compact=True)
    _keep(full, lambda frame: not is_kernel(frame))
    trimmed = traceback.TracebackException.from_exception(error, compact=True)
    _keep(trimmed, is_user)
    _forget_foreign_context(trimmed)
    return Report(
        name=type(error).__name__,
        message=_message(error),
        trimmed="".join(trimmed.format()),
        full="".join(full.format()),
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "<this exception's message could not be made>"


def _keep(
    told: traceback.TracebackException, wanted: Callable[[traceback.FrameSummary], bool]
) -> None:
    told.stack = traceback.StackSummary.from_list([f for f in told.stack if wanted(f)])
    for linked in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if linked is not None:
            _keep(linked, wanted)


def _forget_foreign_context(told: traceback.TracebackException) -> None:
    """Drop "during handling of…" parts that lie wholly inside a library."""
    if told.__context__ is not None and not told.__context__.stack:
        told.__context__ = None
    for linked in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if linked is not None:
            _forget_foreign_context(linked)
