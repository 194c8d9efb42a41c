"""Helpers that create and initialize the parameters of layers."""

from __future__ import annotations

from math import sqrt
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.functions import creation
from browsergpu.networks import init
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import registered


def parameter(shape: tuple[int, ...], device: Any, dtype: Any) -> Array:
    """Return a parameter whose values are to be initialized."""
    return registered(creation.zeros(shape, dtype=dtype, device=device))


def optional(
    module: Module, name: str, wanted: bool, shape: tuple[int, ...], device: Any, dtype: Any
) -> None:
    """Register a parameter if it is wanted, else None."""
    is_wanted = checks.flag(type(module).__name__, name, wanted)
    module.register_parameter(name, parameter(shape, device, dtype) if is_wanted else None)


def begin(weight: Array, bias: Array | None) -> None:
    """Initialize a linear layer or convolution, as PyTorch: both uniform on ±1 / √fan in."""
    init.kaiming_uniform_(weight, a=sqrt(5))
    if bias is not None:
        inside, _ = init.fans("reset_parameters", weight)
        bound = 1 / sqrt(inside) if inside else 0.0
        init.uniform_(bias, -bound, bound)


def placed(found: Array, input: Array, inplace: bool) -> Array:
    """Return a layer's result. With ``inplace``, write it into the input and return the input."""
    if not inplace:
        return found
    input[...] = found
    return input
