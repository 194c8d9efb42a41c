"""The progress of a download, and of the upload of weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.engine.core.errors import InvalidType

#: Called with the bytes so far, their total or None, and a name.
Report = Callable[[int, int | None, str], object]


def reporter(op: str, given: Any) -> Report:
    """Return the function for the argument ``progress``: a bool, or the function itself."""
    if given is False:
        return lambda done, total, what: None
    if given is True:
        from browsergpu.networks.hub.bars import Bars  # loaded at its first use

        return Bars().report
    if not callable(given):
        raise InvalidType(op, "progress", given, "True, False, or a function")
    return given  # type: ignore[no-any-return]
