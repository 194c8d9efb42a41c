"""The order of events in this process, such as seeds and the beginnings of captured blocks."""

from itertools import count

_MOMENTS = count(1)


def next_moment() -> int:
    """Return a number that is larger than all earlier ones."""
    return next(_MOMENTS)
