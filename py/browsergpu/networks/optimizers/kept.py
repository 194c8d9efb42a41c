"""What an optimiser's formula has of a parameter's state: arrays that stand for those of all
parameters that it is computed for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import log
from typing import Any

from browsergpu.array.array import Array
from browsergpu.array.functions import elementwise
from browsergpu.array.graphs.hooks import each_time
from browsergpu.array.updating import Draft
from browsergpu.core.element_types import FLOAT32

#: What is kept of a parameter from step to step: arrays, and whole numbers.
State = dict[str, Any]


class Kept:
    """The state while the formula is recorded. ``state`` is one parameter's; the others have arrays
    of the same names, and have come as far. ``operands`` are those that a row has already.
    ``skipped``: an array of one bool, True where the step is not to be."""

    def __init__(
        self,
        draft: Draft,
        state: State,
        group: Hashable,
        operands: int,
        skipped: Array | None = None,
    ) -> None:
        self._draft = draft
        self._skipped = None if skipped is None else draft.number(skipped)
        self._state = state
        self._group = group
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

    def setting(self, x: Array, name: str, value: Callable[[], float]) -> Any:
        """A number of the step that is taken, or an array without axes: the same one for all
        parameters of a group that have come as far."""
        step = None if self.counted is not None else self._state.get("step")
        return each_time(x, (self._group, step, name), value)

    def number(self, x: Any) -> Any:
        """A number, or an array without axes, for the formula."""
        return self._draft.number(x)

    def rate(self, x: Array, name: str, value: Callable[[], float]) -> Any:
        """A :meth:`setting` for the formula."""
        return self.number(self.setting(x, name, value))


def complement(counted: Array, base: float) -> Array:
    """1 - baseᵗ in step t, which the GPU counts: t is taken for at least 1, as what a step before
    the first one gives is skipped."""
    step = elementwise.maximum(counted, 1.0)
    if base == 0:
        return elementwise.minimum(step, 1.0)
    # 1 - exp would lose the digits of what is near 0.
    return -elementwise.expm1(step * log(base))
