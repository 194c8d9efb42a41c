"""Functions of tensors, element by element: of float32 and float16 alike, in one dispatch."""

from __future__ import annotations

from browsergpu.device.device import Device
from browsergpu.core.dtypes import DType
from browsergpu.kernels import elementwise
from browsergpu.kernels import integers
from browsergpu.kernels.broadcast import broadcast, mixed, takes_mixed
from browsergpu.array.staging import Staging, Tensor


def _halves(x: Tensor, y: Tensor) -> int:
    """The kernels' bits: 1 where x is of float16, 2 where y is."""
    return (x.dtype is DType.F16) + 2 * (y.dtype is DType.F16)


def unary(device: Device, function: str, x: Tensor, y: Tensor) -> None:
    """y = f(x) of as many floats, of which there are some; y may be x."""
    halves = _halves(x, y)
    if halves:
        elementwise.unary_halves(device, function, x.buffer, y.buffer, x.size, halves)
    else:
        elementwise.unary(device, function, x.buffer, y.buffer, x.size)


def with_number(
    device: Device, op: str, x: Tensor, number: int, y: Tensor, *, reverse: bool
) -> None:
    """y = x op s, or s op x where ``reverse``, of as many elements, of which there are some; y may
    be x. x and y are floats, ``number`` the bits of s as float32; or all are whole numbers."""
    if x.dtype.is_float:
        code = elementwise.SCALAR_OPS[op][reverse]
        elementwise.scalar(device, code, x.buffer, number, y.buffer, x.size, _halves(x, y))
        return
    code, kind = elementwise.SCALAR_OPS[f"integer_{op}"][reverse], x.dtype.computed_as
    with Staging(device, op) as staging:
        source, target = staging.read(x, kind), staging.write(y, dtype=kind)
        elementwise.scalar(device, code, source, number, target, x.size, 0)


def binary(device: Device, op: str, function: str, a: Tensor, b: Tensor, y: Tensor) -> None:
    """y = a f b in the name of ``op``, broadcast to y's shape, which has elements; y may be a or b.
    All are floats, or all of the same whole numbers."""
    n = y.size
    same = a.size == n == b.size
    if not a.dtype.is_float:
        kind = a.dtype.computed_as
        with Staging(device, op) as staging:
            left, right = staging.read(a, kind), staging.read(b, kind)
            z = staging.write(y, a, b, dtype=kind)
            if same:
                integers.binary(device, function, left, right, z, n)
            else:
                name = f"integer_{function}"
                broadcast(device, name, left, a.shape, right, b.shape, z, y.shape, n)
    elif a.dtype is b.dtype is y.dtype is DType.F32:
        if same:  # these kernels work in place
            elementwise.binary(device, function, a.buffer, b.buffer, y.buffer, n)
            return
        with Staging(device, op) as staging:
            z = staging.write(y, a, b)
            broadcast(device, function, a.buffer, a.shape, b.buffer, b.shape, z, y.shape, n)
    else:
        _mixed(device, op, function, a, b, y)


def _mixed(device: Device, op: str, function: str, a: Tensor, b: Tensor, y: Tensor) -> None:
    with Staging(device, op) as staging:
        if not takes_mixed(a.shape, b.shape, y.shape):  # in float32, which can be spread first
            left, right = staging.read(a), staging.read(b)
            z = staging.write(y, a, b)
            broadcast(device, function, left, a.shape, right, b.shape, z, y.shape, y.size)
            return
        same = a.size == y.size == b.size
        in_place = same and (a.buffer is y.buffer) != (b.buffer is y.buffer)
        z = y.buffer if in_place else staging.write(y, a, b, dtype=y.dtype)
        mixed(
            device, function, a.buffer, a.dtype, a.shape, b.buffer, b.dtype, b.shape, z, y.dtype,
            y.shape, y.size,
        )  # fmt: skip
