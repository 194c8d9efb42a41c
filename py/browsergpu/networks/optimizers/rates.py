"""Optimizers that set the rate of each element or average the parameters.

They are Adadelta, Rprop and ASGD.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Unpack

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import elementwise
from browsergpu.networks.optimizers.kept import Kept
from browsergpu.networks.optimizers.optimizer import Optimizer, Ways, at_least, check_ways
from browsergpu.networks.optimizers.settings import Group, Settings


class Adadelta(Optimizer):
    """Adadelta: v = ρ v + (1 - ρ) g², d = √(u + eps) / √(v + eps) g and x -= lr d.

    u = ρ u + (1 - ρ) d² is computed after the step.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    rho : float
        ρ, from 0 to 1.
    eps : float
        Added to both means of squares.
    weight_decay : float
        g is the gradient plus weight_decay x.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Zeiler, "ADADELTA", arXiv 1212.5701.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0.0, *, maximize: bool = False, **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "eps", "rho")
        if group["rho"] > 1:
            raise InvalidArgument(self._op, "rho", group["rho"], "a number from 0 to 1")

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        rho, rest = settings.share("rho")
        eps = settings.number("eps")
        v = state.keep("square_avg", state.kept("square_avg") * rho + g * g * rest)
        before = state.kept("acc_delta")
        change = elementwise.sqrt((before + eps) / (v + eps)) * g
        state.keep("acc_delta", before * rho + change * change * rest)
        found: Array = x - change * settings.number("lr")
        return found


class Rprop(Optimizer):
    """Rprop: x -= s sign(g), with a step size s for each element.

    s starts as ``lr``. It is multiplied by the larger of ``etas`` if the sign of g is the same as
    before, and by the smaller one if it changed. Then the element is not moved.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Initial step size.
    etas : tuple of float
        Factors of the step size, below and above 1.
    step_sizes : tuple of float
        Smallest and largest step size.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning",
    1993.
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0), *, maximize: bool = False,
        **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        for name, expected in (
            ("etas", "a number between 0 and 1, and one above 1"),
            ("step_sizes", "two numbers, of which the first is at most the second"),
        ):
            given = group[name]
            if not isinstance(given, tuple | list) or len(given) != 2:
                raise InvalidArgument(self._op, name, given, expected)
            low, high = (checks.real(self._op, name, one) for one in given)
            if not (0 < low < 1 < high if name == "etas" else low <= high):
                raise InvalidArgument(self._op, name, given, expected)

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        less, more = (settings.share("etas", at)[0] for at in (0, 1))
        low, high = (settings.share("step_sizes", at)[0] for at in (0, 1))
        turned = g * state.kept("prev")
        has_turned = elementwise.less(turned, 0.0)
        factor = elementwise.where(
            has_turned, less, elementwise.where(elementwise.greater(turned, 0.0), more, 1.0)
        )
        size = state.kept("step_size", settings.beginning("lr")) * factor
        size = elementwise.minimum(elementwise.maximum(size, low), high)
        state.keep("step_size", size)
        used = state.keep("prev", elementwise.where(has_turned, 0.0, g))
        found: Array = x - elementwise.sign(used) * size
        return found


class ASGD(Optimizer):
    """Averaged stochastic gradient descent: x -= η g, and the mean of x in the state ``ax``.

    g is the gradient plus (weight_decay + lambd) x. In step t, η is lr / (1 + lambd lr (t -
    1))^alpha. The mean is x itself up to step t0, and then moves towards x by 1 / (t - 1 - t0).

    Parameters
    ----------
    params : iterable
        Parameters, or groups of parameters.
    lr : float
        Learning rate.
    lambd : float
        Decay of the parameters and of the rate.
    alpha : float
        Exponent of the rate.
    t0 : float
        The step at which averaging starts.
    weight_decay : float
        g is the gradient plus weight_decay x.
    maximize : bool
        Whether to maximize the objective.
    **ways
        As in :class:`Adam`.

    Notes
    -----
    Source: Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992.
    """

    _counts = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0.0, *, maximize: bool = False,
        **ways: Unpack[Ways],
    ) -> None:  # fmt: skip
        check_ways(type(self).__name__, ways)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "maximize": maximize,
        })  # fmt: skip

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "lambd", "t0")
        checks.real(self._op, "alpha", group["alpha"])

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        x, g = self._decayed(x, g, settings)
        counted = state.counted
        if counted is None:
            rate = settings.computed("rate", lambda now: _rate(now, state.step))
            decay = settings.computed(
                "decay", lambda now: 1 - now["lambd"] * _rate(now, state.step)
            )
            share = settings.computed("share", lambda now: _share(now, state.step))
            rest = settings.computed("1 - share", lambda now: 1 - _share(now, state.step))
        else:
            lr, lambd, alpha, late = (
                settings.array(name, itemgetter(name)) for name in ("lr", "lambd", "alpha", "t0")
            )
            own = lr / (1 + lambd * lr * elementwise.maximum(counted - 1, 0.0)) ** alpha
            rate, decay = settings.drafted(own), settings.drafted(1 - lambd * own)
            part = 1 / elementwise.maximum(counted - 1 - late, 1.0)
            share, rest = settings.drafted(part), settings.drafted(1 - part)
        found: Array = x * decay - g * rate
        state.keep("ax", state.kept("ax") * rest + found * share)
        return found


def _rate(now: Group, step: int) -> float:
    lr: float = now["lr"]
    return float(lr / (1 + now["lambd"] * lr * (step - 1)) ** now["alpha"])


def _share(now: Group, step: int) -> float:
    return float(1 / max(1, step - 1 - now["t0"]))
