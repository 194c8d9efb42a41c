"""Discrete Fourier transforms along an axis, of complex numbers as pairs: the real and the
imaginary part are one more axis, of extent 2, behind all others.

Sums have exp(-2πi jk / n), inverse ones exp(2πi jk / n), and are multiplied by ``scale``. They are
computed in float32; n is any length from 1 to 2^27, quickest with no prime factor above 7. What an
infinity or NaN is summed into may be NaN.
"""

from __future__ import annotations

from math import prod

from browsergpu.device.device import Device
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.fourier import fft
from browsergpu.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.tensors.view import View


def transform(
    device: Device, op: str, x: View, y: View, inverse: bool, scale: float, axis: int = -1
) -> None:
    """y = the transform of x along an axis, both of [..., 2]; y may be x. The axis is one of those
    before the pairs' own: -1 is the last of them."""
    if y.size:
        launch(device, op, _transform, (x, y), inverse, scale, axis % (len(y.shape) - 1))


def of_real(device: Device, op: str, x: View, y: View, scale: float) -> None:
    """y, of [..., n // 2 + 1, 2], = the first numbers of the transform of x along its last axis, of
    [..., n]: the others are their conjugates, from the last one back. y may be x."""
    if y.size:
        launch(device, op, _of_real, (x, y), scale)


def to_real(device: Device, op: str, x: View, y: View, scale: float) -> None:
    """y, of [..., n], = the inverse transform of what begins with x, of [..., n // 2 + 1, 2], and
    goes on as :func:`of_real` leaves out, so that it is real. The imaginary part of x's first
    number does not count, nor does that of the last one where n is even. y may be x."""
    if y.size:
        launch(device, op, _to_real, (x, y), scale)


@of_operands
def _transform(
    build: Build, x: Operand, y: Operand, inverse: bool, scale: float, axis: int
) -> None:
    staging = Staging(build)
    extents = prod(y.shape[:axis]), y.shape[axis], prod(y.shape[axis + 1 : -1])
    source, result = staging.read(x), staging.write(y, x)
    fft.transform(build, source, result, extents, inverse=inverse, scale=scale)
    staging.deliver()


@of_operands
def _of_real(build: Build, x: Operand, y: Operand, scale: float) -> None:
    staging = Staging(build)
    n = x.shape[-1]
    source, result = staging.read(x), staging.write(y, x)
    fft.of_real(build, source, result, x.size // n, n, scale=scale)
    staging.deliver()


@of_operands
def _to_real(build: Build, x: Operand, y: Operand, scale: float) -> None:
    staging = Staging(build)
    n = y.shape[-1]
    source, result = staging.read(x), staging.write(y, x)
    fft.to_real(build, source, result, y.size // n, n, scale=scale)
    staging.deliver()
