"""Gradient descent, with momentum, and by signs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from browsergpu.array.array import Array
from browsergpu.array.functions import elementwise
from browsergpu.array.graphs.hooks import block_of
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument
from browsergpu.networks.optimizers.kept import Kept, State
from browsergpu.networks.optimizers.optimizer import Group, Optimizer, at_least, below_one


class SGD(Optimizer):
    """x -= lr g, where g is the gradient plus weight_decay x; with ``momentum`` m of b = m b + (1 -
    dampening) g, which is g at first, and with ``nesterov`` of g + m b.

    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning",
    2013, in PyTorch's form.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0.0,
        dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False, *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
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
                self._op, "nesterov", True, "False, or a momentum above 0 without dampening"
            )

    def _check_skippable(self, state: State, group: Group) -> None:
        begins = group["momentum"] and state.get("momentum_buffer") is None
        if begins and group["dampening"]:
            expected = "0: with it the first step is another, and may be skipped unseen"
            raise InvalidArgument(self._op, "dampening", group["dampening"], expected)

    def _changed(self, x: Array, g: Array, state: Kept, group: Group) -> Array:
        momentum = group["momentum"]
        if group["weight_decay"]:
            g = g + x * group["weight_decay"]
        if momentum:
            before = state.get("momentum_buffer")
            if before is None and block_of(x) is not None:
                expected = "one after a first step, which is computed otherwise than those after it"
                raise InvalidArgument(self._op, "capture", "a first step with momentum", expected)
            moved = g if before is None else before * momentum + g * (1 - group["dampening"])
            state.keep("momentum_buffer", moved)
            g = g + moved * momentum if group["nesterov"] else moved
        found: Array = x - g * state.rate(x, "lr", lambda: group["lr"])
        return found


class Lion(Optimizer):
    """x -= lr (sign(β₁ m + (1 - β₁) g) + weight_decay x), then m = β₂ m + (1 - β₂) g.

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

    def _changed(self, x: Array, g: Array, state: Kept, group: Group) -> Array:
        first, second = group["betas"]
        m = state.kept("exp_avg")
        direction = elementwise.sign(m * first + g * (1 - first))
        state.keep("exp_avg", m * second + g * (1 - second))
        lr = state.rate(x, "lr", lambda: group["lr"])
        decay = state.rate(x, "decay", lambda: 1 - group["lr"] * group["weight_decay"])
        found: Array = x * decay - direction * lr
        return found
