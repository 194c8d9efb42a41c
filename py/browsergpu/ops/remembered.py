"""Remembering plans by their arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def remembered(plan: Callable[P, T]) -> Callable[P, T]:
    """Caches a pure function. ``True``, ``1`` and ``1.0`` are different arguments to it, and what
    cannot be hashed is computed each time. Exceptions are not remembered."""
    cached = lru_cache(maxsize=1024, typed=True)(plan)

    @wraps(plan)
    def call(*args: Any) -> T:
        try:
            return cached(*args)
        except TypeError:
            return plan(*args)  # type: ignore[call-arg]

    return call  # type: ignore[return-value]
