"""Optimisers that divide by what gradients were: Adam and its kin."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Any, ClassVar

from browsergpu.array.array import Array
from browsergpu.array.functions import elementwise
from browsergpu.networks.optimizers.kept import Kept, complement
from browsergpu.networks.optimizers.optimizer import Group, Optimizer, at_least, below_one


class Adam(Optimizer):
    """m = β₁ m + (1 - β₁) g and v = β₂ v + (1 - β₂) g², where g is the gradient plus weight_decay
    x; in step t x -= lr m / (1 - β₁ᵗ) / (√(v / (1 - β₂ᵗ)) + eps). With ``amsgrad`` v is there the
    largest that it was.

    Source: Kingma and Ba, arXiv 1412.6980; ``amsgrad`` Reddi et al., arXiv 1904.09237.
    """

    _counts = True
    _is_decoupled: ClassVar[bool] = False

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, amsgrad: bool = False, *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "eps")
        below_one(self._op, group, "betas")

    def _changed(self, x: Array, g: Array, state: Kept, group: Group) -> Array:
        first, second = group["betas"]
        decay = group["weight_decay"]
        if decay and self._is_decoupled:
            x = x * state.rate(x, "decay", lambda: 1 - group["lr"] * decay)
        elif decay:
            g = g + x * decay
        m = state.keep("exp_avg", state.kept("exp_avg") * first + g * (1 - first))
        squares = state.kept("exp_avg_sq") * second + g * g * (1 - second)
        v = state.keep("exp_avg_sq", squares)
        if group["amsgrad"]:
            v = elementwise.maximum(state.kept("max_exp_avg_sq"), v)
            state.keep("max_exp_avg_sq", v)
        counted = state.counted
        if counted is None:
            scale = state.rate(x, "scale", lambda: 1 / sqrt(1 - second**state.step))
            size = state.rate(x, "size", lambda: group["lr"] / (1 - first**state.step))
        else:
            lr = state.setting(x, "lr", lambda: group["lr"])
            scale = state.number(1 / elementwise.sqrt(complement(counted, second)))
            size = state.number(lr / complement(counted, first))
        found: Array = x - m / (elementwise.sqrt(v) * scale + group["eps"]) * size
        return found


class AdamW(Adam):
    """Adam whose weight decay is not part of the gradient: x -= lr weight_decay x before.

    Source: Loshchilov and Hutter, "Decoupled weight decay regularization", arXiv 1711.05101.
    """

    _is_decoupled = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class RMSprop(Optimizer):
    """v = α v + (1 - α) g², where g is the gradient plus weight_decay x; x -= lr g / (√v + eps).
    ``centered`` takes the square of the gradients' running mean off v; with ``momentum`` m it is x
    -= lr b of b = m b + g / (√v + eps).

    Source: Tieleman and Hinton, Lecture 6.5, 2012; ``centered`` Graves, arXiv 1308.0850.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False, *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
            "momentum": momentum, "centered": centered, "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "eps", "momentum", "alpha")

    def _changed(self, x: Array, g: Array, state: Kept, group: Group) -> Array:
        alpha = group["alpha"]
        if group["weight_decay"]:
            g = g + x * group["weight_decay"]
        v = state.keep("square_avg", state.kept("square_avg") * alpha + g * g * (1 - alpha))
        if group["centered"]:
            mean = state.keep("grad_avg", state.kept("grad_avg") * alpha + g * (1 - alpha))
            v = elementwise.maximum(v - mean * mean, 0.0)  # rounding takes it below
        change = g / (elementwise.sqrt(v) + group["eps"])
        if group["momentum"]:
            before = state.kept("momentum_buffer")
            change = state.keep("momentum_buffer", before * group["momentum"] + change)
        found: Array = x - change * state.rate(x, "lr", lambda: group["lr"])
        return found


class Adagrad(Optimizer):
    """s += g², where g is the gradient plus weight_decay x; in step t x -= lr / (1 + (t - 1)
    lr_decay) g / (√s + eps).

    Source: Duchi, Hazan and Singer, "Adaptive subgradient methods", 2011.
    """

    _counts = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, lr_decay: float = 0.0,
        weight_decay: float = 0.0, initial_accumulator_value: float = 0.0, eps: float = 1e-10, *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "eps": eps,
            "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "lr_decay", "initial_accumulator_value", "eps")

    def _changed(self, x: Array, g: Array, state: Kept, group: Group) -> Array:
        if group["weight_decay"]:
            g = g + x * group["weight_decay"]
        before = state.kept("sum", group["initial_accumulator_value"])
        total = state.keep("sum", before + g * g)
        counted = state.counted
        if counted is None:
            size = state.rate(
                x, "size",
                lambda: group["lr"] / (1 + (state.step - 1) * group["lr_decay"]),
            )  # fmt: skip
        else:
            lr = state.setting(x, "lr", lambda: group["lr"])
            size = state.number(lr / (1 + (counted - 1) * group["lr_decay"]))
        found: Array = x - g / (elementwise.sqrt(total) + group["eps"]) * size
        return found
