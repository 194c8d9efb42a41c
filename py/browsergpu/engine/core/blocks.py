"""The current block of ``capture()``.

A thread is not in blocks of other threads. A task is not in blocks that began after the task.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from browsergpu.engine.core.modes import Mode
from browsergpu.engine.core.showing import Shown

_MOMENTS = count(1)


def next_moment() -> int:
    """Return a number that is larger than all earlier ones, to order seeds and blocks."""
    return next(_MOMENTS)


class Block(Shown):
    """A block of ``capture()``.

    Tasks created in the block may continue after its end. They are in no block then.
    """

    __slots__ = ("is_open",)

    def __init__(self) -> None:
        self.is_open = True


_MODE: Mode[Block | None] = Mode("block", None)


def here() -> Block | None:
    """Return the current block, or None outside of blocks."""
    block = _MODE.read()[0]
    return block if block is not None and block.is_open else None


def begin() -> Block:
    """Begin a block."""
    block = Block()
    _MODE.enter(block, block)
    return block


def end(block: Block) -> None:
    """End a block."""
    block.is_open = False
    _MODE.leave(block)


@contextmanager
def within(block: Block | None) -> Iterator[None]:
    """Run the code of a ``with`` statement as part of another task's block, or of none."""
    own = object()
    _MODE.enter(own, block)
    try:
        yield
    finally:
        _MODE.leave(own)


class OfBlock(Shown):
    """Base of objects that belong to the block in which they are created, or to none."""

    def __init__(self) -> None:
        self.block = here()

    @property
    def is_here(self) -> bool:
        """Whether that block is the current one."""
        return here() is self.block
