"""Argument checks that several layers share."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core import checks


def extents(op: str, name: str, value: Any) -> tuple[int, ...]:
    """Return integers of at least 1, from one integer or a sequence."""
    given = value if checks.is_several(value) else (value,)
    return checks.dimensions(op, name, given, minimum=1)
