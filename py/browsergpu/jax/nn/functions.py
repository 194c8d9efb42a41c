"""Activations, softmax and attention with the names of ``jax.nn``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.engine.core import shapes
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import elementwise, manipulation, special, statistics
from browsergpu.functions.nn import activations, attention, gates, piecewise
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JaxArray, as_jax, cast
from browsergpu.jax.arrays.operands import array, inexact, promoted
from browsergpu.jax.numpy.wrappers import FUNCTIONS as NUMPY


def _of_one(name: str, function: Callable[[Any], Any], floats: bool = True) -> Callable[..., Any]:
    def call(x: Any) -> Any:
        if type(x) is JaxArray and x.dtype.kind == "f":
            return function(x)
        return as_jax(function(inexact(name, x) if floats else array(name, x)))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jax.nn.{name}`` of each element."
    return call


relu = _of_one("relu", activations.relu, floats=False)
relu6 = _of_one("relu6", piecewise.relu6)
sigmoid = _of_one("sigmoid", activations.sigmoid)
silu = _of_one("silu", activations.silu)
swish = silu
tanh = _of_one("tanh", activations.tanh)
log_sigmoid = _of_one("log_sigmoid", gates.logsigmoid)
soft_sign = _of_one("soft_sign", gates.softsign)
hard_sigmoid = _of_one("hard_sigmoid", piecewise.hardsigmoid)
hard_silu = _of_one("hard_silu", activations.hardswish)
hard_swish = hard_silu
hard_tanh = _of_one("hard_tanh", piecewise.hardtanh)
selu = _of_one("selu", piecewise.selu)
mish = _of_one("mish", gates.mish)


def softplus(x: Any) -> Any:
    """Return ``log(1 + exp(x))``."""
    return as_jax(elementwise.logaddexp(inexact("softplus", x), 0.0))


def identity(x: Any) -> Any:
    """Return the array."""
    return array("identity", x)


def gelu(x: Any, approximate: bool = True) -> Any:
    """Return the Gaussian error linear unit, by default with the approximation by tanh."""
    own = inexact("gelu", x)
    return as_jax(activations.gelu(own, "tanh" if approximate else "none"))


def _chosen(is_first: Any, first: Any, second: Any) -> Any:
    return as_jax(elementwise.where(is_first, first, second))


def elu(x: Any, alpha: Any = 1.0) -> Any:
    """Return ``x`` where it is positive, and else ``alpha * (exp(x) - 1)``."""
    own = inexact("elu", x)
    positive = own > 0
    return _chosen(positive, own, alpha * as_jax(elementwise.expm1(_chosen(positive, 0.0, own))))


def celu(x: Any, alpha: Any = 1.0) -> Any:
    """Return ``max(x, 0) + alpha * expm1(min(x, 0) / alpha)``."""
    own = inexact("celu", x)
    below = as_jax(elementwise.expm1(NUMPY["minimum"](own, 0.0) / alpha))
    return NUMPY["maximum"](own, 0.0) + alpha * below


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """Return ``x`` where it is at least 0, and else ``negative_slope * x``."""
    own = inexact("leaky_relu", x)
    return _chosen(own >= 0, own, negative_slope * own)


def glu(x: Any, axis: int = -1) -> Any:
    """Return the first half of an axis times the sigmoid of the other half."""
    own = inexact("glu", x)
    if own.shape[axis] % 2:
        raise InvalidArgument("glu", "x", own, f"have an even length along axis {axis}")
    return as_jax(gates.glu(own, axis))


def squareplus(x: Any, b: Any = 4) -> Any:
    """Return ``(x + sqrt(x**2 + b)) / 2``."""
    own = inexact("squareplus", x)
    return (own + as_jax(elementwise.sqrt(own * own + b))) / 2


def sparse_plus(x: Any) -> Any:
    """Return 0 below -1, ``x`` above 1, and ``(x + 1)**2 / 4`` between."""
    own = inexact("sparse_plus", x)
    return _chosen(own <= -1, 0.0, _chosen(own >= 1, own, (own + 1) ** 2 / 4))


def sparse_sigmoid(x: Any) -> Any:
    """Return ``(x + 1) / 2``, limited to [0, 1]."""
    return NUMPY["clip"](inexact("sparse_sigmoid", x) * 0.5 + 0.5, 0.0, 1.0)


def log1mexp(x: Any) -> Any:
    """Return ``log(1 - exp(-x))`` for positive numbers."""
    own = inexact("log1mexp", x)
    near = as_jax(elementwise.log(-elementwise.expm1(-own)))
    return _chosen(own < math.log(2), near, as_jax(elementwise.log1p(-elementwise.exp(-own))))


def _axes(x: Any, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    return tuple([shapes.axis("nn", "axis", n, x.ndim) for n in given])


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return exponentials divided by their sum along axes. ``where`` leaves out elements."""
    is_plain = where is None and isinstance(axis, int)
    if is_plain and type(x) is JaxArray and x.node.kind is FLOAT32:
        return activations.softmax(x, axis)
    own = inexact("softmax", x)
    if is_plain:
        return as_jax(activations.softmax(own, axis))
    axes = _axes(own, axis)
    chosen = None if where is None else array("softmax", where, "where")
    shown = own if chosen is None else _chosen(chosen, own, -math.inf)
    top = statistics.max(shown, axis=axes, keepdims=True).detach()
    powers = elementwise.exp(shown - elementwise.where(elementwise.isfinite(top), top, 0.0))
    found = powers / statistics.sum(powers, axis=axes, keepdims=True)
    return as_jax(found if chosen is None else elementwise.where(chosen, found, 0.0))


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return the logarithm of :func:`softmax`."""
    own = inexact("log_softmax", x)
    if where is None and isinstance(axis, int):
        return as_jax(activations.log_softmax(own, axis))
    axes = _axes(own, axis)
    chosen = None if where is None else array("log_softmax", where, "where")
    shown = own if chosen is None else _chosen(chosen, own, -math.inf)
    found = shown - logsumexp(shown, axes, keepdims=True)
    return found if chosen is None else _chosen(chosen, found, -math.inf)


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False,
    where: Any = None,
) -> Any:  # fmt: skip
    """Return the logarithm of the sum of exponentials along axes."""
    own = inexact("logsumexp", a)
    if where is not None:
        own = _chosen(array("logsumexp", where), own, -math.inf)
    if b is None and not return_sign:
        return as_jax(special.logsumexp(own, axis=axis, keepdims=keepdims))
    factors = None if b is None else array("logsumexp", b, "b")
    found = special.logsumexp(own, axis=axis, b=factors, keepdims=keepdims, return_sign=return_sign)
    return as_jax(found)


def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """Return the logarithm of the mean of exponentials along axes."""
    own = inexact("logmeanexp", x)
    total = logsumexp(own, axis, where=where, keepdims=keepdims)
    ones = array("logmeanexp", True if where is None else where)
    spread = as_jax(manipulation.broadcast_to(ones, own.shape))
    return total - as_jax(elementwise.log(NUMPY["sum"](spread, axis, keepdims=keepdims) * 1.0))


def standardize(
    x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: Any = 1e-5,
    where: Any = None, *, algorithm: str = "fast",
) -> Any:  # fmt: skip
    """Subtract the mean along axes, and divide by the standard deviation."""
    if algorithm not in ("fast", "two_pass", "stable"):
        raise InvalidArgument("standardize", "algorithm", algorithm, "one of JAX's algorithms")
    own = inexact("standardize", x)
    middle = NUMPY["mean"](own, axis, keepdims=True, where=where) if mean is None else mean
    if variance is None:
        apart = own - middle
        variance = NUMPY["mean"](apart * apart, axis, keepdims=True, where=where)
    return (own - middle) / as_jax(elementwise.sqrt(array("standardize", variance) + epsilon))


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """Return vectors of zeros with a one at each index. Other indices give zeros."""
    own = array("one_hot", x)
    kind = dtypes.FLOAT32 if dtype is None else dtypes.dtype_of("one_hot", dtype)
    at = shapes.axis("one_hot", "axis", axis, own.ndim + 1)
    row = NUMPY["arange"](num_classes, dtype=own.dtype if own.dtype.kind != "b" else None)
    shape = [-1 if n == at else 1 for n in range(own.ndim + 1)]
    spread = as_jax(manipulation.expand_dims(own, axis=at))
    return cast(spread == row.reshape(shape), kind)


def dot_product_attention(
    query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, *,
    scale: float | None = None, is_causal: bool = False, query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None, local_window_size: Any = None, implementation: Any = None,
    return_residual: bool = False,
) -> Any:  # fmt: skip
    """Return attention of arrays of shape [batch, length, heads, width].

    Parameters
    ----------
    query, key, value : Array
        Arrays of shape [batch, length, heads, width], or without the batch. The heads of ``key``
        and ``value`` may be fewer, and are then repeated.
    bias : Array, optional
        Added to the scores of shape [batch, heads, length, length].
    mask : Array, optional
        Bools that keep scores.
    scale : float, optional
        By default ``1 / sqrt(width)``.
    is_causal : bool
        Whether a position sees no later one.
    query_seq_lengths, key_value_seq_lengths, local_window_size, implementation
        Must be None.
    return_residual : bool
        Must be False.

    Returns
    -------
    Array
        An array of the shape of ``query``.
    """
    op = "dot_product_attention"
    refused = {
        "query_seq_lengths": query_seq_lengths, "key_value_seq_lengths": key_value_seq_lengths,
        "local_window_size": local_window_size, "return_residual": return_residual or None,
    }  # fmt: skip
    for name, given in refused.items():
        if given is not None:
            raise InvalidArgument(op, name, given, "None", "Use mask.")
    if implementation not in (None, "xla"):
        raise InvalidArgument(op, "implementation", implementation, "None or 'xla'")
    own = [array(op, x) for x in promoted(op, query, key, value)]
    heads = [as_jax(manipulation.moveaxis(x, -3, -2)) for x in own]
    groups = heads[0].shape[-3] // heads[1].shape[-3]
    if groups > 1:
        heads[1:] = [as_jax(manipulation.repeat(x, groups, axis=x.ndim - 3)) for x in heads[1:]]
    chosen = None if bias is None else array(op, bias, "bias").astype("float32")
    if mask is not None:
        kept = array(op, mask, "mask")
        if kept.dtype.kind != "b":
            raise InvalidType(op, "mask", kept.dtype, "of bools")
        # A finite number: a query without keys gets the mean of all values, as in JAX.
        lowest = -0.7 * float(np.finfo(np.float32).max)
        kept = _with_causal(kept, heads, is_causal)
        seen = 0.0 if chosen is None else chosen
        chosen = _chosen(kept, seen, lowest).astype("float32")
        is_causal = False
    found = attention.scaled_dot_product_attention(
        heads[0], heads[1], heads[2], attn_mask=_with_causal(chosen, heads, is_causal),
        is_causal=is_causal and chosen is None, scale=scale,
    )  # fmt: skip
    return as_jax(manipulation.moveaxis(found, -3, -2))


def _with_causal(mask: Any, heads: Any, is_causal: bool) -> Any:
    """Return a mask that also hides later positions."""
    if mask is None or not is_causal:
        return mask
    rows, columns = heads[0].shape[-2], heads[1].shape[-2]
    seen = NUMPY["arange"](columns) <= NUMPY["arange"](rows)[:, None]
    if mask.dtype.kind == "b":
        return as_jax(elementwise.logical_and(mask, seen))
    return _chosen(seen, mask, -math.inf)
