"""Normalizations of states."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.functions.language.attention import rms_norm
from browsergpu.functions.nn import normalization
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module


class RMSNorm(Module):
    """Divide by the root mean square over the last axis, scale, and add a residual."""

    def __init__(self, weights: Weights, name: str, width: int, eps: float) -> None:
        super().__init__()
        self.weight = weights.vector(f"{name}.weight", width)
        self.eps = eps

    def forward(self, x: Array, residual: Array | None = None) -> Array:
        """Return an array of the input's shape."""
        if is_tracked(x) or is_tracked(residual):  # the kernel has no gradient
            found = normalization.rms_norm(x, self.weight.shape, self.weight, self.eps)
            return found if residual is None else found + residual
        return rms_norm(x, self.weight, self.eps, residual)


class LayerNorm(Module):
    """Normalize the last axis to mean 0 and variance 1, then scale and shift."""

    def __init__(self, weights: Weights, name: str, width: int, eps: float) -> None:
        super().__init__()
        self.weight = weights.vector(f"{name}.weight", width)
        self.bias = weights.vector(f"{name}.bias", width)
        self.eps = eps

    def forward(self, x: Array) -> Array:
        """Return an array of the input's shape."""
        return normalization.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


def is_tracked(x: Array | None) -> bool:
    """Return whether an array may need a gradient, which kernels for inference do not have."""
    return type(x) in TRACKED
