"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import manipulation
from browsergpu.networks.parameter import take


def _checked(op: str, parameters: Any) -> list[Array]:
    given = [] if isinstance(parameters, Array) else [*parameters]
    if not given or not all(isinstance(one, Array) for one in given):
        raise InvalidType(op, "parameters", parameters, "parameters")
    return given


def parameters_to_vector(parameters: Iterable[Array]) -> Array:
    """Return the elements of all parameters as one vector. It has their gradients.

    Parameters
    ----------
    parameters : iterable of Array
        The parameters.

    Returns
    -------
    Array
        A one-dimensional array.

    Raises
    ------
    InvalidType
        If there are no parameters.
    """
    given = _checked("parameters_to_vector", parameters)
    return manipulation.concat([
        manipulation.reshape(one, (product(one.shape),)) for one in given
    ])  # fmt: skip


@no_grad()
def vector_to_parameters(vec: Array, parameters: Iterable[Array]) -> None:
    """Set the values of parameters from the parts of a vector.

    Parameters
    ----------
    vec : Array
        An array of one axis.
    parameters : iterable of Array
        The parameters, with as many elements in all.

    Raises
    ------
    InvalidArgument
        If the vector has another number of elements. Nothing is changed.
    InvalidType
        If there are no parameters, or ``vec`` is not an array.
    """
    op = "vector_to_parameters"
    given = _checked(op, parameters)
    if not isinstance(vec, Array):
        raise InvalidType(op, "vec", vec, "an array")
    count = sum(product(one.shape) for one in given)
    if vec.shape != (count,):
        raise InvalidArgument(op, "vec", vec, f"have shape {(count,)}")
    values, at = vec.detach(), 0
    for one in given:
        size = product(one.shape)
        take(one, manipulation.reshape(values[at : at + size], one.shape).copy())
        at += size
