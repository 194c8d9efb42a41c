"""Linear and bilinear layers."""

from __future__ import annotations

from math import sqrt
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core.checks import integer
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.functions import elementwise, manipulation, statistics
from browsergpu.functions.linalg import linear as products
from browsergpu.functions.nn import tables
from browsergpu.networks import init
from browsergpu.networks.layers.making import begin, optional, parameter
from browsergpu.networks.module import Module


class Linear(Module):
    """Compute x weightᵀ + bias: [..., in_features] to [..., out_features].

    ``weight`` is [out_features, in_features].
    """

    weight: Array
    bias: Array | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features = integer("Linear", "in_features", in_features)
        self.out_features = integer("Linear", "out_features", out_features)
        self.weight = parameter((self.out_features, self.in_features), device, dtype)
        optional(self, "bias", bias, (self.out_features,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias from the uniform distribution on ±1 / √in_features."""
        begin(self.weight, self.bias)

    def forward(self, input: Array) -> Array:
        """Return an array of shape [..., out_features]."""
        return tables.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


def bilinear(input1: Array, input2: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return Σ input1[i] weight[o, i, j] input2[j] + bias[o].

    Parameters
    ----------
    input1, input2 : Array
        Shapes [..., in1_features] and [..., in2_features], with equal other axes.
    weight : Array
        Shape [out_features, in1_features, in2_features].
    bias : Array, optional
        Shape [out_features].

    Returns
    -------
    Array
        Shape [..., out_features].
    """
    if weight.ndim != 3:
        raise InvalidArgument("bilinear", "weight", weight, "have 3 axes")
    width, *wanted = weight.shape
    if (
        not input1.ndim
        or input1.shape[:-1] != input2.shape[:-1]
        or [input1.shape[-1], input2.shape[-1]] != wanted
    ):
        shown = f"arrays of shapes {tuple(input1.shape)} and {tuple(input2.shape)}"
        expected = (
            f"have {wanted[0]} and {wanted[1]} elements on the last axes, and equal other axes"
        )
        raise InvalidArgument("bilinear", "inputs", Description(shown), expected)
    rows = input1.reshape((-1, wanted[0]))
    flat = manipulation.reshape(manipulation.permute_dims(weight, (1, 0, 2)), (wanted[0], -1))
    part = products.matmul(rows, flat).reshape((-1, width, wanted[1]))
    other = input2.reshape((-1, 1, wanted[1]))
    found = statistics.sum(elementwise.multiply(part, other), axis=-1)
    found = found.reshape((*input1.shape[:-1], width))
    if bias is None:
        return found
    if tuple(bias.shape) != (width,):
        raise InvalidArgument("bilinear", "bias", bias, f"have shape ({width},)")
    return elementwise.add(found, bias)


class Bilinear(Module):
    """Compute Σ x1[i] weight[o, i, j] x2[j] + bias[o].

    The inputs are [..., in1_features] and [..., in2_features], the output is [..., out_features].
    """

    weight: Array
    bias: Array | None

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in1_features = integer("Bilinear", "in1_features", in1_features, 1)
        self.in2_features = integer("Bilinear", "in2_features", in2_features, 1)
        self.out_features = integer("Bilinear", "out_features", out_features, 1)
        shape = self.out_features, self.in1_features, self.in2_features
        self.weight = parameter(shape, device, dtype)
        optional(self, "bias", bias, (self.out_features,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias from the uniform distribution on ±1 / √in1_features."""
        bound = 1 / sqrt(self.in1_features)
        for one in self.parameters(recurse=False):
            init.uniform_(one, -bound, bound)

    def forward(self, input1: Array, input2: Array) -> Array:
        """Return an array of shape [..., out_features]."""
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
