"""Functions of tensors, element by element, and what moves elements."""

from __future__ import annotations

from browsergpu.core.dtypes import DType
from browsergpu.core.shapes import Shape
from browsergpu.device.device import Device
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.elements import elementwise, integers
from browsergpu.kernels.elements.broadcast import broadcast, mixed, takes_mixed
from browsergpu.kernels.elements.cast import cast
from browsergpu.kernels.elements.strided import gather
from browsergpu.tensors.staging import Operand, Staging, launch, of_operands, of_views, packed
from browsergpu.tensors.view import View


def unary(device: Device, function: str, x: View, y: View) -> None:
    """y = f(x) of as many floats, of which there are some; y may be x."""
    launch(device, function, _unary, (x, y), function)


def with_number(device: Device, op: str, x: View, number: int, y: View, *, reverse: bool) -> None:
    """y = x op s, or s op x where ``reverse``, of as many elements, of which there are some; y may
    be x. x and y are floats, ``number`` the bits of s as float32; or all are whole numbers."""
    launch(device, op, _with_number, (x, y), op, reverse, late=(number,))


def binary(device: Device, op: str, function: str, a: View, b: View, y: View) -> None:
    """y = a f b in the name of ``op``, broadcast to y's shape, which has elements; y may be a or b.
    All are floats, or all of the same whole numbers."""
    launch(device, op, _binary, (a, b, y), function)


def assign(device: Device, op: str, x: View, y: View) -> None:
    """y = x of as many elements, cast to y's dtype; y may be x."""
    if x.size and not (x.buffer is y.buffer and x.kind == y.kind):
        launch(device, op, _assign, (x, y))


def fill(device: Device, y: View, word: int) -> None:
    """All of y's memory becomes copies of a word."""
    if y.size:
        launch(device, "fill", _fill, (y,), late=(word,))


def permute(device: Device, op: str, x: View, order: tuple[int, ...], y: View) -> None:
    """y = x, which has elements, with its axes in another order; y may be x."""
    launch(device, op, _permute, (x, y), op, order)


def _halves(x: Operand, y: Operand) -> int:
    """The kernels' bits: 1 where x is of float16, 2 where y is."""
    return (x.dtype is DType.F16) + 2 * (y.dtype is DType.F16)


@of_operands
def _unary(build: Build, x: Operand, y: Operand, function: str) -> None:
    halves = _halves(x, y)
    if halves:
        elementwise.unary_halves(build, x.slot, y.slot, function, x.size, halves)
    else:
        elementwise.unary(build, x.slot, y.slot, function, x.size)


@of_operands
def _with_number(build: Build, x: Operand, y: Operand, op: str, reverse: bool) -> None:
    if x.dtype.is_float:
        code = elementwise.SCALAR_OPS[op][reverse]
        elementwise.scalar(build, x.slot, y.slot, code, x.size, _halves(x, y))
        return
    code, kind = elementwise.SCALAR_OPS[f"integer_{op}"][reverse], x.dtype.computed_as
    staging = Staging(build)
    elementwise.scalar(build, staging.read(x, kind), staging.write(y, dtype=kind), code, x.size)
    staging.deliver()


@of_views
def _binary(build: Build, a: Operand, b: Operand, y: Operand, function: str) -> None:
    n = y.size
    # The kernels read float32 with strides, but from the buffer's beginning on.
    as_it_is = a.dtype is b.dtype is y.dtype is DType.F32
    a, b = (x if as_it_is and x.offset == 0 else packed(build, x) for x in (a, b))
    a_steps, b_steps = a.steps_in(y.shape), b.steps_in(y.shape)
    same = a.size == n == b.size and a.strides is None and b.strides is None
    staging = Staging(build)
    if not a.dtype.is_float:
        kind = a.dtype.computed_as
        left, right = staging.read(a, kind), staging.read(b, kind)
        z = staging.write(y, a, b, dtype=kind)
        if same:
            integers.binary(build, left, right, z, function, n)
        else:
            name = f"integer_{function}"
            broadcast(build, name, left, a_steps, right, b_steps, z, y.shape, n)
    elif a.dtype is b.dtype is y.dtype is DType.F32:
        if same:  # these kernels work in place
            elementwise.binary(build, a.slot, b.slot, y.slot, function, n)
        else:
            z = staging.write(y, a, b)
            broadcast(build, function, a.slot, a_steps, b.slot, b_steps, z, y.shape, n)
    elif not takes_mixed(a_steps, b_steps, y.shape):  # in float32, which can be spread first
        left, right = staging.read(a), staging.read(b)
        z = staging.write(y, a, b)
        broadcast(build, function, left, a_steps, right, b_steps, z, y.shape, n)
    else:
        in_place = same and (a.slot == y.slot) != (b.slot == y.slot)
        z = y.slot if in_place else staging.write(y, a, b, dtype=y.dtype)
        mixed(
            build, function, a.slot, a.dtype, a_steps, b.slot, b.dtype, b_steps, z, y.dtype,
            y.shape, n,
        )  # fmt: skip
    staging.deliver()


@of_operands
def _assign(build: Build, x: Operand, y: Operand) -> None:
    if x.dtype is y.dtype:
        build.copy(x.slot, y.slot, x.dtype.device_bytes(x.size))
        return
    staging = Staging(build)
    target = staging.write(y, x, dtype=y.dtype)
    cast(build, x.slot, target, x.dtype, y.dtype, x.size)
    staging.deliver()


@of_operands
def _fill(build: Build, y: Operand) -> None:
    elementwise.fill_words(build, y.slot, -(-y.dtype.device_bytes(y.size) // 4))


@of_views
def _permute(build: Build, x: Operand, y: Operand, op: str, order: Shape) -> None:
    # The kernels move words: smaller elements travel as float32, which holds them exactly.
    kind = x.dtype
    if kind.device_bytes(1) != 4:
        kind, x = DType.F32, packed(build, x)
    staging = Staging(build)
    target = staging.write(y, x, dtype=kind)
    steps = x.steps_in(x.shape)
    gather(
        build, op, staging.read(x, kind), tuple(steps[i] for i in order), target,
        tuple(x.shape[i] for i in order), x.offset,
    )  # fmt: skip
    staging.deliver()
