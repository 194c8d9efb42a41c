"""Activation functions as layers, including softmax."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.functions.nn import activations, piecewise
from browsergpu.networks import init as beginning
from browsergpu.networks.layers.making import parameter, placed
from browsergpu.networks.module import Module


class InPlace(Module):
    """Base of layers with ``inplace``.

    It writes the result into the input and returns the input, as in PyTorch.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = checks.flag(type(self).__name__, "inplace", inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return "inplace=True" if self.inplace else ""


class ReLU(InPlace):
    """Apply :func:`browsergpu.nn.relu`."""

    def forward(self, input: Array) -> Array:
        """Return max(x, 0)."""
        return placed(activations.relu(input), input, self.inplace)


class LeakyReLU(Module):
    """Apply :func:`browsergpu.nn.leaky_relu`."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = checks.real("LeakyReLU", "negative_slope", negative_slope)
        self.inplace = checks.flag("LeakyReLU", "inplace", inplace)

    def forward(self, input: Array) -> Array:
        """Return x for x > 0, else negative_slope x."""
        return placed(activations.leaky_relu(input, self.negative_slope), input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """Return x for x > 0, else weight x, with a learned weight.

    Parameters
    ----------
    num_parameters : int
        1, or the number of channels of [N, C, ...] for a weight per channel.
    init : float
        Initial value of the weight.
    """

    weight: Array

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = checks.integer("PReLU", "num_parameters", num_parameters, 1)
        self.init = checks.real("PReLU", "init", init)
        self.weight = parameter((self.num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the parameters to their initial values."""
        beginning.constant_(self.weight, self.init)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        return piecewise.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"num_parameters={self.num_parameters}"


class ELU(Module):
    """Apply :func:`browsergpu.nn.elu`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = checks.real("ELU", "alpha", alpha)
        self.inplace = checks.flag("ELU", "inplace", inplace)

    def forward(self, input: Array) -> Array:
        """Return x for x > 0, else alpha (exp(x) - 1)."""
        return placed(activations.elu(input, self.alpha), input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Sigmoid(Module):
    """Apply :func:`browsergpu.nn.sigmoid`."""

    def forward(self, input: Array) -> Array:
        """Return 1 / (1 + exp(-x))."""
        return activations.sigmoid(input)


class SiLU(InPlace):
    """Apply :func:`browsergpu.nn.silu`."""

    def forward(self, input: Array) -> Array:
        """Return x sigmoid(x)."""
        return placed(activations.silu(input), input, self.inplace)


class Hardswish(InPlace):
    """Apply :func:`browsergpu.nn.hardswish`."""

    def forward(self, input: Array) -> Array:
        """Return x min(max(x + 3, 0), 6) / 6."""
        return placed(activations.hardswish(input), input, self.inplace)


class Tanh(Module):
    """Apply :func:`browsergpu.nn.tanh`."""

    def forward(self, input: Array) -> Array:
        """Return the hyperbolic tangent."""
        return activations.tanh(input)


class Softplus(Module):
    """Apply :func:`browsergpu.nn.softplus`."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = checks.real("Softplus", "beta", beta)
        self.threshold = checks.real("Softplus", "threshold", threshold)

    def forward(self, input: Array) -> Array:
        """Return log(1 + exp(beta x)) / beta."""
        return activations.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(Module):
    """Apply :func:`browsergpu.nn.gelu`."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Array) -> Array:
        """Return x Φ(x)."""
        return activations.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"approximate={self.approximate!r}"


class AlongAxis(Module):
    """Base of layers along the axis ``dim``."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = checks.integer(type(self).__name__, "dim", dim, -checks.LARGEST)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"dim={self.dim}"


class Softmax(AlongAxis):
    """Apply :func:`browsergpu.nn.softmax` along the axis ``dim``."""

    def forward(self, input: Array) -> Array:
        """Return exp(x), divided by its sum along the axis."""
        return activations.softmax(input, self.dim)


class LogSoftmax(AlongAxis):
    """Apply :func:`browsergpu.nn.log_softmax` along the axis ``dim``."""

    def forward(self, input: Array) -> Array:
        """Return log(softmax(x))."""
        return activations.log_softmax(input, self.dim)
