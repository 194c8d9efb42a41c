"""Which variant is the quickest for one problem, by the times of their turns at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from browsergpu.core.showing import Shown
from browsergpu.gpu.port import Pipeline
from browsergpu.gpu.program import Program
from browsergpu.kernels.base.family import Variant

#: So many times slower than the general kernel a variant may be on its first turn, to get another.
SLOWEST = 4.0
#: Readings of each variant, of which the median decides.
READINGS = 3
#: Turns of a reading at most. It needs no more of them after so many seconds: browsers round the
#: GPU's clock to 0.1 ms.
MOST_TURNS = 16
_WORTH_READING = 0.5e-3
_ROUNDING = 0.1e-3
#: So many times slower than the quickest a variant may be, by two readings, to go on.
_HOPELESS = 2.0
#: What is picked anyway stays, unless another takes less than this part of its time.
_WORTH_CHANGING = 0.95
#: Turns of a variant whose times are not known yet, once its first one's is.
_MOST_RUNNING = 8


@dataclass(eq=False)
class Entrant:
    """A variant at a problem: its program, bound to the device once it is compiled, and its times
    in seconds."""

    variant: Variant
    program: Program | None = None
    pipelines: tuple[Pipeline, ...] = ()
    bound: Any = None
    first: float | None = None
    turns: list[float] = field(default_factory=list)  # of the reading that is under way
    readings: list[float] = field(default_factory=list)
    taken: int = 0
    running: int = 0
    is_out: bool = False

    def note(self, seconds: float) -> None:
        """A turn's time has become known; less than 0 where it was not timed."""
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
        """The median of its readings; infinite where there is none."""
        return float(np.median(self.readings)) if self.readings else float("inf")

    @property
    def may_run(self) -> bool:
        """Whether it may have one more turn now: its first one's time decides about others."""
        return not self.is_out and self.running < (1 if self.first is None else _MOST_RUNNING)


class Contest(Shown):
    """The turns at one problem. The first of the entrants is what is picked anyway; ``general`` is
    the one that can do every problem."""

    def __init__(self, op: str, size_class: str, entrants: list[Entrant], general: Entrant) -> None:
        self.op = op
        self.size_class = size_class
        self.entrants = entrants
        self.general = general
        self.calls = 0
        #: Those that the general kernel's workgroups compute, where that is known; else 0.
        self.outputs = 0.0

    @property
    def left(self) -> list[Entrant]:
        """Those that are not out."""
        return [entrant for entrant in self.entrants if not entrant.is_out]

    @property
    def best(self) -> Entrant:
        """The quickest so far; before any reading, what is picked anyway."""
        known = [entrant for entrant in self.left if entrant.readings]
        return min(known, key=_seconds, default=self.entrants[0])

    def sort_out(self) -> None:
        """Leaves out those that were too slow."""
        quickest = self.best.seconds
        for entrant in self.left:
            if entrant.first is not None and self.general.first is not None:
                entrant.is_out |= entrant.first > SLOWEST * max(self.general.first, _ROUNDING)
            if len(entrant.readings) > 1:  # one may have been disturbed
                entrant.is_out |= min(entrant.readings) > _HOPELESS * quickest

    @property
    def winner(self) -> Entrant | None:
        """The quickest, once all that are left have had their turns."""
        left = self.left
        if len(left) > 1 and any(len(entrant.readings) < READINGS for entrant in left):
            return None
        quickest, present = min(left, key=_seconds), self.entrants[0]
        if present in left and quickest.seconds > _WORTH_CHANGING * present.seconds:
            return present
        return quickest


def _seconds(entrant: Entrant) -> float:
    return entrant.seconds
