"""Discrete Fourier transforms along an axis, in float32.

Complex numbers are pairs: the real and imaginary parts are a last axis of length 2. The forward
transform has the factors exp(-2πi jk / n), the inverse one exp(2πi jk / n). Both are multiplied by
``scale``. n is any length from 1 to 2^27. Lengths without prime factors above 7 are fastest. Sums
with an infinity or NaN may be NaN.
"""

from __future__ import annotations

from math import prod

from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.fourier import fft
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View


def transform(
    device: Device, op: str, x: View, y: View, inverse: bool, scale: float, axis: int = -1
) -> None:
    """Transform x of shape [..., 2] along an axis, into y. y may be x.

    ``axis`` does not count the axis of pairs: -1 is the one before it.
    """
    if y.size:
        launch(device, op, _transform, (x, y), inverse, scale, axis % (len(y.shape) - 1))


def of_real(device: Device, op: str, x: View, y: View, scale: float) -> None:
    """Transform real x of shape [..., n] along the last axis into y of shape [..., n // 2 + 1, 2].

    The other half is the conjugate of y in reverse order. y may be x.
    """
    if y.size:
        launch(device, op, _of_real, (x, y), scale)


def to_real(device: Device, op: str, x: View, y: View, scale: float) -> None:
    """Inverse-transform x of shape [..., n // 2 + 1, 2] into real y of shape [..., n].

    x is the half that :func:`of_real` computes. The imaginary part of the first number is ignored,
    and for even n that of the last one. y may be x.
    """
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
