"""Schedulers that combine others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.networks.optimizers.optimizer import Optimizer
from browsergpu.networks.optimizers.schedules.base import LRScheduler, checked_state


def _checked(op: str, schedulers: Any, optimizer: Any) -> list[LRScheduler]:
    given = list(schedulers) if isinstance(schedulers, list | tuple) else []
    if not given or not all(isinstance(one, LRScheduler) for one in given):
        raise InvalidType(op, "schedulers", schedulers, "a list of schedulers")
    own = given[0].optimizer if optimizer is None else optimizer
    if any(one.optimizer is not own for one in given):
        raise InvalidArgument(op, "schedulers", schedulers, "of one optimizer")
    return given


class _Combined(LRScheduler):
    """Base of schedulers that combine others."""

    _schedulers: list[LRScheduler]

    def _checked_epoch(self, epoch: Any) -> Any:
        raise InvalidArgument(type(self).__name__, "epoch", epoch, "None")

    def state_dict(self) -> dict[str, Any]:
        """Return the number of steps and the states of the schedulers."""
        states = [one.state_dict() for one in self._schedulers]
        return {"last_epoch": self.last_epoch, "schedulers": states}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a state. The rates are those of the optimizer's state.

        Raises InvalidType or InvalidArgument if the state does not fit.
        """
        op = "load_state_dict"
        state = checked_state(state_dict, "last_epoch", "schedulers")
        states = list(state["schedulers"])
        if len(states) != len(self._schedulers):
            expected = f"have {len(self._schedulers)} states"
            raise InvalidArgument(op, "schedulers", len(states), expected)
        for one, own in zip(self._schedulers, states, strict=True):
            if isinstance(one, _Combined):
                one.load_state_dict(own)
            else:
                one._take_state(checked_state(own, "last_epoch", "base_lrs"))
        self.last_epoch = checks.integer(op, "last_epoch", state["last_epoch"])


class ChainedScheduler(_Combined):
    """Step several schedulers together. Each scheduler changes the rate set by the previous one.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
        Schedulers of one optimizer.
    optimizer : Optimizer, optional
        The optimizer.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._schedulers = _checked("ChainedScheduler", schedulers, optimizer)
        self.optimizer = self._schedulers[0].optimizer
        self.base_lrs = list(self._schedulers[0].base_lrs)
        self.last_epoch = 0

    def _go_on(self) -> None:
        self.last_epoch += 1
        for one in self._schedulers:
            one._go_on()


class SequentialLR(_Combined):
    """Use several schedulers one after the other.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    schedulers : sequence of LRScheduler
        Schedulers of this optimizer.
    milestones : sequence of int
        The steps at which each scheduler but the first starts, from its own step 0.
    last_epoch : int
        -1. ``load_state_dict`` continues a schedule.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        op = "SequentialLR"
        self._schedulers = _checked(op, schedulers, optimizer)
        count = len(self._schedulers) - 1
        self.milestones = checks.dimensions(op, "milestones", milestones, count)
        if list(self.milestones) != sorted({*self.milestones}):
            raise InvalidArgument(op, "milestones", milestones, "rising numbers")
        if last_epoch != -1:
            raise InvalidArgument(op, "last_epoch", last_epoch, "-1 (load_state_dict continues)")
        self.optimizer = optimizer
        self.base_lrs = list(self._schedulers[0].base_lrs)
        self.last_epoch = 0
        self._take([group["initial_lr"] for group in optimizer.param_groups])
        self._schedulers[0].last_epoch = -1
        self._schedulers[0]._go_on()

    def _go_on(self) -> None:
        self.last_epoch += 1
        at = bisect_right(self.milestones, self.last_epoch)
        if at and self.milestones[at - 1] == self.last_epoch:
            self._schedulers[at]._go_to(0)
        else:
            self._schedulers[at]._go_on()
