"""Reductions of values, each step by one generated kernel that also computes the values."""

from __future__ import annotations

from functools import lru_cache

from browsergpu.arrays.lazy.extract import extract
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import stored
from browsergpu.arrays.lazy.values import Values, of_node
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.fused.reduction_plan import Extents, Plan, Reducer, plan_kernel
from browsergpu.engine.tensors.device_array import Storage


def folded(kernels: Kernels, how: Reducer, values: Values, axes: tuple[int, ...]) -> Storage:
    """Reduce values along ``axes``, and return the memory of the result. Raises OutOfMemory."""
    steps = _steps(values.shape, axes)
    last = len(steps) - 1
    for number, extents in enumerate(steps):
        while True:
            plan, found = _step(kernels, how, values, extents, number == last)
            values = of_node(stored(how.overload.result, (plan.outputs,), found))
            if plan.chunks == 1:
                break
            extents = (extents[0], plan.chunks, extents[2])
    return found


@lru_cache(maxsize=1024)
def _steps(shape: Shape, axes: tuple[int, ...]) -> tuple[Extents, ...]:
    """Return the steps [outer, length, inner] -> [outer, inner], at least one."""
    return tuple(shapes.reduction_steps(shape, axes)) or ((product(shape), 1, 1),)


def _step(
    kernels: Kernels, how: Reducer, values: Values, extents: Extents, is_last: bool
) -> tuple[Plan, Storage]:
    code, leaves, words = values.code, values.leaves, values.words
    part = extract(tuple(code), (values.place,))
    plan = plan_kernel(how, values.shape, part.code, part.layout(leaves), extents, is_last)
    device = kernels.device
    buffer = device.memory.get_buffer(how.op, how.overload.result.device_bytes(plan.outputs))
    storage = Storage(device, buffer)
    try:
        device.recorder.dispatch(
            kernels.pipeline(plan.kernel),
            *plan.grid,
            *part.ids(leaves),
            buffer.id,
            *plan.words,
            *part.parameters(words),
        )
    except BaseException:
        storage.release()
        raise
    return plan, storage
