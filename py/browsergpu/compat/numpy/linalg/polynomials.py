"""Polynomials, given by coefficients with the highest power first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import as_floats, on_one_device
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, manipulation


def _coefficients(op: str, name: str, p: Any) -> Array:
    if isinstance(p, np.poly1d) or not isinstance(p, Array):
        raise InvalidType(op, name, p, "a vector of coefficients")
    if p.ndim > 1:
        raise InvalidArgument(op, name, p, "a vector of coefficients")
    return manipulation.reshape(p, (-1,))


def _same_length(op: str, a1: Any, a2: Any) -> list[Array]:
    given = on_one_device([[x] if isinstance(x, int | float | complex) else x for x in (a1, a2)])
    own = [_coefficients(op, name, x) for name, x in zip(("a1", "a2"), given, strict=True)]
    length = max(x.size for x in own)
    return [
        x
        if x.size == length
        else manipulation.concat(
            [creation.zeros((length - x.size,), dtype=x.dtype, device=x.device), x]
        )
        for x in own
    ]


def polyadd(a1: Any, a2: Any) -> Array:
    """Return the sum of two polynomials, as ``numpy.polyadd``."""
    own, other = _same_length("polyadd", a1, a2)
    found: Array = own + other
    return found


def polysub(a1: Any, a2: Any) -> Array:
    """Return the difference of two polynomials, as ``numpy.polysub``."""
    own, other = _same_length("polysub", a1, a2)
    found: Array = own - other
    return found


def _powers(p: Array) -> Array:
    """Return the powers of the coefficients plus 1, highest first."""
    return creation.arange(p.size, 0, -1, device=p.device)


def polyder(p: Any, m: int = 1) -> Array:
    """Return the derivative of order ``m`` of a polynomial, as ``numpy.polyder``."""
    found = _coefficients("polyder", "p", p)
    for _ in range(checks.integer("polyder", "m", m)):
        found = found[:-1] * _powers(found[:-1])
    return found


def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """Integrate a polynomial ``m`` times, as ``numpy.polyint``.

    Parameters
    ----------
    p : Array
        The coefficients, a vector. For integers the result is float32.
    m : int
        The number of integrations.
    k : number, or sequence of ``m`` numbers, optional
        The integration constants, starting with the first integration. One number is used for all.
    """
    op = "polyint"
    found = _coefficients(op, "p", p)
    count = checks.integer(op, "m", m)
    constants = np.zeros(1) if k is None else np.atleast_1d(_constants(op, k))
    if constants.ndim != 1 or (count and constants.size not in (1, count)):
        raise InvalidArgument(op, "k", k, f"a number, or {count} of them")
    for number in np.broadcast_to(constants, (count,)) if count else ():
        own = as_floats(found)
        end = creation.asarray(np.asarray([number]).astype(own.dtype), device=own.device)
        found = manipulation.concat([own / _powers(own).astype(own.dtype), end])
    return found


def _constants(op: str, k: Any) -> np.ndarray:
    if isinstance(k, Array):
        raise InvalidType(op, "k", k, "numbers on the host")
    numbers = np.asarray(k)
    if numbers.dtype.kind not in "biuf":
        raise InvalidType(op, "k", k, "real numbers")
    return numbers


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.polyadd: polyadd,
    np.polyder: polyder,
    np.polyint: polyint,
    np.polysub: polysub,
}
