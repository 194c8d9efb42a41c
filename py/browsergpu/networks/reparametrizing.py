"""Weights that are computed from other parameters before each call of a module.

The names of states are those of ``torch.nn.utils.weight_norm`` and ``spectral_norm``.
"""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.arrays.in_place import become
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg import norms
from browsergpu.functions.linalg.linear import matmul, vecdot
from browsergpu.networks import init
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import Parameter


def _weight(op: str, module: Any, name: Any) -> Array:
    """Return a parameter of a module. Raises InvalidType or InvalidArgument if there is none."""
    if not isinstance(module, Module):
        raise InvalidType(op, "module", module, "a Module")
    found = module._parameters.get(name)
    if found is None:
        raise InvalidArgument(op, "name", name, "the name of a parameter")
    return found


class _Computed:
    """Base of hooks that compute a weight. One module may have several, of different names."""

    name: str

    def weight(self, module: Module) -> Array:
        """Return the weight."""
        raise NotImplementedError

    def __call__(self, module: Module, args: Any) -> None:
        setattr(module, self.name, self.weight(module))

    def replace(self, module: Module) -> None:
        """Compute the parameter before each call from now on."""
        delattr(module, self.name)

    def start(self, module: Module) -> None:
        """Register the hook, and compute the weight for the first time."""
        self(module, ())
        module.register_forward_pre_hook(self)


def _removed(op: str, module: Any, name: Any, kind: type[_Computed]) -> _Computed:
    """Remove a hook of a module and the weight that it computed. Return the hook."""
    for key, hook in getattr(module, "_forward_pre_hooks", {}).items():
        if isinstance(hook, kind) and hook.name == name:
            del module._forward_pre_hooks[key]
            delattr(module, name)
            return hook
    raise InvalidArgument(op, "name", name, f"the name of a weight that {op[7:]} computes")


class SliceNorms(Shown):
    """The lengths of the slices of a weight, and a weight of given lengths."""

    def __init__(self, axes: tuple[int, ...], keepdims: bool) -> None:
        self.axes, self.keepdims = axes, keepdims

    def norm(self, x: Array) -> Array:
        """Return the norms of the slices of an array."""
        return norms.vector_norm(x, axis=self.axes, keepdims=self.keepdims)

    def scaled(self, lengths: Array, direction: Array) -> Array:
        """Return the direction, scaled to the lengths."""
        return elementwise.multiply(direction, elementwise.divide(lengths, self.norm(direction)))


def slice_norms(op: str, weight: Array, dim: int | None, *, keeps_whole: bool) -> SliceNorms:
    """Return the norms of the slices of an axis of a weight, or for None of the whole weight.

    With ``keeps_whole``, the norm of a whole weight has the axes of the weight.
    """
    kept = None if dim is None else shapes.axis(op, "dim", dim, weight.ndim)
    axes = tuple(n for n in range(weight.ndim) if n != kept)
    return SliceNorms(axes, keeps_whole or kept is not None)


