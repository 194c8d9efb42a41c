"""Sums of rows by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from browsergpu.arrays.apply import copied
from browsergpu.arrays.indexing.gather import by_arrays
from browsergpu.arrays.indexing.ranks import argsorted
from browsergpu.arrays.lazy.node import room
from browsergpu.arrays.reduce import memory_view
from browsergpu.arrays.value import Value
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.ordering import segment_sum
from browsergpu.engine.tensors.staging import Operand, launch, of_operands
from browsergpu.engine.tensors.view import View

V = TypeVar("V", bound=Value)


def with_rows_added(op: str, x: V, places: V, values: V) -> V:
    """Return a copy of ``x`` with rows added at the given indices.

    Rows with the same index are added in their order.

    Parameters
    ----------
    x
        float32 of shape [rows, width].
    places
        uint32 of shape [n], the rows of ``x``.
    values
        float32 of shape [n, width].
    """
    if product(values.node.shape) == 0:
        return copied(x)
    return _added(op, places, values, lambda: copied(x))


def sums_of_rows(op: str, count: int, places: V, values: V) -> V:
    """Return the sums of rows with the same index, as ``count`` rows.

    ``places`` and ``values`` are those of :func:`with_rows_added`. The memory is cleared once.
    """
    device = values.tracer.device

    def zeros() -> V:
        node = room(device, op, FLOAT32, (count, values.node.shape[1]))
        nbytes = FLOAT32.device_bytes(product(node.shape))
        device.recorder.clear(node.storage.buffer.id, 0, nbytes)
        return values.like(node)

    return _added(op, places, values, zeros) if product(values.node.shape) else zeros()


def _added(op: str, places: V, values: V, target: Callable[[], V]) -> V:
    """Add rows to a new array, and return it."""
    device = values.tracer.device
    device.throttle(op)
    order = argsorted(op, places, 0)
    risen = by_arrays(places, [0], [order], False)
    # The kernel overwrites this copy.
    sorted_values = copied(by_arrays(values, [0], [order], False))
    found = target()
    operands = [memory_view(one.node.in_memory()) for one in (risen, sorted_values, found)]
    add_rows(device, op, *operands)
    return found


def add_rows(device: Device, op: str, places: View, values: View, y: View) -> None:
    """Add rows in place: ``y[places[r]] += values[r]``. The places are sorted.

    ``values`` is overwritten. y and values are float32 of shape [rows, width].
    """
    launch(device, op, _add, (places, values, y))


@of_operands
def _add(build: Build, places: Operand, values: Operand, y: Operand) -> None:
    n, width = values.shape
    segment_sum.segment_sum(build, places.slot, values.slot, y.slot, n, width)
