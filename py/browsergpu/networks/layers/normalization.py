"""Normalization layers."""

from __future__ import annotations

from typing import Any, ClassVar

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, manipulation
from browsergpu.functions.nn import normalization
from browsergpu.networks import init
from browsergpu.networks.layers.making import optional
from browsergpu.networks.layers.settings import extents
from browsergpu.networks.module import Module

#: Names of the buffers of running statistics.
_STATISTICS = "running_mean", "running_var", "num_batches_tracked"


class _Normalisation(Module):
    """Base of normalization layers with weights that start as 1 and biases that start as 0."""

    weight: Array | None
    bias: Array | None

    def _set(
        self, shape: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any
    ) -> None:
        optional(self, "weight", weight, shape, device, dtype)
        optional(self, "bias", bias, shape, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the parameters to their initial values."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Normalisation):
    """Apply :func:`browsergpu.nn.layer_norm` over the last axes.

    ``weight`` and ``bias`` have the shape ``normalized_shape``.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Extents of the last axes.
    eps : float
        Added to the variance.
    elementwise_affine : bool
        Whether to multiply by a learned weight.
    bias : bool
        Whether to add a learned bias. Needs ``elementwise_affine``.
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = "LayerNorm"
        self.normalized_shape = extents(op, "normalized_shape", normalized_shape)
        self.eps = checks.real(op, "eps", eps)
        self.elementwise_affine = checks.flag(op, "elementwise_affine", elementwise_affine)
        own = checks.flag(op, "bias", bias) and self.elementwise_affine
        self._set(self.normalized_shape, self.elementwise_affine, own, device, dtype)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        return normalization.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class RMSNorm(Module):
    """Apply :func:`browsergpu.nn.rms_norm` over the last axes.

    ``weight`` has the shape ``normalized_shape``: the extents of these axes, an integer or several.
    """

    weight: Array | None

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = "RMSNorm"
        self.normalized_shape = extents(op, "normalized_shape", normalized_shape)
        self.eps = None if eps is None else checks.real(op, "eps", eps)
        self.elementwise_affine = checks.flag(op, "elementwise_affine", elementwise_affine)
        optional(self, "weight", self.elementwise_affine, self.normalized_shape, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the parameters to their initial values."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        return normalization.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Normalisation):
    """Apply :func:`browsergpu.nn.group_norm` to [N, C, ...] in ``num_groups`` groups of channels.

    ``weight`` and ``bias`` have one number for each channel.
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        op = "GroupNorm"
        self.num_groups = checks.integer(op, "num_groups", num_groups, 1)
        self.num_channels = checks.integer(op, "num_channels", num_channels, 1)
        if num_channels % num_groups:
            raise InvalidArgument(op, "num_channels", num_channels, f"a multiple of {num_groups}")
        self.eps = checks.real(op, "eps", eps)
        self.affine = checks.flag(op, "affine", affine)
        has_bias = checks.flag(op, "bias", bias) and self.affine
        self._set((self.num_channels,), self.affine, has_bias, device, dtype)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        return normalization.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


def register_statistics(
    module: Module, shape: tuple[int, ...], are_tracked: bool, device: Any, dtype: Any
) -> None:
    """Register buffers for running statistics, or None if they are not tracked."""
    made: dict[str, Array | None] = dict.fromkeys(_STATISTICS)
    if are_tracked:
        made = {
            "running_mean": creation.zeros(shape, dtype=dtype, device=device),
            "running_var": creation.ones(shape, dtype=dtype, device=device),
            "num_batches_tracked": creation.zeros((), dtype="int32", device=device),
        }
    for name, x in made.items():
        module.register_buffer(name, x)


def reset_statistics(module: Any) -> None:
    """Set running statistics to mean 0 and variance 1, if there are any."""
    for name in _STATISTICS:
        x = getattr(module, name)
        if x is not None:
            (init.ones_ if name == "running_var" else init.zeros_)(x)


class _BatchNorm(_Normalisation):
    _ranks: ClassVar[tuple[int, ...]]
    running_mean: Array | None
    running_var: Array | None
    num_batches_tracked: Array | None

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        self.num_features = checks.integer(op, "num_features", num_features, 1)
        self.eps = checks.real(op, "eps", eps)
        self.momentum = checks.fraction(op, "momentum", momentum)
        self.affine = checks.flag(op, "affine", affine)
        self.track_running_stats = checks.flag(op, "track_running_stats", track_running_stats)
        shape = (self.num_features,)
        has_bias = checks.flag(op, "bias", bias) and self.affine
        self._set(shape, self.affine, has_bias, device, dtype)
        register_statistics(self, shape, self.track_running_stats, device, dtype)

    def reset_running_stats(self) -> None:
        """Reset the running statistics to mean 0 and variance 1."""
        reset_statistics(self)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        if input.ndim not in self._ranks:
            expected = f"have {' or '.join(map(str, self._ranks))} axes"
            raise InvalidArgument(type(self).__name__, "input", input, expected)
        found = normalization.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or self.running_mean is None, self.momentum, self.eps,
        )  # fmt: skip
        count: Any = self.num_batches_tracked
        if self.training and count is not None:
            count += 1
        return found

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Apply :func:`browsergpu.nn.batch_norm` to [N, C] or [N, C, L].

    In training, it uses the statistics of the batch, and moves the running statistics towards them
    by ``momentum``. Otherwise it uses the running statistics.
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Apply :func:`browsergpu.nn.batch_norm` to [N, C, H, W]. See :class:`BatchNorm1d`."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Apply :func:`browsergpu.nn.batch_norm` to [N, C, D, H, W]. See :class:`BatchNorm1d`."""

    _ranks = (5,)


class _InstanceNorm(_Normalisation):
    """Base of instance normalization.

    Without ``track_running_stats``, it always uses the statistics of the input.
    """

    _rank: ClassVar[int]
    running_mean: Array | None
    running_var: Array | None
    num_batches_tracked: Array | None

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        self.num_features = checks.integer(op, "num_features", num_features, 1)
        self.eps = checks.real(op, "eps", eps)
        self.momentum = checks.fraction(op, "momentum", momentum)
        self.affine = checks.flag(op, "affine", affine)
        self.track_running_stats = checks.flag(op, "track_running_stats", track_running_stats)
        shape = (self.num_features,)
        has_bias = checks.flag(op, "bias", bias) and self.affine
        self._set(shape, self.affine, has_bias, device, dtype)
        register_statistics(self, shape, self.track_running_stats, device, dtype)

    def reset_running_stats(self) -> None:
        """Reset the running statistics to mean 0 and variance 1."""
        reset_statistics(self)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape, [N, C, ...] or [C, ...]."""
        op, rank = type(self).__name__, self._rank
        if input.ndim not in (rank + 1, rank + 2):
            raise InvalidArgument(op, "input", input, f"have {rank + 1} or {rank + 2} axes")
        alone = input.ndim == rank + 1
        if input.shape[0 if alone else 1] != self.num_features:
            raise InvalidArgument(op, "input", input, f"have {self.num_features} channels")
        found = normalization.instance_norm(
            manipulation.expand_dims(input, axis=0) if alone else input,
            self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum, self.eps,
        )  # fmt: skip
        count: Any = self.num_batches_tracked
        if self.training and count is not None:
            count += 1
        return manipulation.squeeze(found, 0) if alone else found

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class InstanceNorm1d(_InstanceNorm):
    """Apply :func:`browsergpu.nn.instance_norm` to [N, C, L] or [C, L]."""

    _rank = 1


class InstanceNorm2d(_InstanceNorm):
    """Apply :func:`browsergpu.nn.instance_norm` to [N, C, H, W] or [C, H, W]."""

    _rank = 2


class InstanceNorm3d(_InstanceNorm):
    """Apply :func:`browsergpu.nn.instance_norm` to [N, C, D, H, W] or [C, D, H, W]."""

    _rank = 3


class LocalResponseNorm(Module):
    """Apply :func:`browsergpu.nn.local_response_norm` with these arguments."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        op = "LocalResponseNorm"
        self.size = checks.integer(op, "size", size, 1)
        self.alpha = checks.real(op, "alpha", alpha)
        self.beta = checks.real(op, "beta", beta)
        self.k = checks.real(op, "k", k)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        return normalization.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
