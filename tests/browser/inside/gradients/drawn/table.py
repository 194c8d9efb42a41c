"""The generated calls of each function with a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from inside.gradients.drawn.directions import Call

Table = dict[str, st.SearchStrategy[Call]]


def entry(table: Table, *names: str) -> Callable[[Callable[..., Call]], None]:
    """Register ``make(draw, name)``, which draws calls of the named functions."""

    def decorate(make: Callable[..., Call]) -> None:
        drawn: Any = st.composite(make)
        for name in names:
            assert name not in table, f"{name} has an entry already"
            table[name] = drawn(name)

    return decorate
