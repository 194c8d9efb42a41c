"""The gamma distribution, by rejection, and distributions made of it.

Each repetition reads whether elements are left, which waits for the GPU.

Source: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from browsergpu.arrays.autograd.batched import BATCHED, batch_of
from browsergpu.arrays.autograd.rules import values
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument, NotDifferentiable
from browsergpu.functions import creation, elementwise, manipulation, special
from browsergpu.functions.nn import activations
from browsergpu.jax.arrays.array import as_jax, cast, unwrapped
from browsergpu.jax.arrays.operands import array
from browsergpu.jax.random import samplers
from browsergpu.jax.random.keys import check_sharding, split, threefry
from browsergpu.jax.random.samplers import float_of, normal, parameter, shape_for

_Words = tuple[Any, Any]
_BELOW = float(np.nextafter(np.float32(-1), np.float32(0)))


def _children(words: _Words, count: int) -> list[_Words]:
    """Return new keys for each of many keys."""
    zeros = elementwise.multiply(words[0], 0)
    return [threefry(words, zeros, zeros + n) for n in range(count)]


def _uniform(words: _Words, low: float = 0.0) -> Any:
    """Return one number for each of many keys."""
    zeros = elementwise.multiply(words[0], 0)
    high, rest = threefry(words, zeros, zeros)
    fraction = ((high ^ rest) >> 9).astype(np.float32) * 2.0**-23
    if not low:
        return fraction
    first, last = np.float32(low), np.float32(1)
    return elementwise.maximum(fraction * (last - first) + first, first)


def _normal(words: _Words) -> Any:
    return special.erfinv(_uniform(words, _BELOW)) * math.sqrt(2)


def _any(x: Any) -> bool:
    own = x
    while type(own) in BATCHED:
        own = batch_of(own).value
    return bool(values(own).numpy().any())


def _chosen(mask: Any, first: Any, second: Any) -> Any:
    if isinstance(first, tuple):
        return tuple([elementwise.where(mask, x, y) for x, y in zip(first, second, strict=True)])
    return elementwise.where(mask, first, second)


def _cubes(key: _Words, c: Any) -> tuple[Any, Any]:
    """Return normal numbers x with 1 + c x > 0, and 1 + c x."""
    x, v = c * 0, c * 0 - 1
    left = elementwise.less_equal(v, 0)
    while _any(left):
        after, own = _children(key, 2)
        drawn = _normal(own)
        x = _chosen(left, drawn, x)
        v = _chosen(left, 1 + drawn * c, v)
        key = _chosen(left, after, key)
        left = elementwise.less_equal(v, 0)
    return x, v


def _accepted(key: _Words, d: Any, c: Any) -> Any:
    """Return the cubes that the rejection accepts."""
    x2, cube, u = c * 0, c * 0 + 1, c * 0 + 2
    left = _is_rejected(x2, cube, u, d)
    while _any(left):
        after, of_x, of_u = _children(key, 3)
        x, v = _cubes(of_x, c)
        x2 = _chosen(left, x * x, x2)
        cube = _chosen(left, v * v * v, cube)
        u = _chosen(left, _uniform(of_u), u)
        key = _chosen(left, after, key)
        left = elementwise.logical_and(left, _is_rejected(x2, cube, u, d))
    return cube


def _is_rejected(x2: Any, cube: Any, u: Any, d: Any) -> Any:
    return elementwise.logical_and(
        elementwise.greater_equal(u, 1 - 0.0331 * (x2 * x2)),
        elementwise.greater_equal(
            elementwise.log(u), x2 * 0.5 + d * (1 - cube + elementwise.log(cube))
        ),
    )


def _drawn(op: str, key: Any, a: Any, shape: Any, dtype: Any, *, is_log: bool) -> Any:
    kind = float_of(op, dtype)
    own = shape_for(op, shape, a)
    given = parameter(op, a, kind, own)
    if given.is_tracked and given.requires_grad:
        raise NotDifferentiable(op, "samples have no gradient. Use jax.lax.stop_gradient.")
    alpha = unwrapped(cast(manipulation.reshape(given, (-1,)), np.dtype("float32")))
    count = product(own)
    if not count:
        return cast(given, kind)
    keys = unwrapped(split(key, count))
    words = keys[:, 0], keys[:, 1]
    is_large = elementwise.greater_equal(alpha, 1)
    d = elementwise.where(is_large, alpha, alpha + 1) - 1 / 3
    c = (1 / 3) / elementwise.sqrt(d)
    first, boost_key = _children(words, 2)
    cube = _accepted(first, d, c)
    drawn = _uniform(boost_key)
    if is_log:
        logs = elementwise.log1p(-drawn)
        is_plain = elementwise.logical_or(is_large, elementwise.equal(logs, 0))
        boost = elementwise.where(is_plain, 0, logs * (1 / alpha))
        found = elementwise.log(d) + elementwise.log(cube) + boost
    else:
        boost = elementwise.where(is_large, 1, elementwise.pow(1 - drawn, 1 / alpha))
        found = d * cube * boost
    return cast(as_jax(manipulation.reshape(found, own)), kind)


def gamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the gamma distribution with shape ``a``. Waits for the GPU."""
    check_sharding("gamma", out_sharding)
    return _drawn("gamma", key, a, shape, dtype, is_log=False)


def loggamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return logarithms of numbers from the gamma distribution. Waits for the GPU."""
    check_sharding("loggamma", out_sharding)
    return _drawn("loggamma", key, a, shape, dtype, is_log=True)


def beta(
    key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the beta distribution. Waits for the GPU."""
    check_sharding("beta", out_sharding)
    kind = float_of("beta", dtype)
    own = shape_for("beta", shape, a, b)
    keys = split(key)
    logs = [loggamma(keys[n], x, own, kind) for n, x in enumerate((a, b))]
    largest = elementwise.maximum(*logs)
    one, other = (as_jax(elementwise.exp(x - largest)) for x in logs)
    return one / (one + other)


def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the Dirichlet distribution, along the last axis. Waits for the GPU."""
    check_sharding("dirichlet", out_sharding)
    given = array("dirichlet", alpha, "alpha")
    if not given.ndim:
        raise InvalidArgument("dirichlet", "alpha", given, "have at least one axis")
    own = given.shape[:-1] if shape is None else samplers.shape_of(shape)
    logs = loggamma(key, given, (*own, given.shape[-1]), dtype)
    return as_jax(activations.softmax(logs, -1))


def chisquare(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the chi-square distribution. Waits for the GPU."""
    check_sharding("chisquare", out_sharding)
    kind = float_of("chisquare", dtype)
    half = cast(array("chisquare", df), kind) / 2
    return as_jax(elementwise.exp(loggamma(key, half, shape, kind))) * 2


def f(
    key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return numbers from the F distribution. Waits for the GPU."""
    check_sharding("f", out_sharding)
    kind = float_of("f", dtype)
    own = shape_for("f", shape, dfnum, dfden)
    keys = split(key)
    above = chisquare(keys[1], dfnum, own, kind) / cast(array("f", dfnum), kind)
    return above / (chisquare(keys[0], dfden, own, kind) / cast(array("f", dfden), kind))


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return numbers from Student's t distribution. Waits for the GPU."""
    check_sharding("t", out_sharding)
    kind = float_of("t", dtype)
    own = shape_for("t", shape, df)
    half = cast(array("t", df), kind) / 2
    keys = split(key)
    drawn = normal(keys[0], own, kind)
    return drawn * as_jax(elementwise.sqrt(half / gamma(keys[1], half, own, kind)))


def generalized_normal(
    key: Any, p: float, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return numbers from the generalized normal distribution. Waits for the GPU."""
    check_sharding("generalized_normal", out_sharding)
    kind = float_of("generalized_normal", dtype)
    keys = split(key)
    drawn = gamma(keys[0], 1 / p, samplers.shape_of(shape), kind)
    return samplers.rademacher(keys[1], shape, kind) * drawn ** (1 / p)


def ball(
    key: Any, d: int, p: float = 2, shape: Any = (), dtype: Any = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return points from the unit ball of the p-norm in ``d`` dimensions. Waits for the GPU."""
    check_sharding("ball", out_sharding)
    from browsergpu.jax.random.distributions import exponential

    keys = split(key)
    own = samplers.shape_of(shape)
    drawn = generalized_normal(keys[0], p, (*own, d), dtype)
    rest = exponential(keys[1], own, dtype)
    size = (abs(drawn) ** p).sum(-1) + rest
    return drawn / (size ** (1 / p))[..., None]


_ = creation
