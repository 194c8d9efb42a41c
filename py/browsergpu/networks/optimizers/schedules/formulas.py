"""Schedulers with a formula for the rate after n steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import cos, floor, log, pi, prod
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.networks.optimizers.optimizer import Optimizer
from browsergpu.networks.optimizers.schedules.base import (
    Chainable,
    LRScheduler,
    for_each_group,
    function_of,
)

Function = Callable[[int], float]


class LambdaLR(LRScheduler):
    """Set the rate to base f(n), with one function or one for each group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Function | Sequence[Function], last_epoch: int = -1
    ) -> None:
        op = "LambdaLR"
        self.lr_lambdas = for_each_group(op, "lr_lambda", lr_lambda, optimizer, function_of)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * float(self.lr_lambdas[at](n))


class MultiplicativeLR(LRScheduler):
    """Multiply the rate by f(n) in each step, with one function or one for each group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Function | Sequence[Function], last_epoch: int = -1
    ) -> None:
        op = "MultiplicativeLR"
        self.lr_lambdas = for_each_group(op, "lr_lambda", lr_lambda, optimizer, function_of)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return float(base * prod(self.lr_lambdas[at](step) for step in range(1, n + 1)))

    def _next(self, rate: float, base: float, at: int, n: int) -> float:
        return rate * float(self.lr_lambdas[at](n)) if n else rate


class StepLR(Chainable):
    """Set the rate to base γ^⌊n / step_size⌋."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = checks.integer("StepLR", "step_size", step_size, 1)
        self.gamma = checks.real("StepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * self.gamma ** (n // self.step_size)


class MultiStepLR(Chainable):
    """Set the rate to base γ^k, where k is the number of milestones up to n."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.milestones = checks.dimensions("MultiStepLR", "milestones", milestones)
        self.gamma = checks.real("MultiStepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * self.gamma ** sum(one <= n for one in self.milestones)


class ExponentialLR(Chainable):
    """Set the rate to base γⁿ."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = checks.real("ExponentialLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return float(base * self.gamma**n)

    def _next(self, rate: float, base: float, at: int, n: int) -> float:
        return rate * self.gamma if n else rate


class ConstantLR(Chainable):
    """Set the rate to base times ``factor`` for the first ``total_iters`` steps, then to base."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.factor = checks.real("ConstantLR", "factor", factor)
        self.total_iters = checks.integer("ConstantLR", "total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return base * self.factor if n < self.total_iters else base


class LinearLR(Chainable):
    """Set the rate to base times a factor that changes linearly.

    The factor goes from ``start_factor`` to ``end_factor`` in ``total_iters`` steps and stays
    there.
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0,
        total_iters: int = 5, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.start_factor = checks.real("LinearLR", "start_factor", start_factor)
        self.end_factor = checks.real("LinearLR", "end_factor", end_factor)
        if not 0 < self.start_factor <= 1:
            raise InvalidArgument("LinearLR", "start_factor", start_factor, "above 0, at most 1")
        if not 0 <= self.end_factor <= 1:
            raise InvalidArgument("LinearLR", "end_factor", end_factor, "from 0 to 1")
        self.total_iters = checks.integer("LinearLR", "total_iters", total_iters, 1)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        way = min(n, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * way)


class PolynomialLR(Chainable):
    """Set the rate to base (1 - n / total_iters)^power, and to 0 after ``total_iters`` steps."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = checks.integer("PolynomialLR", "total_iters", total_iters, 1)
        self.power = checks.real("PolynomialLR", "power", power)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return float(base * (1 - min(n, self.total_iters) / self.total_iters) ** self.power)


class CosineAnnealingLR(Chainable):
    """Set the rate to eta_min + (base - eta_min) (1 + cos(π n / T_max)) / 2.

    Source: Loshchilov and Hutter, "SGDR", arXiv 1608.03983, without restarts.
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = checks.integer("CosineAnnealingLR", "T_max", T_max, 1)
        self.eta_min = checks.real("CosineAnnealingLR", "eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, at: int, n: int) -> float:
        return self.eta_min + (base - self.eta_min) * self._share(n)

    def _next(self, rate: float, base: float, at: int, n: int) -> float:
        if not n:
            return rate
        now, before = self._share(n), self._share(n - 1)
        if (n - 1 - self.T_max) % (2 * self.T_max) == 0:  # the share before is 0
            return rate + (base - self.eta_min) * now
        return self.eta_min + (rate - self.eta_min) * (now / before)

    def _share(self, n: int) -> float:
        return (1 + cos(pi * n / self.T_max)) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the rate along a cosine, and start again after each period.

    The rate is eta_min + (base - eta_min) (1 + cos(π t / T)) / 2, where t is the number of steps in
    the period of length T. ``step(epoch)`` also takes fractions.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    T_0 : int
        Length of the first period.
    T_mult : int
        Factor of each period's length to the one before.
    eta_min : float
        The lowest rate.
    last_epoch : int
        Number of steps so far.

    Notes
    -----
    Source: Loshchilov and Hutter, "SGDR", arXiv 1608.03983.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        op = "CosineAnnealingWarmRestarts"
        self.T_0 = checks.integer(op, "T_0", T_0, 1)
        self.T_mult = checks.integer(op, "T_mult", T_mult, 1)
        self.eta_min = checks.real(op, "eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def _checked_epoch(self, epoch: Any) -> float:
        return checks.nonnegative(type(self).__name__, "epoch", epoch)

    def _go_to(self, epoch: float) -> None:
        self.last_epoch = floor(epoch)
        self._take([self._at(base, epoch) for base in self.base_lrs])

    def _rate(self, base: float, at: int, n: int) -> float:
        return self._at(base, n)

    def _at(self, base: float, n: float) -> float:
        length, inside = float(self.T_0), n
        if self.T_mult == 1:
            inside = n % self.T_0
        elif n >= self.T_0:
            periods = floor(log(n / self.T_0 * (self.T_mult - 1) + 1, self.T_mult) + 1e-9)
            length = float(self.T_0 * self.T_mult**periods)
            inside = n - self.T_0 * (self.T_mult**periods - 1) / (self.T_mult - 1)
        return self.eta_min + (base - self.eta_min) * (1 + cos(pi * inside / length)) / 2
