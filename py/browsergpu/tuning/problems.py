"""A typical problem of each size class of the operations that have several variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from browsergpu.device import Device
from browsergpu.memory import Allocation


@dataclass(frozen=True)
class Problem:
    """Work that stands for a size class: how many float32 each of its buffers has, and what
    records it. The buffers hold ones."""

    op: str
    size_class: str
    elements: tuple[int, ...]
    record: Callable[[Device, Sequence[Allocation]], None]


PROBLEMS: tuple[Problem, ...] = ()
