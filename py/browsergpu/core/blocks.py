"""Which block of ``capture()`` Python is in. A thread is in none that another one began, nor is a
task that was there before the block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from browsergpu.core.modes import Mode
from browsergpu.core.showing import Shown


class Block(Shown):
    """A block. Tasks that were created in it may go on after its end, and are in none then."""

    __slots__ = ("is_open",)

    def __init__(self) -> None:
        self.is_open = True


_MODE: Mode[Block | None] = Mode("block", None)


def here() -> Block | None:
    """The block that Python is in; None outside of any."""
    block = _MODE.value
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
    """Do something as part of a block of another task, or outside of any."""
    own = object()
    _MODE.enter(own, block)
    try:
        yield
    finally:
        _MODE.leave(own)


class OfBlock(Shown):
    """Something of the block in which it is made, or of none."""

    def __init__(self) -> None:
        self.block = here()

    @property
    def is_here(self) -> bool:
        """Whether Python is in that block."""
        return here() is self.block
