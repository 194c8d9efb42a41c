"""Which block of ``capture()`` Python is in. A thread is in none that another one began, nor is a
task that was there before the block."""

from __future__ import annotations

from contextvars import ContextVar

from browsergpu.core.showing import Shown

#: What stands for the block; None outside of any.
BLOCK: ContextVar[object] = ContextVar("block", default=None)


class OfBlock(Shown):
    """Something of the block in which it is made."""

    def __init__(self) -> None:
        self._block = BLOCK.get()

    @property
    def is_here(self) -> bool:
        """Whether Python is in that block."""
        return BLOCK.get() is self._block
