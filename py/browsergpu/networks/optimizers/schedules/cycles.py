"""Schedulers that raise and lower the rate, and the momentum in the opposite direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, floor, pi
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.networks.optimizers.optimizer import Optimizer
from browsergpu.networks.optimizers.schedules.base import LRScheduler, for_each_group
from browsergpu.networks.optimizers.settings import Group


def set_momentum(group: Group, value: float) -> None:
    """Set the momentum of a group, or β₁."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def check_momentum(op: str, optimizer: Any, cycle_momentum: bool) -> None:
    """Raise InvalidArgument if the momentum shall change and a group has none."""
    groups = getattr(optimizer, "param_groups", [])
    if cycle_momentum and not all("momentum" in g or "betas" in g for g in groups):
        expected = "False for an optimizer without momentum or betas"
        raise InvalidArgument(op, "cycle_momentum", cycle_momentum, expected)


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
    three_phase : bool
        Whether the rate goes down to the first rate in as many steps as it rose, and then to the
        last rate.
    last_epoch : int
        Number of steps so far.

    Notes
    -----
    Source: Smith and Topin, "Super-convergence", arXiv 1708.07120.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float],
        total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: float = 0.85, max_momentum: float = 0.95,
        div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False,
        last_epoch: int = -1,
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
        self.pct_start = checks.fraction(op, "pct_start", pct_start)
        if anneal_strategy not in ("cos", "linear"):
            raise InvalidArgument(op, "anneal_strategy", anneal_strategy, "'cos' or 'linear'")
        self.anneal_strategy = anneal_strategy
        self.cycle_momentum = checks.flag(op, "cycle_momentum", cycle_momentum)
        self.base_momentum = checks.real(op, "base_momentum", base_momentum)
        self.max_momentum = checks.real(op, "max_momentum", max_momentum)
        self.div_factor = checks.real(op, "div_factor", div_factor)
        self.final_div_factor = checks.real(op, "final_div_factor", final_div_factor)
        self.three_phase = checks.flag(op, "three_phase", three_phase)
        self.max_lrs = for_each_group(op, "max_lr", max_lr, optimizer, checks.real)
        check_momentum(op, optimizer, self.cycle_momentum)
        super().__init__(optimizer, last_epoch)

    def _take(self, rates: Sequence[float]) -> None:
        n = self.last_epoch
        if n >= self.total_steps:
            expected = f"less than total_steps, {self.total_steps}"
            raise InvalidArgument("OneCycleLR", "step", n, expected)
        super()._take(rates)
        if self.cycle_momentum:
            high, low = self.max_momentum, self.base_momentum
            for group in self.optimizer.param_groups:
                set_momentum(group, self._between(high, low, high, high, n))

    def _rate(self, base: float, at: int, n: int) -> float:
        most = self.max_lrs[at]
        first = most / self.div_factor
        last = first / self.final_div_factor
        return self._between(first, most, first if self.three_phase else last, last, n)

    def _between(self, first: float, middle: float, back: float, last: float, n: int) -> float:
        """Return a value that goes from ``first`` to ``middle``, ``back`` and ``last``."""
        end = self.total_steps - 1
        turn = self.pct_start * self.total_steps - 1
        ends = [turn, 2 * turn, end] if self.three_phase else [turn, end]
        values = [first, middle, back, last] if self.three_phase else [first, middle, back]
        begun = 0.0
        for at, until in enumerate(ends):
            if n <= until or until is ends[-1]:
                way = (n - begun) / (until - begun) if until != begun else 1.0
                return self._annealed(values[at], values[at + 1], way)
            begun = until
        return last

    def _annealed(self, start: float, end: float, way: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * way
        return end + (start - end) * (1 + cos(pi * way)) / 2


#: By mode, the factor of the height of cycle k, and whether it depends on the cycle or the step.
_HEIGHTS: dict[str, tuple[Callable[[float, float], float], str]] = {
    "triangular": (lambda gamma, n: 1.0, "cycle"),
    "triangular2": (lambda gamma, n: 1 / 2 ** (n - 1), "cycle"),
    "exp_range": (lambda gamma, n: gamma**n, "iterations"),
}


class CyclicLR(LRScheduler):
    """Raise the rate from ``base_lr`` to ``max_lr`` and lower it again, in cycles.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    base_lr, max_lr : float or sequence of float
        Bounds of the rate, of all groups or of each.
    step_size_up : int
        Number of steps in which the rate rises.
    step_size_down : int, optional
        Number of steps in which it falls, ``step_size_up`` by default.
    mode : str
        "triangular" for equal cycles, "triangular2" to halve the height after each cycle, or
        "exp_range" to multiply the height by ``gamma`` in each step.
    gamma : float
        The factor of "exp_range".
    scale_fn : callable, optional
        A function that returns the factor of the height, instead of ``mode``.
    scale_mode : str
        Whether ``scale_fn`` gets the number of the "cycle", from 1, or of "iterations".
    cycle_momentum : bool
        Whether to change the momentum, or β₁, in the opposite direction.
    base_momentum, max_momentum : float or sequence of float
        Bounds of the momentum.
    last_epoch : int
        Number of steps so far.

    Notes
    -----
    Source: Smith, "Cyclical learning rates for training neural networks", arXiv 1506.01186.
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: float | Sequence[float],
        max_lr: float | Sequence[float], step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
        cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        op = "CyclicLR"
        up = checks.integer(op, "step_size_up", step_size_up, 1)
        down = up if step_size_down is None else step_size_down
        self.total_size = up + checks.integer(op, "step_size_down", down, 1)
        self.step_ratio = up / self.total_size
        self.gamma = checks.real(op, "gamma", gamma)
        self.mode, self.scale_mode = mode, scale_mode
        self._scale: Callable[[float], float]
        if scale_fn is not None:
            if not callable(scale_fn):
                raise InvalidType(op, "scale_fn", scale_fn, "a function or None")
            if scale_mode not in ("cycle", "iterations"):
                raise InvalidArgument(op, "scale_mode", scale_mode, "'cycle' or 'iterations'")
            self._scale = scale_fn
        elif mode not in _HEIGHTS:
            raise InvalidArgument(op, "mode", mode, f"one of {', '.join(_HEIGHTS)}")
        else:
            height, self.scale_mode = _HEIGHTS[mode]
            self._scale = lambda n: height(self.gamma, n)
        low, self.max_lrs, self.base_momentums, self.max_momentums = (
            for_each_group(op, name, value, optimizer, checks.real)
            for name, value in (
                ("base_lr", base_lr), ("max_lr", max_lr), ("base_momentum", base_momentum),
                ("max_momentum", max_momentum),
            )
        )  # fmt: skip
        self.cycle_momentum = checks.flag(op, "cycle_momentum", cycle_momentum)
        check_momentum(op, optimizer, self.cycle_momentum)
        if isinstance(optimizer, Optimizer):
            for group, base in zip(optimizer.param_groups, low, strict=True):
                group["initial_lr"] = base
        super().__init__(optimizer, last_epoch)

    def _take(self, rates: Sequence[float]) -> None:
        super()._take(rates)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, bounds, strict=True):
                set_momentum(group, high - self._height(high - low, self.last_epoch))

    def _rate(self, base: float, at: int, n: int) -> float:
        return base + self._height(self.max_lrs[at] - base, n)

    def _height(self, most: float, n: int) -> float:
        cycle = floor(1 + n / self.total_size)
        way = 1 + n / self.total_size - cycle
        share = (
            way / self.step_ratio if way <= self.step_ratio else (way - 1) / (self.step_ratio - 1)
        )
        return most * share * self._scale(cycle if self.scale_mode == "cycle" else n)
