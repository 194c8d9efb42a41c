"""The optimizer state that an update formula uses.

Arrays in the formula represent the arrays of all parameters to which it applies.
"""

from __future__ import annotations

from math import log
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.update import Draft
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import elementwise
from browsergpu.networks.optimizers.settings import Settings

#: State of a parameter between steps: arrays and integers.
State = dict[str, Any]

_LOG_OF_0 = -1e4


class Kept(Shown):
    """The state while an update formula is recorded.

    Parameters
    ----------
    draft : Draft
        The formula.
    state : dict
        The state of one parameter. The other parameters have arrays with the same names and the
        same number of steps.
    operands : int
        Number of operands that a row has already.
    skipped : Array, optional
        An array of one bool, True if the step is to be skipped.
    """

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
        #: Names of the state arrays in a row, in order.
        self.names: list[str] = []
        #: Initial values of state arrays that no parameter has yet.
        self.begun: dict[str, float] = {}
        #: Names of the arrays that the formula creates.
        self.made: list[str] = []
        self._arrays: dict[str, Array] = {}

    @property
    def step(self) -> int:
        """The number of the current step. In a captured graph, the number of each replay's step."""
        return self._state["step"]  # type: ignore[no-any-return]

    @property
    def counted(self) -> Array | None:
        """The number of the current step as an array, if the GPU counts steps."""
        step = self._state.get("step")
        return step if isinstance(step, Array) else None

    def chosen(self, before: Any, now: Array) -> Array:
        """Return the new value, or the old one if the step is skipped."""
        return now if self._skipped is None else elementwise.where(self._skipped, before, now)

    def get(self, name: str) -> Array | None:
        """Return an array of the state, or None if it does not exist yet."""
        return None if self._state.get(name) is None else self.kept(name)

    def kept(self, name: str, value: float = 0.0) -> Array:
        """Return an array of the state. If it does not exist yet, it is filled with ``value``."""
        if name not in self._arrays:
            if self._state.get(name) is None:
                self.begun[name] = value
            self._arrays[name] = self._draft.operand(FLOAT32)
            self.names.append(name)
        return self._arrays[name]

    def keep(self, name: str, value: Array) -> Array:
        """Set the value of a state array, in place if the array exists."""
        if name in self._arrays:
            chosen = self.chosen(self._arrays[name], value)
            self._draft.result(chosen, self._operands + self.names.index(name))
        else:
            self._draft.result(self.chosen(0.0, value))
            self.made.append(name)
        return value


def complement(counted: Array, settings: Settings, name: str, at: int) -> Array:
    """Return 1 - bᵗ for a setting b in step t, which the GPU counts.

    t is at least 1 in the formula. It is 0 only if a first step is skipped, which discards the
    result.
    """
    power = settings.array(f"log {name} {at}", lambda group: _log(group[name][at]))
    # expm1 keeps the digits near 0, which 1 - exp would lose.
    return -elementwise.expm1(elementwise.maximum(counted, 1.0) * power)


def _log(base: float) -> float:
    """Return the logarithm. For 0, return a number whose exponential is 0 in float32."""
    return log(base) if base else _LOG_OF_0
