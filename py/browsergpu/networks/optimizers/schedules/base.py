"""The base of schedulers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from browsergpu.arrays.graphs.hooks import repeated
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.networks.optimizers.optimizer import Optimizer


class LRScheduler(Shown):
    """Base class of schedulers.

    Call ``step()`` after the optimizer's ``step()``. It sets the next rate of each group. A
    subclass may define ``get_lr()``, which returns the rates from ``base_lrs``, ``last_epoch`` and
    the groups of ``optimizer``, as in PyTorch.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer. Its rates are the initial rates, unless it had a scheduler before.
    last_epoch : int
        Number of steps so far, to continue a schedule. -1 starts it.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        op = type(self).__name__
        if not isinstance(optimizer, Optimizer):
            raise InvalidType(op, "optimizer", optimizer, "an Optimizer")
        begun = checks.integer(op, "last_epoch", last_epoch, -1)
        groups = optimizer.param_groups
        if begun == -1:
            for group in groups:
                group.setdefault("initial_lr", group["lr"])
        elif not all("initial_lr" in group for group in groups):
            expected = "-1 for an optimizer without initial_lr in its groups"
            raise InvalidArgument(op, "last_epoch", last_epoch, expected)
        self.optimizer = optimizer
        self.base_lrs = [float(group["initial_lr"]) for group in groups]
        #: Number of steps so far.
        self.last_epoch = begun
        self._go_on()

    def _facts(self) -> str:
        return f"after {self.last_epoch} steps"

    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next step, or of the step with number ``epoch``."""
        param = self.optimizer.param_groups[0]["params"][0]
        if epoch is None:
            repeated(param, self._go_on)
            return
        at = self._checked_epoch(epoch)
        repeated(param, lambda: self._go_to(at))

    def _checked_epoch(self, epoch: Any) -> Any:
        return checks.integer(type(self).__name__, "epoch", epoch)

    def _go_on(self) -> None:
        self.last_epoch += 1
        self._take(self.get_lr())

    def _go_to(self, epoch: Any) -> None:
        self.last_epoch = epoch
        self._take(self._rates(epoch))

    def _take(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate

    def get_lr(self) -> list[float]:
        """Return the rates of step ``last_epoch``.

        The groups still have the previous step's rates.
        """
        groups = self.optimizer.param_groups
        return [
            self._next(group["lr"], base, at, self.last_epoch)
            for at, (group, base) in enumerate(zip(groups, self.base_lrs, strict=True))
        ]

    def _rates(self, n: int) -> list[float]:
        return [self._rate(base, at, n) for at, base in enumerate(self.base_lrs)]

    def _rate(self, base: float, at: int, n: int) -> float:
        """Return the rate of the group with index ``at`` after n steps."""
        raise NotImplementedError

    def _next(self, rate: float, base: float, at: int, n: int) -> float:
        """Return the rate after n steps, given the rate after n - 1. Before the first step, n is
        0.
        """
        return self._rate(base, at, n)

    def get_last_lr(self) -> list[float]:
        """Return the current rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return the number of steps and the initial rates."""
        return {"last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a state, and set the rates of its step.

        Raises InvalidType or InvalidArgument if the state does not fit.
        """
        self._take_state(checked_state(state_dict, "last_epoch", "base_lrs"))
        self._take(self._rates(self.last_epoch))

    def _take_state(self, state: Mapping[str, Any]) -> None:
        op = "load_state_dict"
        rates = list(state["base_lrs"])
        if len(rates) != len(self.base_lrs):
            raise InvalidArgument(op, "base_lrs", rates, f"have {len(self.base_lrs)} numbers")
        self.last_epoch = checks.integer(op, "last_epoch", state["last_epoch"])
        self.base_lrs = rates


class Chainable(LRScheduler):
    """Base of schedulers that multiply the current rate.

    Several of them can change one optimizer, and keep other changes of the rate.
    """

    def _next(self, rate: float, base: float, at: int, n: int) -> float:
        now = self._rate(base, at, n)
        before = base if n == 0 else self._rate(base, at, n - 1)
        return rate * (now / before) if before else now


def checked_state(state: Any, *names: str) -> Mapping[str, Any]:
    """Return a scheduler's state. Raises InvalidType unless it has these names."""
    if not isinstance(state, Mapping) or not {*names} <= {*state}:
        expected = "a dict from state_dict()"
        raise InvalidType("load_state_dict", "state_dict", state, expected)
    return state


def for_each_group(
    op: str, name: str, value: Any, optimizer: Any, check: Callable[[str, str, Any], Any]
) -> list[Any]:
    """Return one checked value for each group, from one value or a sequence."""
    count = len(getattr(optimizer, "param_groups", ()))
    given = list(value) if isinstance(value, list | tuple) else [value] * count
    if len(given) != count:
        raise InvalidArgument(op, name, value, f"one value, or {count} of them")
    return [check(op, name, one) for one in given]


def function_of(op: str, name: str, value: Any) -> Any:
    """Return a function. Raises InvalidType for anything else."""
    if not callable(value):
        raise InvalidType(op, name, value, "a function, or one for each group")
    return value
