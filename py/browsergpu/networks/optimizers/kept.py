"""What an optimiser's formula has of a parameter's state: arrays that stand for those of all
parameters that it is computed for."""

from __future__ import annotations

from math import log
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.update import Draft
from browsergpu.core.element_types import FLOAT32
from browsergpu.core.showing import Shown
from browsergpu.functions import elementwise
from browsergpu.networks.optimizers.settings import Settings

#: What is kept of a parameter from step to step: arrays, and whole numbers.
State = dict[str, Any]

_LOG_OF_0 = -1e4


class Kept(Shown):
    """The state while the formula is recorded. ``state`` is one parameter's; the others have arrays
    of the same names, and have come as far. ``operands`` are those that a row has already.
    ``skipped``: an array of one bool, True where the step is not to be."""

    def __init__(
        self,
        draft: Draft,
        state: State,
        operands: int,
        skipped: Array | None = None,
    ) -> None:
        self._draft = draft
        self._skipped = None if skipped is None else draft.number(skipped)
        self._state = state
        self._operands = operands
        #: The names of the arrays that a row has, in their order.
        self.names: list[str] = []
        #: And of those that no parameter has yet, with what all their elements are at first.
        self.begun: dict[str, float] = {}
        #: The names of the arrays that the formula makes.
        self.made: list[str] = []
        self._arrays: dict[str, Array] = {}

    @property
    def step(self) -> int:
        """The number of the step that is taken; in a graph that of each replay."""
        return self._state["step"]  # type: ignore[no-any-return]

    @property
    def counted(self) -> Array | None:
        """The number of the step that is taken, where the GPU counts them."""
        step = self._state.get("step")
        return step if isinstance(step, Array) else None

    def chosen(self, before: Any, now: Array) -> Array:
        """The new value, or, in a step that is not to be, that from before."""
        return now if self._skipped is None else elementwise.where(self._skipped, before, now)

    def get(self, name: str) -> Array | None:
        """An array of the state; None where there is none yet."""
        return None if self._state.get(name) is None else self.kept(name)

    def kept(self, name: str, value: float = 0.0) -> Array:
        """An array of the state, which begins with one value everywhere."""
        if name not in self._arrays:
            if self._state.get(name) is None:
                self.begun[name] = value
            self._arrays[name] = self._draft.operand(FLOAT32)
            self.names.append(name)
        return self._arrays[name]

    def keep(self, name: str, value: Array) -> Array:
        """Another value for an array of the state, which stays the array that it is."""
        if name in self._arrays:
            chosen = self.chosen(self._arrays[name], value)
            self._draft.result(chosen, self._operands + self.names.index(name))
        else:
            self._draft.result(self.chosen(0.0, value))
            self.made.append(name)
        return value


def complement(counted: Array, settings: Settings, name: str, at: int) -> Array:
    """1 - bᵗ of a setting b in step t, which the GPU counts: t is taken for at least 1, as what a
    step before the first one gives is skipped."""
    power = settings.array(f"log {name} {at}", lambda group: _log(group[name][at]))
    # 1 - exp would lose the digits of what is near 0.
    return -elementwise.expm1(elementwise.maximum(counted, 1.0) * power)


def _log(base: float) -> float:
    """The logarithm; of 0 a number whose exponential is 0 in float32."""
    return log(base) if base else _LOG_OF_0
