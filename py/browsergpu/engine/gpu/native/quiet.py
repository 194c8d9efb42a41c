"""Context managers that keep messages of drivers and engines off the user's terminal."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_VARIABLE = "XDG_RUNTIME_DIR"
#: Dawn's report of an unusable GPU: the reason, then positions in its source.
_NOTICE = re.compile(r"Warning: (.*)\n - While initializing adapter.*\n(?:    at .*\n)*\n?")


@contextmanager
def without_a_screen() -> Iterator[None]:
    """Look for GPUs without libwayland's complaint about a machine that has no screen.

    Mesa's device selection and EGL ask libwayland for a screen. Without a folder in
    ``$XDG_RUNTIME_DIR`` it writes an error to stderr each time. /dev/null is an absolute path in
    which nobody can put a socket, so libwayland finds no screen and says nothing.
    """
    before = os.environ.get(_VARIABLE)
    if sys.platform != "linux" or (before or "").startswith("/"):
        yield
        return
    os.environ[_VARIABLE] = os.devnull
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_VARIABLE, None)
        else:
            os.environ[_VARIABLE] = before


@contextmanager
def notices_set_aside() -> Iterator[list[str]]:
    """Collect Dawn's reasons for refusing GPUs, which it writes to stderr and nowhere else.

    Everything else that is written to stderr in the block is written there at its end.

    Yields
    ------
    list of str
        The reasons, filled at the end of the block.
    """
    notices: list[str] = []
    if os.name != "posix":
        yield notices
        return
    try:
        stderr = os.dup(2)
    except OSError:  # a daemon may have closed stderr
        yield notices
        return
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            yield notices
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            aside.seek(0)
            text = aside.read().decode("utf-8", "surrogateescape")
            notices += _NOTICE.findall(text)
            rest = _NOTICE.sub("", text).encode("utf-8", "surrogateescape")
            with suppress(OSError):
                os.write(2, rest)
