"""Convolutions and transposed convolutions."""

from __future__ import annotations

from typing import Any, ClassVar

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import integer
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions.nn import convolution, padding
from browsergpu.networks.layers.making import begin, optional, parameter
from browsergpu.networks.module import Module

_MODES = ("zeros", "reflect", "replicate", "circular")


class _Convolution(Module):
    """Base of all convolutions. ``weight`` has the layout of the function of the same name."""

    _rank: ClassVar[int]
    _is_transposed: ClassVar[bool] = False
    weight: Array
    bias: Array | None

    def _set(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, groups: int, bias: bool, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        op, rank = type(self).__name__, self._rank
        self.in_channels = integer(op, "in_channels", in_channels, 1)
        self.out_channels = integer(op, "out_channels", out_channels, 1)
        self.groups = integer(op, "groups", groups, 1)
        for name, count in (("in_channels", in_channels), ("out_channels", out_channels)):
            if count % groups:
                raise InvalidArgument(op, name, count, f"a multiple of groups, {groups}")
        self.kernel_size = checks.each_axis(op, "kernel_size", kernel_size, rank, 1)
        self.stride = checks.each_axis(op, "stride", stride, rank, 1)
        self.padding: Any = padding
        if not isinstance(padding, str):
            self.padding = checks.each_axis(op, "padding", padding, rank, 0)
        self.dilation = checks.each_axis(op, "dilation", dilation, rank, 1)
        first, second = self.out_channels, self.in_channels
        if self._is_transposed:
            first, second = second, first
        shape = first, second // self.groups, *self.kernel_size
        self.weight = parameter(shape, device, dtype)
        optional(self, "bias", bias, (self.out_channels,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias from the uniform distribution on ±1 / √(elements of a filter)."""
        begin(self.weight, self.bias)

    def _said(self) -> list[str]:
        """Return the arguments for the repr, leaving out most defaults."""
        said = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        said.append(f"stride={self.stride}")
        if self.padding != (0,) * self._rank:
            said.append(f"padding={self.padding}")
        if self.dilation != (1,) * self._rank:
            said.append(f"dilation={self.dilation}")
        if self.groups != 1:
            said.append(f"groups={self.groups}")
        if self.bias is None:
            said.append("bias=False")
        return said

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return ", ".join(self._said())


class _Forward(_Convolution):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        if padding_mode not in _MODES:
            raise InvalidArgument(op, "padding_mode", padding_mode, f"one of {', '.join(_MODES)}")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise InvalidArgument(op, "padding", padding, "integers, 'valid' or 'same'")
        self.padding_mode = padding_mode
        self._set(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            device, dtype,
        )  # fmt: skip

    def forward(self, input: Array) -> Array:
        """Return the convolution, [N, out_channels, ...]."""
        function = getattr(convolution, f"conv{self._rank}d")
        around = self.padding
        if self.padding_mode != "zeros" and around != "valid":
            input, around = padding.pad(input, self._pairs(), mode=self.padding_mode), 0
        return function(  # type: ignore[no-any-return]
            input, self.weight, self.bias, self.stride, around, self.dilation, self.groups
        )

    def _pairs(self) -> list[int]:
        """Return the padding for ``pad``: before and after, for the last axis first."""
        if self.padding != "same":
            return [n for one in reversed(self.padding) for n in (one, one)]
        extents = zip(reversed(self.dilation), reversed(self.kernel_size), strict=True)
        sums = [step * (extent - 1) for step, extent in extents]
        return [n for total in sums for n in (total // 2, total - total // 2)]

    def _said(self) -> list[str]:
        mode = self.padding_mode
        return super()._said() + ([] if mode == "zeros" else [f"padding_mode={mode}"])


class Conv1d(_Forward):
    """Apply :func:`browsergpu.nn.conv1d` to [N, C, L] or [C, L].

    ``weight`` is [out_channels, in_channels / groups, K]. ``padding_mode`` is as in
    :class:`Conv2d`.
    """

    _rank = 1


class Conv2d(_Forward):
    """Apply :func:`browsergpu.nn.conv2d` to [N, C, H, W] or [C, H, W].

    ``weight`` is [out_channels, in_channels / groups, R, S].

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of channels, multiples of ``groups``.
    kernel_size, stride, dilation : int or tuple
        One number for all axes, or one for each.
    padding : int, tuple or str
        Elements of padding, or "valid" or "same".
    groups : int
        Number of groups of channels that are convolved separately.
    bias : bool
        Whether to add a learned bias.
    padding_mode : str
        Values of the padding: "zeros", "reflect", "replicate" or "circular".
    """

    _rank = 2


class Conv3d(_Forward):
    """Apply :func:`browsergpu.nn.conv3d` to [N, C, D, H, W] or [C, D, H, W].

    ``weight`` is [out_channels, in_channels / groups, T, R, S]. ``padding_mode`` is as in
    :class:`Conv2d`.
    """

    _rank = 3


class _Transposed(_Convolution):
    _is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, bias: bool = True,
        dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        if padding_mode != "zeros":
            raise InvalidArgument(op, "padding_mode", padding_mode, "'zeros'")
        self.output_padding = checks.each_axis(op, "output_padding", output_padding, self._rank, 0)
        self._set(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            device, dtype,
        )  # fmt: skip

    def forward(self, input: Array) -> Array:
        """Return the transposed convolution, [N, out_channels, ...]."""
        function = getattr(convolution, f"conv_transpose{self._rank}d")
        return function(  # type: ignore[no-any-return]
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding,
            self.groups, self.dilation,
        )  # fmt: skip

    def _said(self) -> list[str]:
        said = super()._said()
        if any(self.output_padding):
            said.append(f"output_padding={self.output_padding}")
        return said


class ConvTranspose1d(_Transposed):
    """Apply :func:`browsergpu.nn.conv_transpose1d` to [N, C, L] or [C, L].

    ``weight`` is [in_channels, out_channels / groups, K].
    """

    _rank = 1


class ConvTranspose2d(_Transposed):
    """Apply :func:`browsergpu.nn.conv_transpose2d` to [N, C, H, W] or [C, H, W].

    ``weight`` is [in_channels, out_channels / groups, R, S].
    """

    _rank = 2


class ConvTranspose3d(_Transposed):
    """Apply :func:`browsergpu.nn.conv_transpose3d` to [N, C, D, H, W] or [C, D, H, W].

    ``weight`` is [in_channels, out_channels / groups, T, R, S].
    """

    _rank = 3
