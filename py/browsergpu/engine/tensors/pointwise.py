"""Elementwise functions of tensors, and functions that copy, fill and permute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.element_types import FLOAT32, TYPES
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.elements.cast import cast
from browsergpu.engine.kernels.elements.fill import fill_words
from browsergpu.engine.kernels.elements.strided import gather
from browsergpu.engine.kernels.fused.elementwise import compute
from browsergpu.engine.kernels.fused.trace_builder import TraceBuilder
from browsergpu.engine.tensors.staging import (
    Operand,
    Staging,
    launch,
    of_operands,
    of_views,
    packed,
)
from browsergpu.engine.tensors.view import View

#: The element types of tensors.
KINDS = {kind.dtype: kind for kind in TYPES if kind.dtype is not None}
#: Generated operations that have other names than the functions of the interfaces.
_OPERATIONS = {
    "neg": "negative", "gelu": "gelu_tanh", "gelu_erf": "gelu",
    "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum",
}  # fmt: skip


def unary(device: Device, op: str, function: str, x: View, y: View) -> None:
    """Write f(x) to y, for floats of the same number, which is not 0. y may be x."""
    launch(device, op, _unary, (x, y), function, _is_part(y))


def with_number(device: Device, op: str, x: View, number: int, y: View, *, reverse: bool) -> None:
    """Write x op s to y, or s op x if ``reverse``. y may be x, and has as many elements, not 0.

    All are floats or all are integers. ``number`` is s as a word: the bits of a float32, or an
    integer.
    """
    launch(
        device,
        op,
        _with_number,
        (x, y),
        op,
        reverse,
        is_part(y.buffer, y.dtype, y.size),
        late=(number,),
    )


def binary(device: Device, op: str, function: str, a: View, b: View, y: View) -> None:
    """Write f(a, b), broadcast to the shape of y, to nonempty y. y may be a or b.

    All are floats, or all are the same integers.
    """
    launch(device, op, _binary, (a, b, y), function, _is_part(y))


def _is_part(y: View) -> bool:
    return is_part(y.buffer, y.dtype, y.size)


def is_part(buffer: Allocation, dtype: DType, n: int) -> bool:
    """Return whether writing groups of four would change memory behind the first n elements."""
    return n % 4 != 0 and buffer.nbytes > -(-dtype.device_bytes(n) // 4) * 4


def assign(device: Device, op: str, x: View, y: View) -> None:
    """Copy x to y, which has as many elements, cast to the dtype of y. y may be x."""
    if x.size and not (x.buffer is y.buffer and x.kind == y.kind):
        launch(device, op, _assign, (x, y))


def fill(device: Device, y: View, word: int) -> None:
    """Fill the memory of y with copies of a word."""
    if y.size:
        launch(device, "fill", _fill, (y,), late=(word,))


def permute(device: Device, op: str, x: View, order: tuple[int, ...], y: View) -> None:
    """Copy nonempty x to y, with the axes in another order. y may be x."""
    launch(device, op, _permute, (x, y), op, order)


@of_views
def _unary(build: Build, x: Operand, y: Operand, function: str, in_part: bool) -> None:
    _apply(build, function, (x,), y, in_part)


@of_views
def _binary(build: Build, a: Operand, b: Operand, y: Operand, function: str, in_part: bool) -> None:
    _apply(build, function, (a, b), y, in_part)


def unary_floats(build: Build, x: Slot, y: Slot, function: str, n: int, in_part: bool) -> None:
    """Add f(x) of the first n float32 of a buffer. y may be x."""
    _apply(build, function, (_floats(x, n),), _floats(y, n), in_part)


def binary_floats(
    build: Build, a: Slot, b: Slot, y: Slot, function: str, n: int, in_part: bool
) -> None:
    """Add f(a, b) of the first n float32 of two buffers. y may be a or b."""
    _apply(build, function, (_floats(a, n), _floats(b, n)), _floats(y, n), in_part)


def _floats(slot: Slot, n: int) -> Operand:
    return Operand(slot, DType.F32, (n,))


def _apply(
    build: Build, function: str, operands: Iterable[Operand], y: Operand, in_part: bool
) -> None:
    trace = _Trace()
    trace.call(function, *map(trace.read, operands))
    trace.compute(build, y, in_part=in_part)


@of_views
def _with_number(
    build: Build, x: Operand, y: Operand, op: str, reverse: bool, in_part: bool
) -> None:
    trace = _Trace()
    at = trace.read(x)
    number = trace.number(trace.kinds[at])
    trace.call(op, *((number, at) if reverse else (at, number)))
    trace.compute(build, y, in_part=in_part, open=True)


class _Trace(TraceBuilder):
    """A trace of operations on operands. Floats are computed as float32."""

    def __init__(self) -> None:
        super().__init__()
        self._read: list[Operand] = []
        self._places: dict[Operand, int] = {}

    def read(self, x: Operand) -> int:
        """Append an operand's elements if they are not in the trace yet. Return their position."""
        if x not in self._places:
            self._read.append(x)
            at = self.array(KINDS[x.dtype])
            self._places[x] = self.cast(at, FLOAT32) if x.dtype.is_float else at
        return self._places[x]

    def call(self, function: str, *places: int) -> None:
        """Append a function by the name that the interfaces use."""
        self.apply(_OPERATIONS.get(function, function), *places)

    @staticmethod
    def _copied(build: Build, x: Operand) -> Operand:
        nbytes = x.dtype.device_bytes(x.size)
        slot = build.temporary(nbytes)
        build.copy(x.slot, slot, nbytes)
        return replace(x, slot=slot)

    def compute(
        self, build: Build, y: Operand, *, in_part: bool = False, open: bool = False
    ) -> None:
        """Write the last entry's value to y, which may be one of the operands.

        With ``in_part``, memory after y is unchanged.
        """
        self.cast(len(self.code) - 1, KINDS[y.dtype])
        staging = Staging(build)
        is_in_place = all(x.slot != y.slot or _is_same(x, y) for x in self._read)
        target = y.slot if is_in_place else staging.write(y, *self._read, dtype=y.dtype)
        in_part = in_part and target == y.slot
        read = self._read
        if in_part and y.dtype.device_bytes(1) < 4:  # the kernel cannot read its atomic words
            read = [self._copied(build, x) if x.slot == y.slot else x for x in read]
        arrays = [(x.slot, (x.shape, x.strides, x.offset)) for x in read]
        compute(build, self.code, arrays, target, y.shape, in_part=in_part, open=open)
        staging.deliver()


def _is_same(x: Operand, y: Operand) -> bool:
    """Return whether an operand has the layout of the result in memory."""
    is_packed = x.strides is None and x.offset == 0
    return is_packed and x.dtype is y.dtype and x.size == y.size


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
    fill_words(build, y.slot, -(-y.dtype.device_bytes(y.size) // 4))


@of_views
def _permute(build: Build, x: Operand, y: Operand, op: str, order: Shape) -> None:
    # The kernels copy words. Smaller elements become float32, which represents them exactly.
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
