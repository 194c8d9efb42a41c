"""Gradient clipping."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.networks.parameter import take


def _with_gradients(op: str, parameters: Any) -> list[Array]:
    given = [parameters] if isinstance(parameters, Array) else list(parameters)
    for one in given:
        if not isinstance(one, Array):
            raise InvalidType(op, "parameters", one, "parameters")
    return [one for one in given if one.grad is not None]


@no_grad()
def clip_grad_norm_(
    parameters: Iterable[Array] | Array, max_norm: float, norm_type: float = 2.0
) -> Array:
    """Scale all gradients down if their total norm exceeds ``max_norm``. Does not wait.

    Parameters
    ----------
    parameters : iterable of Array, or Array
        Parameters, whose gradients are clipped in place.
    max_norm : float
        Maximum norm of all gradients as one vector.
    norm_type : float
        Order of the norm, a number above 0, or infinity for the largest magnitude.

    Returns
    -------
    Array
        The norm before clipping, without axes.

    Notes
    -----
    Source: Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
    arXiv 1211.5063. The factor is PyTorch's, max_norm / (norm + 1e-6).
    """
    op = "clip_grad_norm_"
    most = checks.real(op, "max_norm", max_norm)
    order = inf if norm_type in (inf, "inf") else checks.real(op, "norm_type", norm_type)
    for name, value in (("max_norm", most), ("norm_type", order)):
        if value < 0 or (name == "norm_type" and value == 0):
            raise InvalidArgument(op, name, value, "a number above 0")
    own = _with_gradients(op, parameters)
    if not own:
        return creation.zeros(())
    parts = [_part(one.grad, order) for one in own]
    whole = manipulation.stack(parts)
    if order == inf:
        norm = statistics.max(whole)
    else:
        total = statistics.sum(whole)
        norm = elementwise.sqrt(total) if order == 2 else total ** (1 / order)
    factor = elementwise.minimum(most / (norm + 1e-6), 1.0)
    for one in own:
        gradient: Any = one.grad
        take(gradient, gradient * factor)
    return norm


def _part(gradient: Any, order: float) -> Array:
    """Return a gradient's contribution to the norm in float32, without the root."""
    size = elementwise.abs(gradient.astype("float32", copy=False))
    if order == inf:
        return statistics.max(size)
    return statistics.sum(size * size if order == 2 else size**order)


@no_grad()
def clip_grad_value_(parameters: Iterable[Array] | Array, clip_value: float) -> None:
    """Clip all elements of the gradients to ±``clip_value``."""
    op = "clip_grad_value_"
    bound = checks.nonnegative(op, "clip_value", clip_value)
    for one in _with_gradients(op, parameters):
        gradient: Any = one.grad
        take(gradient, elementwise.clip(gradient, -bound, bound))
