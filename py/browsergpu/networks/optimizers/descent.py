"""SGD and Lion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from browsergpu.arrays.array import Array
from browsergpu.arrays.graphs.hooks import block_of
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.functions import elementwise
from browsergpu.networks.optimizers.kept import Kept, State
from browsergpu.networks.optimizers.optimizer import (
    Optimizer,
    Ways,
    at_least,
    below_one,
    check_ways,
)
from browsergpu.networks.optimizers.settings import Group, Settings


class SGD(Optimizer):
    """Stochastic gradient descent: x -= lr g.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    momentum : float
        With momentum m, the step is x -= lr b with b = m b + (1 - dampening) g. At first b is g.
    dampening : float
        Dampening of the momentum.
    weight_decay : float
        g is the gradient plus weight_decay x.
    nesterov : bool
        Whether the step uses g + m b instead of b.
    maximize : bool
        Whether to maximize the objective.
    **ways
        PyTorch's ``foreach``, ``fused`` and ``capturable``, which have no effect, and
        ``differentiable``, which must be False.

    Notes
    -----
    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning",
    2013, in PyTorch's form.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0.0,
        dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False, *,
        maximize: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "momentum")
        checks.real(self._op, "dampening", group["dampening"])
        if group["nesterov"] and (not group["momentum"] or group["dampening"]):
            raise InvalidArgument(
                self._op, "nesterov", True, "False unless momentum is above 0 and dampening is 0"
            )

    def _check_skippable(self, state: State, group: Group) -> None:
        begins = group["momentum"] and state.get("momentum_buffer") is None
        if begins and group["dampening"]:
            expected = "0, because the first step would differ and may be skipped"
            raise InvalidArgument(self._op, "dampening", group["dampening"], expected)

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        if settings.is_set("momentum"):
            momentum = settings.number("momentum")
            before = state.get("momentum_buffer")
            if before is None and block_of(x) is not None:
                expected = "done after one step without capture, which uses another formula"
                raise InvalidArgument(
                    self._op, "capture", Description("a first step with momentum"), expected
                )
            moved = g
            if before is not None:
                moved = before * momentum + g * settings.share("dampening")[1]
            state.keep("momentum_buffer", moved)
            g = g + moved * momentum if settings.is_set("nesterov") else moved
        found: Array = x - g * settings.number("lr")
        return found


class Lion(Optimizer):
    """Lion: x -= lr (sign(β₁ m + (1 - β₁) g) + weight_decay x), then m = β₂ m + (1 - β₂) g.

    Source: Chen et al., "Symbolic discovery of optimization algorithms", arXiv 2302.06675.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        below_one(self._op, group, "betas")

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        m = state.kept("exp_avg")
        first, rest = settings.share("betas", 0)
        direction = elementwise.sign(m * first + g * rest)
        second, rest = settings.share("betas", 1)
        state.keep("exp_avg", m * second + g * rest)
        decay = settings.computed("decay", lambda now: 1 - now["lr"] * now["weight_decay"])
        found: Array = x * decay - direction * settings.number("lr")
        return found
