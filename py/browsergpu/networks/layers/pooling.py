"""Pooling layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions.nn import pooling
from browsergpu.functions.nn.spatial import adaptive_pooling
from browsergpu.networks.module import Module


class _Pool(Module):
    _rank: ClassVar[int]

    def _set(self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool) -> None:
        op = type(self).__name__
        checks.each_axis(op, "kernel_size", kernel_size, self._rank, 1)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        checks.each_axis(op, "stride", self.stride, self._rank, 1)
        checks.each_axis(op, "padding", padding, self._rank, 0)
        self.padding = padding
        self.ceil_mode = checks.flag(op, "ceil_mode", ceil_mode)


class _MaxPool(_Pool):
    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set(kernel_size, stride, padding, ceil_mode)
        op = type(self).__name__
        checks.each_axis(op, "dilation", dilation, self._rank, 1)
        self.dilation = dilation
        self.return_indices = checks.flag(op, "return_indices", return_indices)
        if self.return_indices and self._rank == 3:
            raise InvalidArgument(op, "return_indices", return_indices, "False")

    def forward(self, input: Array) -> Any:
        """Return the maximum of each window, [N, C, ...], and its index if requested."""
        function = getattr(pooling, f"max_pool{self._rank}d")
        more = {"return_indices": True} if self.return_indices else {}
        return function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            **more,
        )  # fmt: skip

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


class _Adaptive(Module):
    _function: Callable[..., Any]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Array) -> Array:
        """Return an array [N, C, ...] whose last axes have ``output_size``."""
        return self._function(input, self.output_size)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Apply :func:`browsergpu.nn.adaptive_avg_pool1d`."""

    _function = staticmethod(adaptive_pooling.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_Adaptive):
    """Apply :func:`browsergpu.nn.adaptive_avg_pool2d`."""

    _function = staticmethod(pooling.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_Adaptive):
    """Apply :func:`browsergpu.nn.adaptive_avg_pool3d`."""

    _function = staticmethod(adaptive_pooling.adaptive_avg_pool3d)


class _AdaptiveMax(Module):
    _function: Callable[..., Any]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = checks.flag(type(self).__name__, "return_indices", return_indices)

    def forward(self, input: Array) -> Any:
        """Return an array [N, C, ...] whose last axes have ``output_size``."""
        return self._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Apply :func:`browsergpu.nn.adaptive_max_pool1d`."""

    _function = staticmethod(adaptive_pooling.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Apply :func:`browsergpu.nn.adaptive_max_pool2d`."""

    _function = staticmethod(adaptive_pooling.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Apply :func:`browsergpu.nn.adaptive_max_pool3d`."""

    _function = staticmethod(adaptive_pooling.adaptive_max_pool3d)


class _Unpool(Module):
    _function: Callable[..., Array]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, input: Array, indices: Array, output_size: Any = None) -> Array:
        """Return an array with the elements of the input at the indices, and zeros elsewhere."""
        return self._function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_Unpool):
    """Apply :func:`browsergpu.nn.max_unpool1d`."""

    _function = staticmethod(adaptive_pooling.max_unpool1d)


class MaxUnpool2d(_Unpool):
    """Apply :func:`browsergpu.nn.max_unpool2d`."""

    _function = staticmethod(adaptive_pooling.max_unpool2d)


class _NormPool(Module):
    _function: Callable[..., Array]

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        op = type(self).__name__
        self.norm_type = checks.real(op, "norm_type", norm_type)
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = checks.flag(op, "ceil_mode", ceil_mode)

    def forward(self, input: Array) -> Array:
        """Return the norm of each window, [N, C, ...]."""
        return self._function(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_NormPool):
    """Apply :func:`browsergpu.nn.lp_pool1d`."""

    _function = staticmethod(adaptive_pooling.lp_pool1d)


class LPPool2d(_NormPool):
    """Apply :func:`browsergpu.nn.lp_pool2d`."""

    _function = staticmethod(adaptive_pooling.lp_pool2d)
