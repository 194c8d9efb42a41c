"""Parametrizations of weights, with the names of ``torch.nn.utils.parametrizations``."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.networks.module import Module
from browsergpu.networks.parametrize import register_parametrization
from browsergpu.networks.reparametrizing import (
    PowerIteration,
    SliceNorms,
    power_iteration,
    slice_norms,
)

__all__ = ["spectral_norm", "weight_norm"]


class WeightNorm(Module):
    """A weight from its lengths and its direction."""

    def __init__(self, slices: SliceNorms) -> None:
        super().__init__()
        self.slices = slices

    def forward(self, lengths: Array, direction: Array) -> Array:
        """Return the direction, scaled to the lengths."""
        return self.slices.scaled(lengths, direction)

    def right_inverse(self, weight: Array) -> tuple[Array, Array]:
        """Return the lengths and the direction of a weight."""
        return self.slices.norm(weight), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Learn the lengths and the direction of a weight.

    Parameters
    ----------
    module : Module
        The module. It gets parameters named ``parametrizations.weight.original0``, the lengths, and
        ``parametrizations.weight.original1``.
    name : str
        Name of the weight.
    dim : int, optional
        The axis whose slices have lengths of their own. None uses one length.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    InvalidArgument
        If there is no parameter of this name, or ``dim`` is out of range.

    Examples
    --------
    >>> layer = bg.nn.utils.parametrizations.weight_norm(bg.nn.Linear(2, 3))
    >>> [tuple(x.shape) for x in layer.parameters()]
    [(3,), (3, 1), (3, 2)]
    """
    op = "weight_norm"
    weight = _attribute(op, module, name)
    made = WeightNorm(slice_norms(op, weight, dim, keeps_whole=False))
    return register_parametrization(module, name, made, unsafe=True)


class SpectralNorm(Module):
    """A weight divided by its largest singular value."""

    def __init__(self, weight: Array, power: PowerIteration) -> None:
        super().__init__()
        self.power = power
        if weight.ndim > 1:
            for name, vector in zip("uv", power.begin(weight), strict=True):
                self.register_buffer(f"_{name}", vector)

    def forward(self, weight: Array) -> Array:
        """Return the normalized weight. In training, improve the singular vectors first."""
        if weight.ndim == 1:
            return self.power.unit(weight)
        return self.power.divided(weight, self._u, self._v, self.training)

    def right_inverse(self, value: Array) -> Array:
        """Return the value."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Divide a weight by its largest singular value at each use.

    Parameters
    ----------
    module : Module
        The module. It gets the parameter ``parametrizations.weight.original`` and buffers with the
        first singular vectors, which each use in training improves by power iteration.
    name : str
        Name of the weight.
    n_power_iterations : int
        Number of iterations of a use.
    eps : float
        The least norm of a vector.
    dim : int, optional
        The axis of the rows. 1 for transposed convolutions, and 0 for other modules by default.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    InvalidArgument
        If there is no parameter of this name, or an option is invalid.

    Examples
    --------
    >>> layer = bg.nn.utils.parametrizations.spectral_norm(bg.nn.Linear(2, 3)).eval()
    >>> round(float(bg.linalg.svdvals(layer.weight.detach())[0]), 3)
    1.0
    """
    op = "spectral_norm"
    weight = _attribute(op, module, name)
    power = power_iteration(op, module, weight, dim, n_power_iterations, eps)
    made = SpectralNorm(weight.detach(), power)
    return register_parametrization(module, name, made)


def _attribute(op: str, module: Any, name: str) -> Array:
    if not isinstance(module, Module):
        raise InvalidType(op, "module", module, "a Module")
    found = getattr(module, name, None)
    if not isinstance(found, Array):
        raise InvalidArgument(op, "name", name, "the name of a parameter")
    return found
