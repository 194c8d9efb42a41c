"""Cumulative sums, products and extremes along an axis, and indices of true elements."""

from __future__ import annotations

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.kernels.ordering import compact
from browsergpu.engine.kernels.ordering import scan as kernels
from browsergpu.engine.tensors import transfers
from browsergpu.engine.tensors.ordering import extents_of
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_views, packed
from browsergpu.engine.tensors.view import View


def scan(
    device: Device,
    op: str,
    function: str,
    x: View,
    y: View,
    axis: int,
    *,
    exclusive: bool = False,
) -> None:
    """Compute the cumulative sum, prod, max or min of x along an axis into y. y may be x.

    y has the shape of x, or one more element along the axis. Then y starts with the identity and
    ends with the total. The identity is 0, 1, or the smallest or largest value.

    x is cast to the dtype of y first. float16 is computed in float32. Integer sums and products are
    modulo 2^32. NaN propagates.

    Parameters
    ----------
    device, op
        The device, and the name of the function for error messages.
    function
        sum, prod, max or min.
    x, y
        The input and the result.
    axis
        The axis, which is not negative.
    exclusive
        Exclude each element from its own result.
    """
    if y.size:
        launch(device, op, _scan, (x, y), function, axis, exclusive)


def scan_wide(device: Device, op: str, function: str, x: View, y: View, axis: int) -> None:
    """Compute :func:`scan` of 64-bit integers, for sum or prod, modulo 2^64.

    The last axis holds their words. y is not x.
    """
    if y.size:
        launch(device, op, _scan_wide, (x, y), function, axis)


def true_places(device: Device, op: str, mask: View, places: View, count: View) -> None:
    """Write the flat indices of nonzero elements of a mask to ``places``, in ascending order.

    ``count``, one element, receives their number. Both are i32 or u32, and neither is the mask.
    ``places`` has as many elements as the mask. Elements after the first ``count`` do not change.
    """
    launch(device, op, _true_places, (mask, places, count))


async def true_count_async(device: Device, count: View) -> int:
    """Return the count that :func:`true_places` has written."""
    word = bytearray(4)
    await transfers.read(device, count.buffer, 0, memoryview(word))
    return int.from_bytes(word, "little")


def true_count(device: Device, op: str, count: View) -> int:
    """Return the count that :func:`true_places` has written. Waits for the GPU."""
    instead = (
        "where(), or NumPy on `await mask.numpy_async()`, as only the GPU knows how many are true"
    )
    return platform.block_on(true_count_async(device, count), op, instead)


@of_views
def _scan(build: Build, x: Operand, y: Operand, function: str, axis: int, exclusive: bool) -> None:
    staging = Staging(build)
    words = DType.U32 if y.dtype is DType.BOOL else y.dtype.computed_as
    source = staging.read(packed(build, x), words) if x.size else x.slot
    target = staging.write(y, x, dtype=words)
    kernels.scan(
        build, source, target, kernels.function_of(function, words), extents_of(x.shape, axis),
        exclusive=exclusive, initial=y.shape[axis] > x.shape[axis],
    )  # fmt: skip
    staging.deliver()


@of_views
def _scan_wide(build: Build, x: Operand, y: Operand, function: str, axis: int) -> None:
    kernels.scan(
        build, x.slot, y.slot, f"wide_{function}", extents_of(x.shape[:-1], axis),
        initial=y.shape[axis] > x.shape[axis],
    )  # fmt: skip


@of_views
def _true_places(build: Build, mask: Operand, places: Operand, count: Operand) -> None:
    if not mask.size:
        fill(build, count.slot, 0.0, 1)
        return
    staging = Staging(build)
    # -0 has bits set that do not make it true.
    words = DType.BOOL if mask.dtype.is_float else mask.dtype.computed_as
    source = staging.read(packed(build, mask), words)
    compact.true_places(build, source, places.slot, count.slot, mask.size)
