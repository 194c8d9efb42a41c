"""Gradients that are not too large."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.tracking.recording import no_grad
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, statistics


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
    """Makes all gradients smaller by one factor where their norm, as that of one vector of all, is
    above ``max_norm``. Gives that norm as it was, an array: nothing is waited for. ``norm_type`` is
    a number above 0, or infinity for the largest size.

    Source: Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
    arXiv 1211.5063; the factor is PyTorch's, max_norm / (norm + 1e-6).
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
        one.grad = (gradient * factor).astype(gradient.dtype, copy=False)
    return norm


def _part(gradient: Any, order: float) -> Array:
    """What a gradient has of the norm, float32: without the root."""
    size = elementwise.abs(gradient.astype("float32", copy=False))
    if order == inf:
        return statistics.max(size)
    return statistics.sum(size * size if order == 2 else size**order)


@no_grad()
def clip_grad_value_(parameters: Iterable[Array] | Array, clip_value: float) -> None:
    """No element of a gradient is below -``clip_value`` or above it."""
    op = "clip_grad_value_"
    bound = checks.real(op, "clip_value", clip_value)
    if bound < 0:
        raise InvalidArgument(op, "clip_value", clip_value, "a number of at least 0")
    for one in _with_gradients(op, parameters):
        gradient: Any = one.grad
        one.grad = elementwise.clip(gradient, -bound, bound)
