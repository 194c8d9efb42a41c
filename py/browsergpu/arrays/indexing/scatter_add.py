"""Sums of rows that go to the same places of an array."""

from __future__ import annotations

from typing import TypeVar

from browsergpu.arrays.apply import copied
from browsergpu.arrays.indexing.gather import by_arrays
from browsergpu.arrays.indexing.ranks import argsorted
from browsergpu.arrays.reduce import memory_view
from browsergpu.arrays.value import Value
from browsergpu.core.checks import product
from browsergpu.device.device import Device
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.ordering import segment_sum
from browsergpu.tensors.staging import Operand, launch, of_operands
from browsergpu.tensors.view import View

V = TypeVar("V", bound=Value)


def with_rows_added(op: str, x: V, places: V, values: V) -> V:
    """A copy of x, float32 of [rows, width], to whose rows at places, uint32 of [n], rows of values
    are added, of [n, width]: of places that come several times, in the order of the values."""
    if product(values.node.shape) == 0:
        return copied(x)
    device = x.tracer.device
    device.keep_pace(op)
    order = argsorted(op, places, 0)
    risen = by_arrays(places, [0], [order], False)
    # In memory of their own, where the kernel leaves what it has added.
    sorted_values = copied(by_arrays(values, [0], [order], False))
    found = copied(x)
    operands = [memory_view(one.node.in_memory()) for one in (risen, sorted_values, found)]
    add_rows(device, op, *operands)
    return found


def add_rows(device: Device, op: str, places: View, values: View, y: View) -> None:
    """y[p] += values[r] for each place p = places[r], words that rise; y and the values are float32
    of [rows, width], and the values are overwritten."""
    launch(device, op, _add, (places, values, y))


@of_operands
def _add(build: Build, places: Operand, values: Operand, y: Operand) -> None:
    n, width = values.shape
    segment_sum.segment_sum(build, places.slot, values.slot, y.slot, n, width)
