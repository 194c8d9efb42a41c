"""Variants of Adam: Adamax, NAdam and RAdam."""

from __future__ import annotations

from collections.abc import Iterable
from math import log, sqrt
from typing import Any, Unpack

from browsergpu.arrays.array import Array
from browsergpu.functions import elementwise
from browsergpu.networks.optimizers.adaptive import OfMoments
from browsergpu.networks.optimizers.kept import Kept, complement
from browsergpu.networks.optimizers.optimizer import (
    Ways,
    check_ways,
)
from browsergpu.networks.optimizers.settings import Group, Settings


class Adamax(OfMoments):
    """Adamax: m = β₁ m + (1 - β₁) g, u = max(β₂ u, abs(g) + eps) and x -= lr / (1 - β₁ᵗ) m / u.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    betas : tuple of float
        β₁ and β₂.
    eps : float
        Added to the magnitudes of gradients.
    weight_decay : float
        g is the gradient plus weight_decay x.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Kingma and Ba, arXiv 1412.6980, section 7.1.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, *, maximize: bool = False,
        **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize,
        })  # fmt: skip

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        m = self._mean(g, state, settings)
        second, _ = settings.share("betas", 1)
        size = elementwise.abs(g) + settings.number("eps")
        most = state.keep("exp_inf", elementwise.maximum(state.kept("exp_inf") * second, size))
        counted = state.counted
        if counted is None:
            rate = settings.computed(
                "rate", lambda now: now["lr"] / (1 - now["betas"][0] ** state.step)
            )
        else:
            lr = settings.array("lr", lambda now: now["lr"])
            rate = settings.drafted(lr / complement(counted, settings, "betas", 0))
        found: Array = x - m / most * rate
        return found


#: The base in NAdam's schedule of momenta, 0.96 in the paper and in PyTorch.
_SCHEDULE = 0.96


class NAdam(OfMoments):
    """NAdam: Adam with Nesterov's momentum.

    In step t the momentum is μₜ = β₁ (1 - 0.96^(t ψ) / 2), where ψ is ``momentum_decay``, and Πₜ is
    the product of all momenta up to t. The step is x -= lr ((1 - μₜ) / (1 - Πₜ) g + μₜ₊₁ / (1 -
    Πₜ₊₁) m) / (√(v / (1 - β₂ᵗ)) + eps), with m and v as in :class:`Adam`.

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
    momentum_decay : float
        ψ.
    decoupled_weight_decay : bool
        Whether to subtract lr weight_decay x before each step instead.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Dozat, "Incorporating Nesterov momentum into Adam", 2016.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, maximize: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
        })  # fmt: skip

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        m = self._mean(g, state, settings)
        v = self._mean_square(g, state, settings)
        (now, rest), (ahead, _) = (_momentum(state, settings, steps) for steps in (0, 1))
        counted = state.counted
        if counted is None:
            scale = settings.computed(
                "scale", lambda now: 1 / sqrt(1 - now["betas"][1] ** state.step)
            )
        else:
            scale = settings.drafted(
                1 / elementwise.sqrt(complement(counted, settings, "betas", 1))
            )
        # The product of all momenta so far, the same for all elements.
        product = state.keep("mu_product", state.kept("mu_product", 1.0) * now)
        direction = g * rest / (1 - product) + m * ahead / (1 - product * ahead)
        change = direction / (elementwise.sqrt(v) * scale + settings.number("eps"))
        found: Array = x - change * settings.number("lr")
        return found


def _momentum(state: Kept, settings: Settings, ahead: int) -> tuple[Any, Any]:
    """Return the momentum of the current step or of a later one, and 1 minus it, as operands."""
    counted = state.counted
    if counted is None:

        def value(now: Group) -> float:
            power = _SCHEDULE ** ((state.step + ahead) * now["momentum_decay"])
            return float(now["betas"][0] * (1 - 0.5 * power))

        name = f"momentum {ahead}"
        return settings.computed(name, value), settings.computed(
            f"1 - {name}", lambda now: 1 - value(now)
        )
    first = settings.array("first", lambda now: now["betas"][0])
    power = settings.array("power", lambda now: log(_SCHEDULE) * now["momentum_decay"])
    own = first * (1 - 0.5 * elementwise.exp((counted + ahead) * power))
    return settings.drafted(own), settings.drafted(1 - own)


class RAdam(OfMoments):
    """RAdam: Adam whose first steps use m alone, until v is reliable.

    With ρ = 2 / (1 - β₂) - 1 and ρₜ = ρ - 2 t β₂ᵗ / (1 - β₂ᵗ), the step is that of :class:`Adam`
    times √((ρₜ - 4) (ρₜ - 2) ρ / ((ρ - 4) (ρ - 2) ρₜ)) if ρₜ > 5, and lr m / (1 - β₁ᵗ) otherwise.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    betas : tuple of float
        β₁ and β₂.
    eps : float
        Added to √v.
    weight_decay : float
        Factor of the parameters that is added to the gradient.
    decoupled_weight_decay : bool
        Whether to subtract lr weight_decay x before each step instead.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Liu et al., "On the variance of the adaptive learning rate and beyond", arXiv
    1908.03265.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, decoupled_weight_decay: bool = False, *,
        maximize: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
        })  # fmt: skip

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        m = self._mean(g, state, settings)
        v = self._mean_square(g, state, settings)
        counted = state.counted
        if counted is None:
            adapted = settings.computed("adapted", lambda now: _adapted(now, state.step)[0])
            plain = settings.computed("plain", lambda now: _adapted(now, state.step)[1])
        else:
            adapted, plain = map(settings.drafted, _adapted_arrays(counted, settings))
        found: Array = x - m * (adapted / (elementwise.sqrt(v) + settings.number("eps")) + plain)
        return found


def _adapted(now: Group, step: int) -> tuple[float, float]:
    """Return the factors of m / (√v + eps) and of m in RAdam's step. One of them is 0."""
    first, second = now["betas"]
    rate, unbiased = now["lr"] / (1 - first**step), 1 - second**step
    whole = 2 / (1 - second) - 1
    length = whole - 2 * step * second**step / unbiased
    if length <= 5:
        return 0.0, rate
    share = (length - 4) * (length - 2) * whole / ((whole - 4) * (whole - 2) * length)
    return rate * sqrt(unbiased * share), 0.0


def _adapted_arrays(counted: Array, settings: Settings) -> tuple[Any, Any]:
    """Return :func:`_adapted` for a step that the GPU counts."""
    lr = settings.array("lr", lambda now: now["lr"])
    of_first, of_second = (complement(counted, settings, "betas", at) for at in (0, 1))
    rate = lr / of_first
    whole = settings.array("whole", lambda now: 2 / (1 - now["betas"][1]) - 1)
    step = elementwise.maximum(counted, 1.0)
    length = whole - 2 * step * (1 - of_second) / of_second
    share = (length - 4) * (length - 2) * whole / ((whole - 4) * (whole - 2) * length)
    is_adapted = length > 5
    adapted = rate * elementwise.sqrt(of_second * elementwise.where(is_adapted, share, 0.0))
    return adapted, elementwise.where(is_adapted, 0.0, rate)
