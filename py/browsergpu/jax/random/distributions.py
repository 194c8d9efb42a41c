"""Distributions by inversion, and choices, with the names of ``jax.random``."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg import contraction, decompositions
from browsergpu.functions.ordering import sorting
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import as_jax, cast
from browsergpu.jax.arrays.operands import array, arrays
from browsergpu.jax.numpy.linalg import cholesky as _cholesky
from browsergpu.jax.numpy.linalg import eigh as _eigh
from browsergpu.jax.numpy.wrappers import FUNCTIONS as NUMPY
from browsergpu.jax.random.keys import bits, check_sharding, split
from browsergpu.jax.random.samplers import (
    float_of,
    normal,
    parameter,
    rademacher,
    randint,
    shape_for,
    shape_of,
    uniform,
)


def _tiny(kind: Any) -> float:
    return float(np.finfo(kind).tiny)


def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return numbers from the exponential distribution with rate 1."""
    check_sharding("exponential", out_sharding)
    return as_jax(-elementwise.log1p(-uniform(key, shape, float_of("exponential", dtype))))


def gumbel(
    key: Any, shape: Any = (), dtype: Any = None, mode: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the standard Gumbel distribution.

    ``mode`` is "low", the default, or "high".
    """
    check_sharding("gumbel", out_sharding)
    kind = float_of("gumbel", dtype)
    if mode in (None, "low"):
        drawn = uniform(key, shape, kind, _tiny(kind), 1.0)
        return as_jax(-elementwise.log(-elementwise.log(drawn)))
    if mode != "high":
        raise InvalidArgument("gumbel", "mode", mode, "'low' or 'high'")
    high, low = uniform(key, (2, *shape_of(shape)), kind)
    info = np.finfo(kind)
    fine = high + low * 2.0**-info.nmant + _tiny(kind)
    x = elementwise.where(elementwise.greater_equal(high, 0.5), high, fine)
    return as_jax(-elementwise.log(-elementwise.log1p(-x)))


def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return numbers from the standard Laplace distribution."""
    check_sharding("laplace", out_sharding)
    kind = float_of("laplace", dtype)
    below = float(kind.type(-1) + np.finfo(kind).epsneg)
    own = uniform(key, shape, kind, below, 1.0)
    return as_jax(elementwise.sign(own) * elementwise.log1p(-elementwise.abs(own)))


def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return numbers from the standard logistic distribution."""
    check_sharding("logistic", out_sharding)
    kind = float_of("logistic", dtype)
    x = uniform(key, shape, kind, _tiny(kind), 1.0)
    return as_jax(elementwise.log(x) - elementwise.log1p(-x))


def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return numbers from the standard Cauchy distribution."""
    check_sharding("cauchy", out_sharding)
    kind = float_of("cauchy", dtype)
    u = uniform(key, shape, kind, float(np.finfo(kind).eps), 1.0)
    return as_jax(elementwise.tan((u - 0.5) * math.pi))


def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the Pareto distribution."""
    check_sharding("pareto", out_sharding)
    kind = float_of("pareto", dtype)
    own = shape_for("pareto", shape, b)
    return as_jax(elementwise.exp(exponential(key, own, kind) / parameter("pareto", b, kind, own)))


def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the Rayleigh distribution."""
    check_sharding("rayleigh", out_sharding)
    kind = float_of("rayleigh", dtype)
    own = shape_for("rayleigh", shape, scale)
    drawn = elementwise.sqrt(elementwise.log(uniform(key, own, kind)) * -2)
    return parameter("rayleigh", scale, kind, own) * as_jax(drawn)


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Any:
    """Return numbers from the Weibull distribution."""
    kind = float_of("weibull_min", dtype)
    drawn = as_jax(-elementwise.log1p(-uniform(key, shape, kind)))
    return NUMPY["power"](drawn, 1.0 / concentration) * scale


def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return numbers from the Maxwell distribution."""
    check_sharding("maxwell", out_sharding)
    drawn = normal(key, (*shape_of(shape), 3), float_of("maxwell", dtype))
    return as_jax(elementwise.sqrt((drawn * drawn).sum(-1)))


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return numbers from the double-sided Maxwell distribution."""
    kind = float_of("double_sided_maxwell", dtype)
    of_parameters = shape_for("double_sided_maxwell", None, loc, scale)
    own = (*(shape_of(shape) or of_parameters), *of_parameters)
    keys = split(key)
    signs = rademacher(keys[1], own, kind)
    return signs * maxwell(keys[0], own, kind) * scale + loc


def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers whose logarithms are normal, with a standard deviation."""
    check_sharding("lognormal", out_sharding)
    kind = float_of("lognormal", dtype)
    own = shape_for("lognormal", shape, sigma)
    return as_jax(elementwise.exp(normal(key, own, kind) * parameter("lognormal", sigma, kind,
                                                                     own)))  # fmt: skip


def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers of trials until the first success."""
    check_sharding("geometric", out_sharding)
    kind = dtypes.INT32 if dtype is None else dtypes.dtype_of("geometric", dtype)
    own = shape_for("geometric", shape, p)
    given = parameter("geometric", p, dtypes.FLOAT32, own)
    u = uniform(key, own)
    u = elementwise.where(elementwise.equal(u, 0), 1.0, u)
    found = elementwise.floor(elementwise.log(u) / elementwise.log1p(-given)) + 1
    return cast(as_jax(found), kind)


def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return numbers from the triangular distribution."""
    check_sharding("triangular", out_sharding)
    kind = float_of("triangular", dtype)
    own = shape_for("triangular", shape, left, mode, right)
    low, top, high = (parameter("triangular", x, kind, own) for x in (left, mode, right))
    u = uniform(key, own, kind)
    below = low + elementwise.sqrt(u * (high - low) * (top - low))
    above = high - elementwise.sqrt((1 - u) * (high - low) * (high - top))
    return as_jax(elementwise.where(u < (top - low) / (high - low), below, above))


def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the Wald distribution."""
    check_sharding("wald", out_sharding)
    kind = float_of("wald", dtype)
    own = shape_for("wald", shape, mean)
    given = parameter("wald", mean, kind, own)
    keys = split(key)
    v, z = normal(keys[0], own, kind), uniform(keys[1], own, kind)
    y = v * v
    root = as_jax(elementwise.sqrt(4 * given * y + given * given * (y * y)))
    x = given + given * given * y / 2 - given / 2 * root
    return as_jax(elementwise.where(z <= given / (given + x), x, given * given / x))


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky",
    *, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return vectors from the normal distribution with a mean and a covariance.

    ``method`` is "cholesky", "eigh" or "svd". The signs of eigenvectors differ between libraries,
    so only "cholesky" gives JAX's numbers.
    """
    op = "multivariate_normal"
    check_sharding(op, out_sharding)
    own_mean, own_cov = arrays(op, mean, cov, floats=True)
    if method not in ("cholesky", "eigh", "svd"):
        raise InvalidArgument(op, "method", method, "'cholesky', 'eigh' or 'svd'")
    count = own_mean.shape[-1] if own_mean.ndim else 0
    if not own_mean.ndim or own_cov.shape[-2:] != (count, count):
        raise InvalidArgument(op, "cov", own_cov, f"of shape (..., {count}, {count})")
    kind = own_mean.dtype if dtype is None else float_of(op, dtype)
    lead = manipulation.broadcast_shapes(own_mean.shape[:-1], own_cov.shape[:-2])
    own = lead if shape is None else shape_of(shape)
    if method == "cholesky":
        factor = _cholesky(own_cov)
    elif method == "eigh":
        roots, vectors = _eigh(own_cov)
        factor = vectors * as_jax(elementwise.sqrt(roots))[..., None, :]
    else:
        found = decompositions.svd(own_cov)
        factor = as_jax(found[0]) * as_jax(elementwise.sqrt(found[1]))[..., None, :]
    drawn = normal(key, (*own, count), kind)
    turned = as_jax(contraction.einsum("...ij,...j->...i", factor, drawn))
    return cast(own_mean + turned, kind)


def orthogonal(
    key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return orthogonal matrices, uniformly distributed."""
    check_sharding("orthogonal", out_sharding)
    rows, columns = max(n, m or n), min(n, m or n)
    drawn = normal(key, (*shape_of(shape), rows, columns), float_of("orthogonal", dtype))
    q, r = decompositions.qr(drawn)
    diagonal = NUMPY["diagonal"](as_jax(r), 0, -2, -1)
    found = as_jax(q) * as_jax(elementwise.sign(diagonal))[..., None, :]
    return found.mT if m is not None and n < m else found


def categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True,
    mode: Any = None, *, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return indices along an axis of logits, drawn with probabilities ``softmax(logits)``.

    Parameters
    ----------
    key : Array
        A key.
    logits : Array
        Unnormalized logarithms of probabilities.
    axis : int
        The axis of the categories.
    shape : tuple of int, optional
        The shape of the result. It ends as the shape of ``logits`` without the axis.
    replace : bool
        Whether a category may occur again along the first axes of ``shape``.
    mode : optional
        The argument of :func:`gumbel`.

    Returns
    -------
    Array
        int32.
    """
    check_sharding("categorical", out_sharding)
    given = array("categorical", logits, "logits")
    at = shapes.axis("categorical", "axis", axis, given.ndim)
    rest = (*given.shape[:at], *given.shape[at + 1 :])
    own = rest if shape is None else shape_of(shape)
    if manipulation.broadcast_shapes(own, rest) != own:
        raise InvalidArgument("categorical", "shape", own, f"one to which {rest} broadcasts")
    ahead = own[: len(own) - len(rest)]
    if replace:
        drawn_shape = list(own[len(own) - len(rest) :])
        drawn_shape.insert(at, given.shape[at])
        drawn = gumbel(key, (*ahead, *drawn_shape), given.dtype, mode)
        return as_jax(sorting.argmax(drawn + given, axis=at - given.ndim))
    count = product(ahead)
    if count > given.shape[at]:
        expected = f"at most {given.shape[at]} samples without replacement"
        raise InvalidArgument("categorical", "shape", own, expected)
    noisy = given + gumbel(key, given.shape, given.dtype, mode)
    order = sorting.argsort(manipulation.moveaxis(noisy, at, -1), axis=-1, descending=True)
    top = manipulation.moveaxis(order[..., :count], -1, 0)
    return as_jax(manipulation.reshape(top, own))


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Any:
    """Return an array, or the integers below ``x``, in random order along an axis.

    With ``independent``, each vector along the axis has another order.
    """
    check_sharding("permutation", out_sharding)
    if not np.ndim(x):
        try:
            count = index(x)
        except TypeError:
            raise InvalidType("permutation", "x", x, "an integer or an array") from None
        return _shuffled(key, as_jax(creation.arange(count, dtype="int32")), 0)
    own = array("permutation", x)
    at = shapes.axis("permutation", "axis", axis, own.ndim)
    if independent or own.ndim == 1:
        return _shuffled(key, own, at)
    order = _shuffled(key, as_jax(creation.arange(own.shape[at], dtype="int32")), 0)
    return as_jax(manipulation.take(own, order, axis=at))


def _shuffled(key: Any, x: Any, axis: int) -> Any:
    rounds = math.ceil(3 * math.log(max(1, x.size)) / math.log(0xFFFFFFFF))
    for _ in range(rounds):
        keys = split(key)
        key = keys[0]
        order = sorting.argsort(bits(keys[1], x.shape), axis=axis)
        x = as_jax(sorting.take_along_axis(x, order, axis=axis))
    return x


def choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0,
    mode: Any = None,
) -> Any:  # fmt: skip
    """Return random elements of an array, or integers below ``a``.

    Parameters
    ----------
    key : Array
        A key.
    a : int or Array
        The elements along an axis.
    shape : tuple of int
        The shape of the draws.
    replace : bool
        Whether an element may occur again.
    p : Array, optional
        The probabilities. By default, they are equal.
    axis : int
        The axis of ``a``.
    mode : optional
        The argument of :func:`gumbel`, for draws with ``p`` and without replacement.

    Returns
    -------
    Array
        The draws are those of JAX. With ``p``, a sum that is rounded otherwise may change one.
    """
    own = shape_of(shape)
    is_number = not np.ndim(a)
    given = None if is_number else array("choice", a, "a")
    at = 0 if given is None else shapes.axis("choice", "axis", axis, given.ndim)
    count = index(a) if given is None else given.shape[at]
    draws = product(own)
    if draws and count <= 0:
        raise InvalidArgument("choice", "a", count, "more than 0 elements")
    if not replace and draws > count:
        raise InvalidArgument("choice", "shape", own, f"at most {count} draws without replacement")
    if p is None and not replace:
        order = permutation(key, count if given is None else given, at)
        found = order[(slice(None),) * at + (slice(0, draws),)]
    else:
        places = randint(key, own, 0, count) if p is None else _weighted(
            key, own, replace, array("choice", p, "p"), count, draws, mode)  # fmt: skip
        found = places if given is None else manipulation.take(
            given, manipulation.reshape(places, (-1,)), axis=at)  # fmt: skip
    if given is None:
        return as_jax(manipulation.reshape(found, own))
    whole = (*given.shape[:at], *own, *given.shape[at + 1 :])
    return as_jax(manipulation.reshape(found, whole))


def _weighted(
    key: Any, shape: Any, replace: bool, p: Any, count: int, draws: int, mode: Any
) -> Any:
    own = cast(p, dtypes.FLOAT32) if p.dtype.kind != "f" else p
    if own.shape != (count,):
        raise InvalidArgument("choice", "p", own, f"a vector of {count} probabilities")
    if replace:
        sums = NUMPY["cumsum"](own)
        wanted = sums[-1] * (1 - uniform(key, shape, sums.dtype))
        return NUMPY["searchsorted"](sums, wanted)
    noisy = gumbel(key, (count,), own.dtype, mode) + as_jax(elementwise.log(own))
    return as_jax(sorting.argsort(noisy, descending=True))[:draws]
