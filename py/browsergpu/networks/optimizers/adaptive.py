"""Adaptive optimizers: Adam, AdamW, RMSprop and Adagrad."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Any, Unpack

from browsergpu.arrays.array import Array
from browsergpu.functions import elementwise
from browsergpu.networks.optimizers.kept import Kept, complement
from browsergpu.networks.optimizers.optimizer import (
    Optimizer,
    Ways,
    at_least,
    below_one,
    check_ways,
)
from browsergpu.networks.optimizers.settings import Group, Settings


class OfMoments(Optimizer):
    """Base of optimizers with running means of gradients, and betas."""

    _counts = True

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "eps", "momentum_decay")
        below_one(self._op, group, "betas")

    def _mean(self, g: Array, state: Kept, settings: Settings) -> Array:
        first, rest = settings.share("betas", 0)
        return state.keep("exp_avg", state.kept("exp_avg") * first + g * rest)

    def _mean_square(self, g: Array, state: Kept, settings: Settings) -> Array:
        second, rest = settings.share("betas", 1)
        return state.keep("exp_avg_sq", state.kept("exp_avg_sq") * second + g * g * rest)


class Adam(OfMoments):
    """Adam: m = β₁ m + (1 - β₁) g and v = β₂ v + (1 - β₂) g².

    g is the gradient plus weight_decay x. Step t is x -= lr m / (1 - β₁ᵗ) / (√(v / (1 - β₂ᵗ)) +
    eps). With ``amsgrad``, the largest v so far replaces v in the step.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    betas : tuple of float
        β₁ and β₂.
    eps : float
        Added to the denominator.
    weight_decay : float
        Factor of the parameters that is added to the gradient.
    amsgrad : bool
        Whether to use the maximum of v.
    maximize : bool
        Whether to maximize the objective.
    decoupled_weight_decay : bool
        Whether to subtract lr weight_decay x before each step instead, as :class:`AdamW`.
    **ways
        PyTorch's ``foreach``, ``fused`` and ``capturable``, which have no effect, and
        ``differentiable``, which must be False.

    Notes
    -----
    Source: Kingma and Ba, arXiv 1412.6980; ``amsgrad`` Reddi et al., arXiv 1904.09237.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, amsgrad: bool = False, *,
        maximize: bool = False, decoupled_weight_decay: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        m = self._mean(g, state, settings)
        v = self._mean_square(g, state, settings)
        if settings.is_set("amsgrad"):
            v = elementwise.maximum(state.kept("max_exp_avg_sq"), v)
            state.keep("max_exp_avg_sq", v)
        counted = state.counted
        if counted is None:
            scale = settings.computed(
                "scale", lambda now: 1 / sqrt(1 - now["betas"][1] ** state.step)
            )
            size = settings.computed(
                "size", lambda now: now["lr"] / (1 - now["betas"][0] ** state.step)
            )
        else:
            lr = settings.array("lr", lambda now: now["lr"])
            of_first, of_second = (complement(counted, settings, "betas", at) for at in (0, 1))
            scale = settings.drafted(1 / elementwise.sqrt(of_second))
            size = settings.drafted(lr / of_first)
        found: Array = x - m / (elementwise.sqrt(v) * scale + settings.number("eps")) * size
        return found


class AdamW(Adam):
    """Adam with decoupled weight decay: x -= lr weight_decay x before each step.

    Parameters are those of :class:`Adam`.

    Source: Loshchilov and Hutter, "Decoupled weight decay regularization", arXiv 1711.05101.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize,
            decoupled_weight_decay=True, **ways,
        )  # fmt: skip


class RMSprop(Optimizer):
    """RMSprop: v = α v + (1 - α) g² and x -= lr g / (√v + eps).

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    alpha : float
        α, the smoothing constant.
    eps : float
        Added to the denominator.
    weight_decay : float
        g is the gradient plus weight_decay x.
    momentum : float
        With momentum m, the step is x -= lr b with b = m b + g / (√v + eps).
    centered : bool
        Whether to subtract the square of the gradients' running mean from v.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Tieleman and Hinton, Lecture 6.5, 2012; ``centered`` Graves, arXiv 1308.0850.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False, *,
        maximize: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
            "momentum": momentum, "centered": centered, "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "eps", "momentum", "alpha")

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        alpha, rest = settings.share("alpha")
        v = state.keep("square_avg", state.kept("square_avg") * alpha + g * g * rest)
        if settings.is_set("centered"):
            mean = state.keep("grad_avg", state.kept("grad_avg") * alpha + g * rest)
            v = elementwise.maximum(v - mean * mean, 0.0)  # rounding can make it negative
        change = g / (elementwise.sqrt(v) + settings.number("eps"))
        if settings.is_set("momentum"):
            before = state.kept("momentum_buffer")
            change = state.keep("momentum_buffer", before * settings.number("momentum") + change)
        found: Array = x - change * settings.number("lr")
        return found


class Adagrad(Optimizer):
    """Adagrad: s += g² and, in step t, x -= lr / (1 + (t - 1) lr_decay) g / (√s + eps).

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    lr_decay : float
        Decay of the learning rate.
    weight_decay : float
        g is the gradient plus weight_decay x.
    initial_accumulator_value : float
        Initial value of s.
    eps : float
        Added to the denominator.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Duchi, Hazan and Singer, "Adaptive subgradient methods", 2011.
    """

    _counts = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, lr_decay: float = 0.0,
        weight_decay: float = 0.0, initial_accumulator_value: float = 0.0, eps: float = 1e-10, *,
        maximize: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "eps": eps,
            "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "lr_decay", "initial_accumulator_value", "eps")

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        before = state.kept("sum", settings.beginning("initial_accumulator_value"))
        total = state.keep("sum", before + g * g)
        counted = state.counted
        if counted is None:
            size = settings.computed(
                "size", lambda now: now["lr"] / (1 + (state.step - 1) * now["lr_decay"])
            )
        else:
            lr = settings.array("lr", lambda now: now["lr"])
            decay = settings.array("lr_decay", lambda now: now["lr_decay"])
            size = settings.drafted(lr / (1 + (counted - 1) * decay))
        found: Array = x - g / (elementwise.sqrt(total) + settings.number("eps")) * size
        return found
