"""Parameters and buffers in other dtypes and on other devices."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.tracking.variable import node_of, source_of
from browsergpu.arrays.views.aliases import take_node
from browsergpu.core.turns import exclusive


@exclusive
def move(x: Array, device: Any, dtype: Any) -> None:
    """Gives a parameter or a buffer, and its gradient, another device, or, where it is of floats,
    another dtype; None leaves either. It stays the array that it is: whoever holds it sees that."""
    gradient, wanted = x.grad, x.requires_grad
    before = source_of(x)
    value = _moved(x.detach(), device, dtype)
    if value.tape is x.tape and value.dtype == x.dtype:
        return
    # What it was noted as, a leaf of its dtype on its device, is made anew.
    x.requires_grad_(False)
    take_node(x, node_of(value))
    x.tape = value.tape
    x.requires_grad_(wanted)
    after = source_of(x)
    if before is not None and after is not None:
        after.step.hooks = before.step.hooks
    if gradient is not None:
        x.grad = _moved(gradient, device, dtype)


def _moved(x: Array, device: Any, dtype: Any) -> Array:
    if dtype is not None and x.dtype.kind == "f":
        x = x.astype(dtype, copy=False)
    return x if device is None else x.to_device(device)
