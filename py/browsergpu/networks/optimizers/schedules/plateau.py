"""A scheduler that follows a measured quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.networks.optimizers.optimizer import Optimizer
from browsergpu.networks.optimizers.schedules.base import (
    LRScheduler,
    checked_state,
    for_each_group,
)

_STATE = ("last_epoch", "best", "num_bad_epochs", "cooldown_counter")


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rate by ``factor`` when a quantity has stopped improving.

    ``step(metrics)`` takes the quantity. If it is an array, the call waits for it.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    mode : str
        "min" if lower is better, "max" if higher is better.
    factor : float
        Factor of the rate, below 1.
    patience : int
        Number of steps without improvement that are tolerated.
    threshold : float
        The least improvement that counts.
    threshold_mode : str
        "rel" if the threshold is a share of the best value, "abs" if it is a difference.
    cooldown : int
        Number of steps after a reduction that do not count.
    min_lr : float or sequence of float
        The lowest rate, of all groups or of each.
    eps : float
        A smaller change of the rate is left out.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        op = "ReduceLROnPlateau"
        self.factor = checks.real(op, "factor", factor)
        if self.factor >= 1:
            raise InvalidArgument(op, "factor", factor, "a number below 1")
        for name, value, known in (
            ("mode", mode, ("min", "max")), ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):  # fmt: skip
            if value not in known:
                raise InvalidArgument(op, name, value, " or ".join(map(repr, known)))
        self.mode, self.threshold_mode = mode, threshold_mode
        self.patience = checks.integer(op, "patience", patience)
        self.threshold = checks.real(op, "threshold", threshold)
        self.cooldown = checks.integer(op, "cooldown", cooldown)
        self.min_lrs = for_each_group(op, "min_lr", min_lr, optimizer, checks.real)
        self.eps = checks.real(op, "eps", eps)
        #: The best value so far.
        self.best = inf if mode == "min" else -inf
        #: Number of steps without improvement since the best one or the last reduction.
        self.num_bad_epochs = 0
        #: Remaining steps that do not count.
        self.cooldown_counter = 0
        super().__init__(optimizer)

    def get_lr(self) -> list[float]:
        """Return the current rates."""
        return self.get_last_lr()

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the quantity's value, and reduce the rates if it does not improve.

        ``epoch`` is the number of the step, the next one by default.
        """
        op = "step"
        value = float(metrics)
        self.last_epoch = (
            self.last_epoch + 1 if epoch is None else checks.integer(op, "epoch", epoch)
        )
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        least = self.threshold
        if self.threshold_mode == "rel":
            if self.best in (inf, -inf):
                return value * sign < self.best * sign
            # The share is of the signed value, as in PyTorch.
            return value * sign < self.best * sign * (1 - sign * least)
        return value * sign < self.best * sign - least

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            rate = max(group["lr"] * self.factor, least)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate

    def state_dict(self) -> dict[str, Any]:
        """Return the number of steps, the best value and the counters."""
        return {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a state. The rates are those of the optimizer's state.

        Raises InvalidType if the state does not fit.
        """
        state = checked_state(state_dict, *_STATE)
        for name in _STATE:
            setattr(self, name, state[name])
