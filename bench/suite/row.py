"""A row of the tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from suite.array_reference import ARRAY_REFERENCES
from suite.data import Input
from suite.reference import REFERENCES, entries


@dataclass
class Row:
    """An operation to measure.

    ``unit`` selects the rate: of flops ("TFLOP/s"), bytes ("TB/s", "GB/s") or elements ("G
    elements/s"), or the time ("µs", "ms"). A page may take about ``budget`` seconds for the
    repeats. Each ``first`` row is measured in a new page. ``array`` rows are programs with each
    library's arrays, in separate pages.
    """

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
        """Return the row for the pages, with the reference values of its result."""
        at = entries(self.out)
        reference = (ARRAY_REFERENCES if self.array else REFERENCES)[self.op]
        values = [reference(self.inputs, self.out, self.options, index) for index in at]
        return asdict(self) | {
            "inputs": {name: asdict(x) for name, x in self.inputs.items()},
            "check": {"at": at, "values": values, "tolerance": self.tolerance},
        }
