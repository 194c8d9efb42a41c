"""Comparison of variants on one problem, by the times of their turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.port import Pipeline
from browsergpu.engine.gpu.program import Program
from browsergpu.engine.kernels.base.family import Variant

#: Maximum ratio of a variant's first time to the general variant's. A slower one is out.
SLOWEST = 4.0
#: Readings of each variant. The median decides.
READINGS = 3
#: Maximum number of turns in a reading. A reading ends earlier when its turns have taken
#: _WORTH_READING seconds, because browsers round the GPU's clock to 0.1 ms.
MOST_TURNS = 16
_WORTH_READING = 0.5e-3
_ROUNDING = 0.1e-3
#: Maximum ratio of a variant's best time to the fastest variant's, after two readings.
_HOPELESS = 2.0
#: The default variant stays unless another takes less than this share of its time.
_WORTH_CHANGING = 0.95
#: Maximum turns with unknown times for a variant, once its first time is known.
_MOST_RUNNING = 8


@dataclass(eq=False)
class Candidate:
    """A variant in a comparison.

    ``bound`` is its program, prepared for the device once it is compiled. Times are in seconds.
    """

    variant: Variant
    program: Program | None = None
    pipelines: tuple[Pipeline, ...] = ()
    bound: Any = None
    first: float | None = None
    turns: list[float] = field(default_factory=list)  # of the current reading
    readings: list[float] = field(default_factory=list)
    taken: int = 0
    running: int = 0
    is_out: bool = False

    def note(self, seconds: float) -> None:
        """Add a turn's time. It is negative if the turn was not timed."""
        self.running -= 1
        if seconds < 0:
            return
        if self.first is None:
            self.first = seconds
        self.turns.append(seconds)
        if sum(self.turns) >= _WORTH_READING or len(self.turns) >= MOST_TURNS:
            self.readings.append(float(np.mean(self.turns)))
            self.turns = []

    @property
    def seconds(self) -> float:
        """The median of the readings, or infinity if there are none."""
        return float(np.median(self.readings)) if self.readings else float("inf")

    @property
    def may_run(self) -> bool:
        """Whether another turn is allowed now. The time of the first turn must be known first."""
        return not self.is_out and self.running < (1 if self.first is None else _MOST_RUNNING)


class Comparison(Shown):
    """The turns for one problem.

    The first candidate is the default variant. ``general`` is the variant that supports every
    problem.
    """

    def __init__(
        self, op: str, size_class: str, candidates: list[Candidate], general: Candidate
    ) -> None:
        self.op = op
        self.size_class = size_class
        self.candidates = candidates
        self.general = general
        self.calls = 0
        #: Outputs that the general kernel's workgroups compute, or 0 if unknown.
        self.outputs = 0.0

    @property
    def left(self) -> list[Candidate]:
        """The candidates that are not out."""
        return [candidate for candidate in self.candidates if not candidate.is_out]

    @property
    def best(self) -> Candidate:
        """The fastest candidate so far, or the default one before any reading."""
        known = [candidate for candidate in self.left if candidate.readings]
        return min(known, key=_seconds, default=self.candidates[0])

    def sort_out(self) -> None:
        """Exclude candidates that were too slow."""
        quickest = self.best.seconds
        for candidate in self.left:
            if candidate.first is not None and self.general.first is not None:
                candidate.is_out |= candidate.first > SLOWEST * max(self.general.first, _ROUNDING)
            if len(candidate.readings) > 1:  # a single one may have been disturbed
                candidate.is_out |= min(candidate.readings) > _HOPELESS * quickest

    @property
    def winner(self) -> Candidate | None:
        """The fastest candidate, once all remaining ones have their readings. None until then."""
        left = self.left
        if len(left) > 1 and any(len(candidate.readings) < READINGS for candidate in left):
            return None
        quickest, present = min(left, key=_seconds), self.candidates[0]
        if present in left and quickest.seconds > _WORTH_CHANGING * present.seconds:
            return present
        return quickest


def _seconds(candidate: Candidate) -> float:
    return candidate.seconds
