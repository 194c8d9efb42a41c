"""Learning rate schedulers with PyTorch's names.

Each computes the rate from the optimizer's initial rate, base, and the number of steps so far, n.
Other changes of the rate are overwritten. Replays of a captured step follow the rates, momenta and
betas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import cos, pi
from typing import Any

from browsergpu.arrays.graphs.hooks import repeated
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Shown
from browsergpu.networks.optimizers.optimizer import Optimizer
from browsergpu.networks.optimizers.settings import Group

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "StepLR",
]


class LRScheduler(Shown):
    """Base class of schedulers.

    Call ``step()`` after the optimizer's ``step()``. It sets the next rate of each group.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise InvalidType(type(self).__name__, "optimizer", optimizer, "an Optimizer")
        self.optimizer = optimizer
        self.base_lrs = [float(group["lr"]) for group in optimizer.param_groups]
        #: Number of steps so far.
        self.last_epoch = 0
        self._set()

    def _facts(self) -> str:
        return f"after {self.last_epoch} steps"

    def step(self) -> None:
        """Set the rates of the next step."""
        repeated(self.optimizer.param_groups[0]["params"][0], self._go_on)

    def _go_on(self) -> None:
        self.last_epoch += 1
        self._set()

    def _set(self) -> None:
        for at, group in enumerate(self.optimizer.param_groups):
            group["lr"] = self._rate(self.base_lrs[at], at, self.last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        """Return the rate of the group with index ``at`` after n steps."""
        raise NotImplementedError

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
        op = "load_state_dict"
        if not isinstance(state_dict, Mapping) or not {"last_epoch", "base_lrs"} <= {*state_dict}:
            raise InvalidType(op, "state_dict", state_dict, "a dict from state_dict()")
        rates = list(state_dict["base_lrs"])
        if len(rates) != len(self.base_lrs):
            raise InvalidArgument(op, "base_lrs", rates, f"have {len(self.base_lrs)} numbers")
        self.last_epoch = checks.integer(op, "last_epoch", state_dict["last_epoch"])
        self.base_lrs = rates
        self._set()


class LambdaLR(LRScheduler):
    """Set the rate to base f(n), with one function or one for each group."""

    def __init__(
        self, optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
    ) -> None:  # fmt: skip
        count = len(getattr(optimizer, "param_groups", ()))
        given = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * count
        if len(given) != count or not all(callable(one) for one in given):
            raise InvalidType(
                "LambdaLR", "lr_lambda", lr_lambda, "a function, or one for each group"
            )
        self.lr_lambdas: list[Any] = given
        super().__init__(optimizer)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * float(self.lr_lambdas[at](n))


class StepLR(LRScheduler):
    """Set the rate to base γ^⌊n / step_size⌋."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        self.step_size = checks.integer("StepLR", "step_size", step_size, 1)
        self.gamma = checks.real("StepLR", "gamma", gamma)
        super().__init__(optimizer)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * self.gamma ** (n // self.step_size)


class MultiStepLR(LRScheduler):
    """Set the rate to base γ^k, where k is the number of milestones up to n."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        self.milestones = checks.dimensions("MultiStepLR", "milestones", milestones)
        self.gamma = checks.real("MultiStepLR", "gamma", gamma)
        super().__init__(optimizer)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * self.gamma ** sum(one <= n for one in self.milestones)


class ExponentialLR(LRScheduler):
    """Set the rate to base γⁿ."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = checks.real("ExponentialLR", "gamma", gamma)
        super().__init__(optimizer)

    def _rate(self, base: float, at: int, n: int) -> float:
        return float(base * self.gamma**n)


class ConstantLR(LRScheduler):
    """Set the rate to base times ``factor`` for the first ``total_iters`` steps, then to base."""

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5) -> None:
        self.factor = checks.real("ConstantLR", "factor", factor)
        self.total_iters = checks.integer("ConstantLR", "total_iters", total_iters)
        super().__init__(optimizer)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * self.factor if n < self.total_iters else base


class LinearLR(LRScheduler):
    """Set the rate to base times a factor that changes linearly.

    The factor goes from ``start_factor`` to ``end_factor`` in ``total_iters`` steps and stays
    there.
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:  # fmt: skip
        self.start_factor = checks.real("LinearLR", "start_factor", start_factor)
        self.end_factor = checks.real("LinearLR", "end_factor", end_factor)
        self.total_iters = checks.integer("LinearLR", "total_iters", total_iters, 1)
        super().__init__(optimizer)

    def _rate(self, base: float, at: int, n: int) -> float:
        way = min(n, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * way)


class CosineAnnealingLR(LRScheduler):
    """Set the rate to eta_min + (base - eta_min) (1 + cos(π n / T_max)) / 2.

    Source: Loshchilov and Hutter, "SGDR", arXiv 1608.03983, without restarts.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        self.T_max = checks.integer("CosineAnnealingLR", "T_max", T_max, 1)
        self.eta_min = checks.real("CosineAnnealingLR", "eta_min", eta_min)
        super().__init__(optimizer)

    def _rate(self, base: float, at: int, n: int) -> float:
        return self.eta_min + (base - self.eta_min) * (1 + cos(pi * n / self.T_max)) / 2


class OneCycleLR(LRScheduler):
    """Raise the rate to ``max_lr`` and lower it again, over all steps.

    The rate starts at max_lr / div_factor. It reaches ``max_lr`` after the fraction ``pct_start``
    of the steps, and ends at the first rate / final_div_factor.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    max_lr : float or sequence of float
        Maximum rate, of all groups or of each.
    total_steps : int, optional
        Number of steps. A further step raises InvalidArgument.
    epochs, steps_per_epoch : int, optional
        Factors of the number of steps, instead of ``total_steps``.
    pct_start : float
        Fraction of the steps in which the rate rises.
    anneal_strategy : str
        "cos" for a cosine, or "linear".
    cycle_momentum : bool
        Whether to change the momentum, or β₁, in the opposite direction.
    base_momentum, max_momentum : float
        Bounds of the momentum. It goes from the maximum down and back.
    div_factor, final_div_factor : float
        Divisors for the first and the last rate.

    Notes
    -----
    Source: Smith and Topin, "Super-convergence", arXiv 1708.07120.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float],
        total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: float = 0.85, max_momentum: float = 0.95,
        div_factor: float = 25.0, final_div_factor: float = 1e4,
    ) -> None:  # fmt: skip
        op = "OneCycleLR"
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                expected = "a number, or epochs and steps_per_epoch"
                raise InvalidArgument(op, "total_steps", total_steps, expected)
            total_steps = checks.integer(op, "epochs", epochs, 1) * checks.integer(
                op, "steps_per_epoch", steps_per_epoch, 1
            )
        self.total_steps = checks.integer(op, "total_steps", total_steps, 1)
        self.pct_start = checks.real(op, "pct_start", pct_start)
        if not 0 <= self.pct_start <= 1:
            raise InvalidArgument(op, "pct_start", pct_start, "a number from 0 to 1")
        if anneal_strategy not in ("cos", "linear"):
            raise InvalidArgument(op, "anneal_strategy", anneal_strategy, "'cos' or 'linear'")
        self.anneal_strategy = anneal_strategy
        self.cycle_momentum = checks.flag(op, "cycle_momentum", cycle_momentum)
        self.base_momentum = checks.real(op, "base_momentum", base_momentum)
        self.max_momentum = checks.real(op, "max_momentum", max_momentum)
        self.div_factor = checks.real(op, "div_factor", div_factor)
        self.final_div_factor = checks.real(op, "final_div_factor", final_div_factor)
        groups = getattr(optimizer, "param_groups", [])
        given = list(max_lr) if isinstance(max_lr, list | tuple) else [max_lr] * len(groups)
        if len(given) != len(groups):
            raise InvalidArgument(op, "max_lr", max_lr, f"a number, or {len(groups)} of them")
        self.max_lrs = [checks.real(op, "max_lr", one) for one in given]
        if self.cycle_momentum and not all("momentum" in g or "betas" in g for g in groups):
            expected = "False for an optimizer without momentum or betas"
            raise InvalidArgument(op, "cycle_momentum", cycle_momentum, expected)
        super().__init__(optimizer)

    def _set(self) -> None:
        if self.last_epoch >= self.total_steps:
            expected = f"less than total_steps, {self.total_steps}"
            raise InvalidArgument("OneCycleLR", "step", self.last_epoch, expected)
        super()._set()
        if self.cycle_momentum:
            high, low = self.max_momentum, self.base_momentum
            for group in self.optimizer.param_groups:
                _set_momentum(group, self._between(high, low, high, self.last_epoch))

    def _rate(self, base: float, at: int, n: int) -> float:
        most = self.max_lrs[at]
        first = most / self.div_factor
        return self._between(first, most, first / self.final_div_factor, n)

    def _between(self, first: float, middle: float, last: float, n: int) -> float:
        turn = self.pct_start * self.total_steps - 1
        end = self.total_steps - 1
        if n <= turn:
            return self._annealed(first, middle, n / turn if turn else 1.0)
        return self._annealed(middle, last, (n - turn) / (end - turn))

    def _annealed(self, start: float, end: float, way: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * way
        return end + (start - end) * (1 + cos(pi * way)) / 2


def _set_momentum(group: Group, value: float) -> None:
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value
