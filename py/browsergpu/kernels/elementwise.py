"""Unary and binary functions of contiguous elements, and filling with a constant."""

from __future__ import annotations

from struct import pack, unpack

from browsergpu.device.device import Device
from browsergpu.core.grids import blocks, cover, fold
from browsergpu.gpu.memory import Allocation

#: The codes of :func:`scalar` for an array with a number, and for a number with an array: of
#: floats, and of whole numbers.
SCALAR_OPS = {
    "add": (0, 0), "sub": (1, 4), "mul": (2, 2), "div": (3, 5), "integer_add": (6, 6),
    "integer_sub": (7, 9), "integer_mul": (8, 8),
}  # fmt: skip


def unary(device: Device, op: str, x: Allocation, y: Allocation, n: int) -> None:
    """y[i] = op(x[i]) for i < n; x and y may be the same buffer."""
    grid = cover(n, 4 * device.workgroup_sizes.elementwise)  # a vec4 a thread
    dispatch = device.recorder.dispatch
    if x is y:
        dispatch(device.pipeline("unary_in_place", op), *grid, y.id, n, 0)
    else:
        dispatch(device.pipeline("unary", op), *grid, x.id, y.id, n, 0)


def unary_halves(
    device: Device, op: str, x: Allocation, y: Allocation, n: int, halves: int
) -> None:
    """:func:`unary` where x, y or both are of float16: 1, 2 or 3."""
    grid = cover(n, 8 * device.workgroup_sizes.elementwise)
    dispatch = device.recorder.dispatch
    if x is y:
        dispatch(device.pipeline("unary_halves_in_place", op), *grid, y.id, n, halves)
    else:
        dispatch(device.pipeline("unary_halves", op), *grid, x.id, y.id, n, halves)


def scalar(
    device: Device, code: int, x: Allocation, number: int, y: Allocation, n: int, halves: int = 0
) -> None:
    """y[i] = x[i] op s or s op x[i] for i < n; x and y may be the same buffer.

    ``code`` is one of SCALAR_OPS, ``number`` the bits of s: of a float32, or of a whole number.
    x, y or both are of float16 where ``halves`` is 1, 2 or 3.
    """
    grid = cover(n, (8 if halves else 4) * device.workgroup_sizes.elementwise)
    dispatch = device.recorder.dispatch
    if x is y:
        dispatch(device.pipeline("scalar_in_place"), *grid, y.id, n, code, number, halves)
    else:
        dispatch(device.pipeline("scalar"), *grid, x.id, y.id, n, code, number, halves)


def binary(device: Device, op: str, a: Allocation, b: Allocation, y: Allocation, n: int) -> None:
    """y[i] = op(a[i], b[i]) for i < n; any of the three may be the same buffer."""
    grid = cover(n, 4 * device.workgroup_sizes.elementwise)  # a vec4 a thread
    dispatch = device.recorder.dispatch
    if y is a and y is b:
        dispatch(device.pipeline("binary_in_place_both", op), *grid, y.id, n)
    elif y is a:
        dispatch(device.pipeline("binary_in_place_a", op), *grid, b.id, y.id, n)
    elif y is b:
        dispatch(device.pipeline("binary_in_place_b", op), *grid, a.id, y.id, n)
    else:
        dispatch(device.pipeline("binary", op), *grid, a.id, b.id, y.id, n)


def fill(device: Device, y: Allocation, value: float, n: int) -> None:
    """y[i] = value for i < n, as float32; n may be 0."""
    (bits,) = unpack("<I", pack("<f", value))
    fill_words(device, y, bits, n)


def fill_words(device: Device, y: Allocation, bits: int, n: int) -> None:
    """The first n words of y become ``bits``; n may be 0."""
    if n > 0:
        grid = fold(blocks(n, 4 * device.workgroup_sizes.elementwise))
        device.recorder.dispatch(device.pipeline("fill"), *grid, y.id, n, bits)
