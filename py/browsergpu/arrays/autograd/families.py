"""Families of array classes: an untracked class, and the class of its tracked arrays.

The classes of a family have the same slots, so an array changes its class in place. Results of an
operation are of the family of its array.
"""

from __future__ import annotations

from typing import Any


class _OfClass(dict[type, Any]):
    """A class for each class of arrays. Unregistered subclasses use the entry of their base."""

    def __missing__(self, kind: type) -> Any:
        base = next((one for one in kind.__mro__ if one in self), None)
        if base is None:
            raise KeyError(kind)
        found = self[kind] = self[base]
        return found


#: The classes of tracked arrays.
TRACKED: set[type] = set()
#: The classes of untracked arrays, which have a node.
UNTRACKED: set[type] = set()
#: The classes of arrays that hide their node: tracked arrays, and batched arrays of ``vmap``.
INTERCEPTED: set[type] = set()
#: All classes of arrays.
ARRAYS: set[type] = set()
#: For each class of a family, the class of its tracked arrays.
TRACKED_OF = _OfClass()
#: For each class of a family, the class of its untracked arrays.
UNTRACKED_OF = _OfClass()


def register_family(untracked: type, tracked: type) -> None:
    """Register two classes of arrays, for untracked and for tracked arrays."""
    TRACKED.add(tracked)
    UNTRACKED.add(untracked)
    INTERCEPTED.add(tracked)
    for kind in (untracked, tracked):
        ARRAYS.add(kind)
        TRACKED_OF[kind] = tracked
        UNTRACKED_OF[kind] = untracked
