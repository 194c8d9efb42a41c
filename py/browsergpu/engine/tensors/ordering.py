"""Sorting along an axis, indices of extremes, and binary search.

NaN are equal to each other and larger than all other values, as NumPy sorts them. Zeros of both
signs are equal. For extremes, NaN is more extreme than all other values.
"""

from __future__ import annotations

from math import prod

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.elements.strided import gather
from browsergpu.engine.kernels.ordering import arg_reduce as arg_kernels
from browsergpu.engine.kernels.ordering import search
from browsergpu.engine.kernels.ordering import sort as kernels
from browsergpu.engine.tensors.staging import (
    Operand,
    Staging,
    launch,
    of_operands,
    of_views,
    packed,
)
from browsergpu.engine.tensors.view import View


def sort(device: Device, op: str, x: View, y: View, axis: int, *, descending: bool = False) -> None:
    """Sort x along a nonnegative axis into y, which has its shape and dtype. y may be x.

    The sort is stable, also if ``descending``, which puts NaN first.
    """
    if x.size:
        launch(device, op, _sort, (x, y), op, axis, descending, False)


def argsort(
    device: Device, op: str, x: View, y: View, axis: int, *, descending: bool = False
) -> None:
    """Write the indices of :func:`sort` to integer y, which has the shape of x."""
    if x.size:
        launch(device, op, _sort, (x, y), op, axis, descending, True)


def arg_reduce(device: Device, op: str, function: str, x: View, y: View, axis: int | None) -> None:
    """Write the index of the first max or min of x along a nonempty axis to integer y.

    If ``axis`` is None, it is the flat index. y has one element for each slice along the axis.
    """
    if y.size:
        launch(device, op, _arg_reduce, (x, y), function, axis)


def searchsorted(
    device: Device, op: str, ordered: View, values: View, y: View, *, right: bool = False
) -> None:
    """Write the indices at which values would be inserted into a sorted vector to integer y.

    With ``right``, the indices are after equal elements. ``values`` have the dtype of ``ordered``,
    and y their shape.
    """
    if values.size:
        launch(device, op, _searchsorted, (ordered, values, y), right)


def extents_of(shape: Shape, axis: int) -> tuple[int, int, int]:
    """Return the extents [outer, length, inner] around an axis."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def _write_places(staging: Staging, y: Operand, *read: Operand) -> Slot:
    """Return where to write indices, as words."""
    return staging.write(y, *read, dtype=y.dtype if y.dtype.is_whole else DType.I32)


@of_operands
def _sort(
    build: Build, x: Operand, y: Operand, op: str, axis: int, descending: bool, places: bool
) -> None:
    staging = Staging(build)
    words = x.dtype.computed_as
    outer, length, inner = extents_of(x.shape, axis)
    source = staging.read(x, words)
    target = _write_places(staging, y, x) if places else staging.write(y, x, dtype=words)
    function = kernels.argsort if places else kernels.sort
    rows = outer * inner
    if inner == 1 or length == 1:
        function(build, source, target, x.dtype, rows, length, descending=descending)
    else:  # the kernels sort rows
        turned, result = build.temporary(4 * x.size), build.temporary(4 * x.size)
        step = length * inner
        gather(build, op, source, (step, 1, inner), turned, (outer, inner, length))
        function(build, turned, result, x.dtype, rows, length, descending=descending)
        gather(build, op, result, (step, 1, length), target, (outer, length, inner))
        build.release(turned, result)
    staging.deliver()


@of_operands
def _arg_reduce(build: Build, x: Operand, y: Operand, function: str, axis: int | None) -> None:
    staging = Staging(build)
    extents = (1, x.size, 1) if axis is None else extents_of(x.shape, axis)
    source = staging.read(x, x.dtype.computed_as)
    target = _write_places(staging, y, x)
    arg_kernels.arg_reduce(build, source, target, x.dtype, extents, smallest=function == "min")
    staging.deliver()


@of_views
def _searchsorted(build: Build, ordered: Operand, values: Operand, y: Operand, right: bool) -> None:
    staging = Staging(build)
    words = values.dtype.computed_as
    sought = staging.read(packed(build, values), words)
    among = staging.read(packed(build, ordered), words) if ordered.size else sought
    target = _write_places(staging, y, ordered, values)
    search.search(
        build, among, sought, target, values.dtype, ordered.size, values.size, right=right
    )
    staging.deliver()
