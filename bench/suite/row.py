"""One line of the tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from suite.array_reference import ARRAY_REFERENCES
from suite.data import Input
from suite.reference import REFERENCES, entries


@dataclass
class Row:
    """One piece of work. ``unit`` says what its rate counts: the flops ("TFLOP/s"), the bytes
    ("TB/s", "GB/s"), the elements ("G elements/s") or nothing, but the time itself ("µs", "ms"). A
    page may take about ``budget`` seconds for its repeats. ``first`` rows are measured in a fresh
    page each, ``array`` rows are programs in the libraries' arrays, in pages of their own."""

    id: str
    section: str
    op: str
    dtype: str
    inputs: dict[str, Input]
    out: tuple[int, ...]
    unit: str
    tolerance: float
    options: dict[str, Any] = field(default_factory=dict)
    flops: float = 0
    nbytes: float = 0
    elements: float = 0
    goal: float | None = None
    budget: float = 0.6
    ours_only: bool = False
    first: bool = False
    array: bool = False

    def as_json(self) -> dict[str, Any]:
        """What the pages read: the row with the values that its result must have."""
        at = entries(self.out)
        reference = (ARRAY_REFERENCES if self.array else REFERENCES)[self.op]
        values = [reference(self.inputs, self.out, self.options, index) for index in at]
        return asdict(self) | {
            "inputs": {name: asdict(x) for name, x in self.inputs.items()},
            "check": {"at": at, "values": values, "tolerance": self.tolerance},
        }
