"""A counter of changes that compiled functions must notice."""

from __future__ import annotations

from browsergpu.engine.core.showing import Shown


class Changes(Shown):
    """The number of changes of modules' attributes and hooks so far.

    A compiled function compares the number at each call. If the number differs, the function
    compares all attributes.
    """

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


CHANGES = Changes()
