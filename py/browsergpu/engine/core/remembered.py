"""Caching of plans by their arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_INT = frozenset({int})


def remembered(plan: Callable[P, T]) -> Callable[P, T]:
    """Cache a pure function of positional arguments.

    ``True``, ``1`` and ``1.0`` are distinct arguments, though equal. The result is not cached if an
    argument cannot be hashed or is a tuple that contains anything but ints. Exceptions are not
    cached.
    """
    cached = lru_cache(maxsize=1024, typed=True)(plan)

    @wraps(plan)
    def call(*args: Any) -> T:
        for argument in args:
            if type(argument) is tuple and not _INT.issuperset(map(type, argument)):
                return plan(*args)  # type: ignore[call-arg]
        try:
            return cached(*args)
        except TypeError:
            return plan(*args)  # type: ignore[call-arg]

    return call  # type: ignore[return-value]


def hashable(value: Any) -> Any:
    """Convert a list to a tuple, so that a plan made from it can be cached."""
    return tuple(value) if type(value) is list else value
