"""Parameter initialization with the functions of ``torch.nn.init``.

Each function fills an array in place, whether it requires a gradient or not, and returns it.
``generator`` is a Generator of ``browsergpu.random.default_rng`` for the random numbers. By default
they come from the generator that :func:`seed` seeds.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg import decompositions, linear
from browsergpu.networks.parameter import take
from browsergpu.networks.seeding import drawer, seed

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "seed",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0, "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5 / 3,
    "relu": sqrt(2), "selu": 0.75,
}  # fmt: skip


def _leaf(op: str, tensor: Any) -> Array:
    if not isinstance(tensor, Array):
        raise InvalidType(op, "tensor", tensor, "an array")
    if not tensor.is_leaf:
        raise InvalidArgument(op, "tensor", Description("an operation's result"), "a leaf")
    return tensor


def _floats(op: str, tensor: Any) -> Array:
    found = _leaf(op, tensor)
    if found.dtype.kind != "f":
        raise InvalidType(op, "tensor", found, "float32 or float16")
    return found


def constant_(tensor: Array, val: float) -> Array:
    """Fill an array with ``val``."""
    own = _leaf("constant_", tensor)
    take(own, creation.full(own.shape, val, dtype=own.dtype, device=own.device))
    return tensor


def zeros_(tensor: Array) -> Array:
    """Fill an array with 0."""
    return constant_(tensor, 0)


def ones_(tensor: Array) -> Array:
    """Fill an array with 1."""
    return constant_(tensor, 1)


def eye_(tensor: Array) -> Array:
    """Fill a matrix with ones on the diagonal and zeros elsewhere.

    Raises InvalidArgument if the array does not have two axes.
    """
    own = _leaf("eye_", tensor)
    if own.ndim != 2:
        raise InvalidArgument("eye_", "tensor", own, "have two axes")
    take(own, creation.eye(*own.shape, dtype=own.dtype, device=own.device))
    return tensor


def uniform_(tensor: Array, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Array:
    """Fill an array from the uniform distribution on [a, b)."""
    own = _floats("uniform_", tensor)
    take(own, drawer("uniform_", generator, own.device).uniform(a, b, own.shape))
    return tensor


def normal_(tensor: Array, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Array:
    """Fill an array from the normal distribution with that mean and standard deviation."""
    own = _floats("normal_", tensor)
    take(own, drawer("normal_", generator, own.device).normal(mean, std, own.shape))
    return tensor


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended gain of a nonlinearity.

    Parameters
    ----------
    nonlinearity : str
        Name of the function. The gain is 1 for linear layers and "sigmoid", 5/3 for "tanh", √2 for
        "relu", √(2 / (1 + param²)) for "leaky_relu", and 3/4 for "selu".
    param : float, optional
        Slope of "leaky_relu", 0.01 by default.

    Returns
    -------
    float
        The gain.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else checks.real("calculate_gain", "param", param)
        return sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        expected = f"one of {', '.join(sorted(_GAINS | {'leaky_relu': 1}))}"
        raise InvalidArgument("calculate_gain", "nonlinearity", nonlinearity, expected)
    return _GAINS[nonlinearity]


def fans(op: str, tensor: Array) -> tuple[int, int]:
    """Return the fan in and the fan out of weights [O, I, ...]."""
    if tensor.ndim < 2:
        raise InvalidArgument(op, "tensor", tensor, "have two axes or more")
    field = prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def xavier_uniform_(tensor: Array, gain: float = 1.0, generator: Any = None) -> Array:
    """Fill an array from the uniform distribution on ±gain √(6 / (fan in + fan out)).

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010.
    """
    bound = gain * sqrt(6 / max(sum(fans("xavier_uniform_", tensor)), 1))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Array, gain: float = 1.0, generator: Any = None) -> Array:
    """Fill an array from the normal distribution with std gain √(2 / (fan in + fan out)).

    Source: see :func:`xavier_uniform_`.
    """
    std = gain * sqrt(2 / max(sum(fans("xavier_normal_", tensor)), 1))
    return normal_(tensor, 0.0, std, generator)


def _kaiming(op: str, tensor: Array, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise InvalidArgument(op, "mode", mode, "'fan_in' or 'fan_out'")
    fan = fans(op, tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / sqrt(max(fan, 1))


def kaiming_uniform_(
    tensor: Array, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Array:  # fmt: skip
    """Fill an array from the uniform distribution on ±gain √(3 / fan).

    Parameters
    ----------
    tensor : Array
        The array to fill.
    a : float
        Slope of "leaky_relu".
    mode : str
        "fan_in" or "fan_out".
    nonlinearity : str
        The function after the layer, see :func:`calculate_gain`.
    generator : Generator, optional
        Source of the random numbers.

    Notes
    -----
    Source: He et al., "Delving deep into rectifiers", arXiv 1502.01852.
    """
    bound = sqrt(3) * _kaiming("kaiming_uniform_", tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Array, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Array:  # fmt: skip
    """Fill an array from the normal distribution with standard deviation gain / √fan.

    Parameters are those of :func:`kaiming_uniform_`.
    """
    std = _kaiming("kaiming_normal_", tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Array, gain: float = 1.0, generator: Any = None) -> Array:
    """Fill an array with orthogonal rows or columns, whichever are fewer, of length ``gain``.

    Axes after the first are flattened into one.

    Source: Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks", arXiv 1312.6120.
    """
    op = "orthogonal_"
    own = _floats(op, tensor)
    if own.ndim < 2 or not own.size:
        raise InvalidArgument(op, "tensor", own, "have two axes or more")
    rows, columns = own.shape[0], own.size // own.shape[0]
    long, short = max(rows, columns), min(rows, columns)
    drawn = drawer(op, generator, own.device).normal(0.0, 1.0, (long, short))
    q, r = decompositions.qr(drawn)
    # Without the signs of r's diagonal, the directions would not be uniformly distributed.
    q = q * elementwise.sign(linear.diagonal(r))
    made = manipulation.transpose(q) if rows < columns else q
    take(own, made.reshape(own.shape) * gain)
    return tensor
