"""Pooling layers."""

from __future__ import annotations

from typing import Any, ClassVar

from browsergpu.arrays.array import Array
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument
from browsergpu.functions import manipulation
from browsergpu.functions.nn import pooling
from browsergpu.networks.layers.settings import each_axis
from browsergpu.networks.module import Module


class _Pool(Module):
    _rank: ClassVar[int]

    def _set(self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool) -> None:
        op = type(self).__name__
        each_axis(op, "kernel_size", kernel_size, self._rank, 1)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        each_axis(op, "stride", self.stride, self._rank, 1)
        each_axis(op, "padding", padding, self._rank, 0)
        self.padding = padding
        self.ceil_mode = checks.flag(op, "ceil_mode", ceil_mode)


class _MaxPool(_Pool):
    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set(kernel_size, stride, padding, ceil_mode)
        each_axis(type(self).__name__, "dilation", dilation, self._rank, 1)
        self.dilation = dilation

    def forward(self, input: Array) -> Array:
        """Return the maximum of each window, [N, C, ...]."""
        function = getattr(pooling, f"max_pool{self._rank}d")
        return function(  # type: ignore[no-any-return]
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode
        )

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """Apply :func:`browsergpu.nn.max_pool1d`."""

    _rank = 1


class MaxPool2d(_MaxPool):
    """Apply :func:`browsergpu.nn.max_pool2d`."""

    _rank = 2


class MaxPool3d(_MaxPool):
    """Apply :func:`browsergpu.nn.max_pool3d`."""

    _rank = 3


class _AvgPool(_Pool):
    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set(kernel_size, stride, padding, ceil_mode)
        op = type(self).__name__
        self.count_include_pad = checks.flag(op, "count_include_pad", count_include_pad)

    def forward(self, input: Array) -> Array:
        """Return the mean of each window, [N, C, ...]."""
        function = getattr(pooling, f"avg_pool{self._rank}d")
        return function(  # type: ignore[no-any-return]
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """Apply :func:`browsergpu.nn.avg_pool1d`."""

    _rank = 1


class AvgPool2d(_AvgPool):
    """Apply :func:`browsergpu.nn.avg_pool2d`."""

    _rank = 2


class AvgPool3d(_AvgPool):
    """Apply :func:`browsergpu.nn.avg_pool3d`."""

    _rank = 3


class AdaptiveAvgPool1d(Module):
    """Compute the means of ``output_size`` windows of [N, C, L] or [C, L].

    Windows are those of :func:`browsergpu.nn.adaptive_avg_pool2d` along one axis.
    """

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = checks.integer("AdaptiveAvgPool1d", "output_size", output_size, 1)

    def forward(self, input: Array) -> Array:
        """Return an array of shape [N, C, output_size]."""
        if input.ndim not in (2, 3):
            raise InvalidArgument(
                "AdaptiveAvgPool1d", "input", input, "have shape [N, C, L] or [C, L]"
            )
        pictures = manipulation.expand_dims(input, axis=-2)
        found = pooling.adaptive_avg_pool2d(pictures, (1, self.output_size))
        return manipulation.squeeze(found, -2)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool2d(Module):
    """Apply :func:`browsergpu.nn.adaptive_avg_pool2d`."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Array) -> Array:
        """Return an array [N, C, ...] whose last axes have ``output_size``."""
        return pooling.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"output_size={self.output_size}"
