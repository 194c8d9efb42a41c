"""Further activation functions as layers: hard, shrinking, exponential and gated ones."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions.nn import activations, gates, piecewise
from browsergpu.networks.layers.activations import AlongAxis, InPlace
from browsergpu.networks.layers.making import placed
from browsergpu.networks.module import Module
from browsergpu.networks.seeding import drawer


def _also_in_place(text: str, inplace: bool) -> str:
    return text + ", inplace=True" if inplace else text


class ReLU6(InPlace):
    """Apply :func:`browsergpu.nn.relu6`."""

    def forward(self, input: Array) -> Array:
        """Return min(max(x, 0), 6)."""
        return placed(piecewise.relu6(input), input, self.inplace)


class Hardtanh(Module):
    """Apply :func:`browsergpu.nn.hardtanh`."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val = checks.real("Hardtanh", "min_val", min_val)
        self.max_val = checks.real("Hardtanh", "max_val", max_val)
        if self.min_val >= self.max_val:
            expected = f"a number below max_val, {self.max_val}"
            raise InvalidArgument("Hardtanh", "min_val", min_val, expected)
        self.inplace = checks.flag("Hardtanh", "inplace", inplace)

    def forward(self, input: Array) -> Array:
        """Return x, clipped to the range from min_val to max_val."""
        found = piecewise.hardtanh(input, self.min_val, self.max_val)
        return placed(found, input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return _also_in_place(f"min_val={self.min_val}, max_val={self.max_val}", self.inplace)


class Hardsigmoid(InPlace):
    """Apply :func:`browsergpu.nn.hardsigmoid`."""

    def forward(self, input: Array) -> Array:
        """Return min(max(x + 3, 0), 6) / 6."""
        return placed(piecewise.hardsigmoid(input), input, self.inplace)


class SELU(InPlace):
    """Apply :func:`browsergpu.nn.selu`."""

    def forward(self, input: Array) -> Array:
        """Return λ x for x > 0, else λ α (exp(x) - 1)."""
        return placed(piecewise.selu(input), input, self.inplace)


class Mish(InPlace):
    """Apply :func:`browsergpu.nn.mish`."""

    def forward(self, input: Array) -> Array:
        """Return x tanh(log(1 + exp(x)))."""
        return placed(gates.mish(input), input, self.inplace)


class CELU(Module):
    """Apply :func:`browsergpu.nn.celu`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = checks.real("CELU", "alpha", alpha)
        self.inplace = checks.flag("CELU", "inplace", inplace)

    def forward(self, input: Array) -> Array:
        """Return x for x > 0, else alpha (exp(x / alpha) - 1)."""
        return placed(piecewise.celu(input, self.alpha), input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return _also_in_place(f"alpha={self.alpha}", self.inplace)


class Threshold(Module):
    """Apply :func:`browsergpu.nn.threshold`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = checks.real("Threshold", "threshold", threshold)
        self.value = checks.real("Threshold", "value", value)
        self.inplace = checks.flag("Threshold", "inplace", inplace)

    def forward(self, input: Array) -> Array:
        """Return x for x > threshold, else value."""
        found = piecewise.threshold(input, self.threshold, self.value)
        return placed(found, input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return _also_in_place(f"threshold={self.threshold}, value={self.value}", self.inplace)


class RReLU(Module):
    """Apply :func:`browsergpu.nn.rrelu`.

    Parameters
    ----------
    lower, upper : float
        Bounds of the slopes.
    inplace : bool
        Whether to write the result into the input and return the input.
    generator : Generator, optional
        Source of the slopes in training. By default the one that ``browsergpu.nn.init.seed`` seeds.
    """

    def __init__(
        self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False, *,
        generator: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.lower = checks.real("RReLU", "lower", lower)
        self.upper = checks.real("RReLU", "upper", upper)
        self.inplace = checks.flag("RReLU", "inplace", inplace)
        self.generator = generator

    def forward(self, input: Array) -> Array:
        """Return x for x > 0, else x times a slope, which is random in training."""
        generator = drawer("RReLU", self.generator, input.device) if self.training else None
        found = piecewise.rrelu(input, self.lower, self.upper, self.training, generator=generator)
        return placed(found, input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return _also_in_place(f"lower={self.lower}, upper={self.upper}", self.inplace)


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = checks.real(type(self).__name__, "lambd", lambd)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return str(self.lambd)


class Hardshrink(_Shrink):
    """Apply :func:`browsergpu.nn.hardshrink`."""

    def forward(self, input: Array) -> Array:
        """Return x for abs(x) > lambd, else 0."""
        return piecewise.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """Apply :func:`browsergpu.nn.softshrink`."""

    def forward(self, input: Array) -> Array:
        """Return x moved towards 0 by lambd."""
        return piecewise.softshrink(input, self.lambd)


class Tanhshrink(Module):
    """Apply :func:`browsergpu.nn.tanhshrink`."""

    def forward(self, input: Array) -> Array:
        """Return x - tanh(x)."""
        return gates.tanhshrink(input)


class Softsign(Module):
    """Apply :func:`browsergpu.nn.softsign`."""

    def forward(self, input: Array) -> Array:
        """Return x / (1 + abs(x))."""
        return gates.softsign(input)


class LogSigmoid(Module):
    """Apply :func:`browsergpu.nn.logsigmoid`."""

    def forward(self, input: Array) -> Array:
        """Return log(sigmoid(x))."""
        return gates.logsigmoid(input)


class GLU(AlongAxis):
    """Apply :func:`browsergpu.nn.glu` along the axis ``dim``."""

    def forward(self, input: Array) -> Array:
        """Return the first half times the sigmoid of the second half."""
        return gates.glu(input, self.dim)


class Softmin(AlongAxis):
    """Apply :func:`browsergpu.nn.softmin` along the axis ``dim``."""

    def forward(self, input: Array) -> Array:
        """Return softmax(-x)."""
        return gates.softmin(input, self.dim)


class Softmax2d(Module):
    """Apply :func:`browsergpu.nn.softmax` to the channels of [N, C, H, W] or [C, H, W]."""

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        if input.ndim not in (3, 4):
            expected = "have shape [N, C, H, W] or [C, H, W]"
            raise InvalidArgument("Softmax2d", "input", input, expected)
        return activations.softmax(input, -3)
