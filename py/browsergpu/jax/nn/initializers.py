"""``jax.nn.initializers``: functions of a key, a shape and a dtype."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.jax import random
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.numpy.creation import full
from browsergpu.jax.numpy.wrappers import FUNCTIONS as NUMPY

Initializer = Callable[..., Any]
_FLOAT = np.dtype("float32")
#: The standard deviation of the standard normal distribution between -2 and 2.
_TRUNCATED = 0.87962566103423978


def zeros(key: Any, shape: Any, dtype: Any = _FLOAT, out_sharding: Any = None) -> Any:
    """Return zeros."""
    return full(shape, 0, dtype, out_sharding=out_sharding)


def ones(key: Any, shape: Any, dtype: Any = _FLOAT, out_sharding: Any = None) -> Any:
    """Return ones."""
    return full(shape, 1, dtype, out_sharding=out_sharding)


def constant(value: Any, dtype: Any = _FLOAT) -> Initializer:
    """Return an initializer that fills arrays with a value."""

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        return full(shape, value, dtype, out_sharding=out_sharding)

    return init


def uniform(scale: Any = 1e-2, dtype: Any = _FLOAT) -> Initializer:
    """Return an initializer for numbers from [0, scale)."""

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        return random.uniform(key, shape, dtype, out_sharding=out_sharding) * scale

    return init


def normal(stddev: Any = 1e-2, dtype: Any = _FLOAT) -> Initializer:
    """Return an initializer for normal numbers."""

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        return random.normal(key, shape, dtype, out_sharding=out_sharding) * stddev

    return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = _FLOAT, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """Return an initializer for normal numbers between two bounds."""

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        drawn = random.truncated_normal(key, lower, upper, shape, dtype, out_sharding=out_sharding)
        return drawn * stddev

    return init


def _fans(shape: Sequence[int], in_axis: Any, out_axis: Any, batch_axis: Any) -> tuple[float, ...]:
    """Return the numbers of inputs and outputs of a weight."""
    if len(shape) < 2:
        expected = "have at least 2 axes"
        raise InvalidArgument("variance_scaling", "shape", tuple(shape), expected)

    def size(axes: Any) -> int:
        own = axes if isinstance(axes, tuple | list) else (axes,)
        return math.prod([shape[n] for n in own])

    batch = size(batch_axis) if batch_axis != () else 1
    inputs, outputs = size(in_axis), size(out_axis)
    field = math.prod(shape) / inputs / outputs / batch
    return inputs * field, outputs * field


def variance_scaling(
    scale: Any, mode: str, distribution: str, in_axis: Any = -2, out_axis: Any = -1,
    batch_axis: Any = (), dtype: Any = _FLOAT,
) -> Initializer:  # fmt: skip
    """Return an initializer whose variance is ``scale`` divided by a number of weights.

    Parameters
    ----------
    scale : float
        The factor.
    mode : str
        "fan_in", "fan_out" or "fan_avg".
    distribution : str
        "truncated_normal", "normal" or "uniform".
    in_axis, out_axis, batch_axis : int or tuple of int
        The axes of inputs, outputs and of several weights.
    dtype : dtype
        The default dtype.

    Returns
    -------
    callable
        Takes a key, a shape and a dtype.
    """
    modes = {"fan_in": 0, "fan_out": 1}
    if mode not in (*modes, "fan_avg"):
        raise InvalidArgument("variance_scaling", "mode", mode, "'fan_in', 'fan_out' or 'fan_avg'")
    if distribution not in ("normal", "uniform", "truncated_normal"):
        expected = "'normal', 'uniform' or 'truncated_normal'"
        raise InvalidArgument("variance_scaling", "distribution", distribution, expected)

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        kind = dtypes.dtype_of("variance_scaling", dtype)
        fans = _fans(shape, in_axis, out_axis, batch_axis)
        variance = scale / (sum(fans) / 2 if mode == "fan_avg" else fans[modes[mode]])
        options = {"out_sharding": out_sharding}
        if distribution == "uniform":
            drawn = random.uniform(key, shape, kind, -1, 1, **options)
            return drawn * math.sqrt(3 * variance)
        if distribution == "normal":
            return random.normal(key, shape, kind, **options) * math.sqrt(variance)
        drawn = random.truncated_normal(key, -2.0, 2.0, shape, kind, **options)
        return drawn * (math.sqrt(variance) / _TRUNCATED)

    return init


def _scaled(scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    return partial(variance_scaling, scale, mode, distribution)


glorot_uniform = xavier_uniform = _scaled(1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled(1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaled(1.0, "fan_in", "uniform")
lecun_normal = _scaled(1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled(2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled(2.0, "fan_in", "truncated_normal")


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = _FLOAT) -> Initializer:
    """Return an initializer for orthogonal matrices."""

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        if len(shape) < 2:
            raise InvalidArgument("orthogonal", "shape", tuple(shape), "have at least 2 axes")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        drawn = random.orthogonal(key, rows, (), dtype, columns, out_sharding=out_sharding)
        rest = [n for at, n in enumerate(shape) if at != column_axis % len(shape)]
        found = drawn.reshape((*rest, columns))
        return NUMPY["moveaxis"](found, -1, column_axis) * scale

    return init
