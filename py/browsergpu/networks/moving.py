"""Conversion of parameters and buffers to other dtypes and devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.variable import node_of, source_of
from browsergpu.arrays.views.aliases import take_node
from browsergpu.engine.core.turns import exclusive


@exclusive
def convert(x: Array, function: Callable[[Array], Array]) -> None:
    """Convert a parameter or buffer, and its gradient, to another device, dtype or value.

    The array object stays the same, so all references to it see the change.
    """
    gradient, wanted = x.grad, x.requires_grad
    before = source_of(x)
    own = x.detach()
    value = function(own)
    if value is own:
        return
    # Create the autograd leaf again, since it depends on dtype and device.
    x.requires_grad_(False)
    take_node(x, node_of(value))
    x.tracer = value.tracer
    x.requires_grad_(wanted)
    after = source_of(x)
    if before is not None and after is not None:
        after.node.hooks = before.node.hooks
    if gradient is not None:
        x.grad = function(gradient)


def moved(x: Array, device: Any, dtype: Any) -> Array:
    """Return an array on another device, of another dtype if it is float. None keeps them."""
    if dtype is not None and x.dtype.kind == "f":
        x = x.astype(dtype, copy=False)
    return x if device is None else x.to_device(device)