class _WeightNorm(_Computed):
    def __init__(self, name: str, slices: SliceNorms) -> None:
        self.name, self.slices = name, slices

    def weight(self, module: Module) -> Array:
        """Return the weight of the module's lengths and direction."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return self.slices.scaled(g, v)


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Compute a weight from its lengths g and its direction v, which are learned instead.

    Parameters
    ----------
    module : Module
        The module. It gets parameters named ``weight_g`` and ``weight_v``.
    name : str, optional
        Name of the weight.
    dim : int, optional
        The axis whose slices have separate lengths. None uses a single length.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    InvalidArgument
        If there is no parameter of this name, or ``dim`` is out of range.

    Notes
    -----
    Source: Salimans and Kingma, "Weight normalization", arXiv 1602.07868.
    """
    op = "weight_norm"
    weight = _weight(op, module, name)
    slices = slice_norms(op, weight, dim, keeps_whole=True)
    hook = _WeightNorm(name, slices)
    value = weight.detach()
    hook.replace(module)
    module.register_parameter(f"{name}_g", Parameter(slices.norm(value)))
    module.register_parameter(f"{name}_v", Parameter(value.copy()))
    hook.start(module)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make a weight that :func:`weight_norm` computes a parameter again.

    Parameters
    ----------
    module : Module
        The module.
    name : str, optional
        Name of the weight.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    InvalidArgument
        If there is no such weight.
    """
    hook = _removed("remove_weight_norm", module, name, _WeightNorm)
    return _restored(module, hook, f"{name}_g", f"{name}_v")


def _restored(module: Any, hook: _Computed, *own: str) -> Any:
    with no_grad():
        value = hook.weight(module)
    for one in own:
        delattr(module, one)
    module.register_parameter(hook.name, Parameter(value.detach()))
    return module


class PowerIteration(Shown):
    """Approximates the first singular vectors of a weight, as a matrix, by power iteration."""

    def __init__(self, axis: int, steps: int, eps: float) -> None:
        self.axis, self.steps, self.eps = axis, steps, eps

    def matrix(self, weight: Array) -> Array:
        """Return a weight as a matrix with a row for each index of the axis."""
        moved = manipulation.moveaxis(weight, self.axis, 0)
        return manipulation.reshape(moved, (moved.shape[0], -1))

    def begin(self, weight: Array) -> list[Array]:
        """Return the vectors after the first iterations, from random ones."""
        matrix = self.matrix(weight)
        vectors = [
            creation.zeros((n,), dtype=weight.dtype, device=weight.device) for n in matrix.shape
        ]
        for one in vectors:
            init.normal_(one)
            become(one, self.unit(one))
        u, v = vectors
        self._iterate(matrix, u, v, 15)
        return vectors

    @no_grad()
    def _iterate(self, matrix: Array, u: Array, v: Array, steps: int) -> None:
        """Move u and v towards the first singular vectors, in place."""
        for _ in range(steps):
            become(v, self.unit(matmul(manipulation.matrix_transpose(matrix), u)))
            become(u, self.unit(matmul(matrix, v)))

    def unit(self, x: Array) -> Array:
        """Return a vector divided by its norm."""
        return elementwise.divide(x, elementwise.maximum(norms.vector_norm(x), self.eps))

    def divided(self, weight: Array, u: Array, v: Array, is_training: bool) -> Array:
        """Return a weight divided by its largest singular value."""
        matrix = self.matrix(weight)
        if is_training:
            self._iterate(matrix.detach(), u, v, self.steps)
        # Copies, as later steps change the vectors in place.
        largest = vecdot(u.copy(), matmul(matrix, v.copy()))
        return elementwise.divide(weight, largest)


def power_iteration(
    op: str, module: Any, weight: Array, dim: int | None, steps: int, eps: float
) -> PowerIteration:
    """Return the iteration for a weight of a module, after checks of the options."""
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    return PowerIteration(
        shapes.axis(op, "dim", dim, weight.ndim),
        checks.integer(op, "n_power_iterations", steps, 1), checks.real(op, "eps", eps),
    )  # fmt: skip


class _SpectralNorm(_Computed):
    def __init__(self, name: str, power: PowerIteration) -> None:
        self.name, self.power = name, power

    def weight(self, module: Module) -> Array:
        """Return the weight divided by its largest singular value."""
        own, u, v = (getattr(module, f"{self.name}_{end}") for end in ("orig", "u", "v"))
        return self.power.divided(own, u, v, module.training)


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Divide a weight by its largest singular value before each call.

    The singular vectors are buffers. In training, each call improves them by power iteration.

    Parameters
    ----------
    module : Module
        The module. It gets a parameter ``weight_orig`` and buffers ``weight_u`` and ``weight_v``.
    name : str, optional
        Name of the weight.
    n_power_iterations : int, optional
        Number of iterations of a call.
    eps : float, optional
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

    Notes
    -----
    Source: Miyato et al., "Spectral normalization for generative adversarial networks", arXiv
    1802.05957.
    """
    op = "spectral_norm"
    weight = _weight(op, module, name)
    power = power_iteration(op, module, weight, dim, n_power_iterations, eps)
    hook = _SpectralNorm(name, power)
    vectors = power.begin(weight.detach())
    hook.replace(module)
    module.register_parameter(f"{name}_orig", weight)
    for end, vector in zip("uv", vectors, strict=True):
        module.register_buffer(f"{name}_{end}", vector)
    hook.start(module)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make a weight that :func:`spectral_norm` computes a parameter again.

    Parameters
    ----------
    module : Module
        The module.
    name : str, optional
        Name of the weight.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    InvalidArgument
        If there is no such weight.
    """
    hook = _removed("remove_spectral_norm", module, name, _SpectralNorm)
    return _restored(module, hook, f"{name}_orig", f"{name}_u", f"{name}_v")
