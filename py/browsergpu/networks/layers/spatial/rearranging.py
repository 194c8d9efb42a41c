"""Layers that exchange pixels and channels, resize, and split images into patches."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.functions.nn.spatial import patches, resampling, shuffling
from browsergpu.networks.module import Module


class PixelShuffle(Module):
    """Apply :func:`browsergpu.nn.pixel_shuffle`."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = checks.integer("PixelShuffle", "upscale_factor", upscale_factor, 1)

    def forward(self, input: Array) -> Array:
        """Return an array of shape [..., C, H r, W r] from [..., C r², H, W]."""
        return shuffling.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Apply :func:`browsergpu.nn.pixel_unshuffle`."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        op = "PixelUnshuffle"
        self.downscale_factor = checks.integer(op, "downscale_factor", downscale_factor, 1)

    def forward(self, input: Array) -> Array:
        """Return an array of shape [..., C r², H, W] from [..., C, H r, W r]."""
        return shuffling.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Apply :func:`browsergpu.nn.channel_shuffle`."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = checks.integer("ChannelShuffle", "groups", groups, 1)

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        return shuffling.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"groups={self.groups}"


class Upsample(Module):
    """Apply :func:`browsergpu.nn.interpolate` with these arguments."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
        align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Array) -> Array:
        """Return an array [N, C, ...] with the new extents."""
        return resampling.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Apply :func:`browsergpu.nn.interpolate` in mode "nearest"."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Apply :func:`browsergpu.nn.interpolate` in mode "bilinear" with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


class Unfold(Module):
    """Apply :func:`browsergpu.nn.unfold` with these arguments."""

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Array) -> Array:
        """Return patches [N, C × kernel, patches] of images [N, C, H, W]."""
        return patches.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Module):
    """Apply :func:`browsergpu.nn.fold` with these arguments."""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
        stride: Any = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Array) -> Array:
        """Return images [N, C, H, W] of patches [N, C × kernel, patches]."""
        return patches.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )
