"""When memory is worth copying to the host: a balance of waits against copies."""

from __future__ import annotations

from browsergpu.engine.core.showing import Shown

#: What each event adds to the balance, and the balance from which on memory is copied.
_WAIT, _READ, _SERVED, _COPY = 8, -1, 2, -64
_ENOUGH, _LEAST, _MOST = 16, -64, 128


class ElementReads(Shown):
    """The balance of one device.

    Waits for values that follow reads of elements raise it. Copies lower it, until they have served
    enough reads. Programs that never wait copy nothing.

    Attributes
    ----------
    era : int
        Copies of an earlier era are invalid, since a captured graph has written memory.
    """

    __slots__ = ("_balance", "_was_read", "era")

    def __init__(self) -> None:
        self.era = 0
        self._balance = 0
        self._was_read = False

    def waited(self) -> None:
        """Note that a single value was read from the GPU."""
        if self._was_read:
            self._was_read = False
            self._balance = min(self._balance + _WAIT, _MOST)

    def is_copy_due(self) -> bool:
        """Note a read of an element that the host does not know. Returns whether to copy it."""
        self._was_read = True
        if self._balance < _ENOUGH:
            self._balance = max(self._balance + _READ, _LEAST)
            return False
        self._balance += _COPY
        return True

    def served(self) -> None:
        """Note a read of an element that the host knew."""
        self._balance = min(self._balance + _SERVED, _MOST)

    def forget_copies(self) -> None:
        """Make all copies invalid."""
        self.era += 1
