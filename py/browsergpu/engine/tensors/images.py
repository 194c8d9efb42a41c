"""Image filters.

Images are nonempty tensors of shape [H, W] or [H, W, 1 to 4]: floats in 0..1, or u8 that represent
these. Outputs may be inputs.
"""

from __future__ import annotations

from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.networks import images
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View


def point(device: Device, op: str, function: str, x: View, y: View, amount: float) -> None:
    """Apply a point operation: grayscale, threshold, brightness, contrast or invert."""
    launch(device, op, _point, (x, y), function, late=(amount,))


def stencil(device: Device, op: str, function: str, x: View, y: View, amount: float) -> None:
    """Apply a stencil: sharpen or sobel."""
    launch(device, op, _stencil, (x, y), function, late=(amount,))


def gaussian_blur(device: Device, op: str, x: View, y: View, sigma: float) -> None:
    """Blur with a Gaussian of ``sigma`` pixels, cut off at radius ceil(3 sigma)."""
    launch(device, op, _gaussian_blur, (x, y), sigma)


def _extents(x: Operand) -> tuple[int, int, int]:
    height, width, channels = (*x.shape, 1)[:3]
    return height, width, channels


@of_operands
def _point(build: Build, x: Operand, y: Operand, function: str) -> None:
    height, width, channels = _extents(x)
    staging = Staging(build, images=True)
    target = staging.write(y, x)
    images.point(build, staging.read(x), target, function, height * width, channels)
    staging.deliver()


@of_operands
def _stencil(build: Build, x: Operand, y: Operand, function: str) -> None:
    staging = Staging(build, images=True)
    target = staging.write(y, x)
    images.stencil(build, staging.read(x), target, function, *_extents(x))
    staging.deliver()


@of_operands
def _gaussian_blur(build: Build, x: Operand, y: Operand, sigma: float) -> None:
    staging = Staging(build, images=True)
    target = staging.write(y, x)
    images.gaussian_blur(build, staging.read(x), target, *_extents(x), sigma)
    staging.deliver()
