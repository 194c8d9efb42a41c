"""Concatenation of arrays: each element is written once, to its place in new memory.

Large uncomputed arrays are computed directly into their place. Small ones are computed first, one
kernel for each shape. They are then copied, each kernel with as many arrays as it has bindings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from browsergpu.arrays.apply import cast_to
from browsergpu.arrays.indexing import assignment
from browsergpu.arrays.lazy import joint_copy, region_write
from browsergpu.arrays.lazy.node import Node, room, stored
from browsergpu.arrays.lazy.trace import is_recorded_here
from browsergpu.arrays.lazy.values import of_node
from browsergpu.arrays.value import Value
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.errors import DeviceError
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.fused.layout import Place

V = TypeVar("V", bound=Value)


def joined(
    op: str, arrays: Sequence[V], places: Sequence[Place], shape: Shape, kind: ElementType
) -> V:
    """Return a new array that consists of others, each at its place in memory.

    Raises
    ------
    OutOfMemory
        If there is no memory for the result.
    DeviceError
        If debug mode finds a fault. All kernels are recorded then.
    """
    tracer = arrays[0].tracer
    kernels, device = tracer.kernels, tracer.device
    device.throttle(op)
    whole = arrays[0].like(room(device, op, kind, shape))
    made = whole.node
    filling = [(x, place) for x, place in zip(arrays, places, strict=True) if product(place[0])]
    own: list[tuple[V, Place, Node | None]] = []
    for x, place in filling:
        value, twin = x, None
        if _is_computed_there(x, kind):
            value = cast_to(op, x, kind, copy=False)
            if value is x:  # others may need the value
                twin = assignment.twin_of(whole, x.node)
        own.append((value, place, twin))
    for x, _, _ in own:
        if is_recorded_here(x.node):
            of_node(x.node)  # the kernel of a product may compute it
    # Other tasks may run while a value is computed, and not after this loop.
    while rest := [x for x, _, _ in own if x.node.trace and not _is_computed_there(x, kind)]:
        for x in rest:
            x.node.in_memory()
    commands = []
    copies: list[tuple[Node, Place]] = []
    for x, place, twin in own:
        node, trace = x.node, x.node.trace
        if trace is None:
            copies.append((node, place))
            continue
        target = stored(kind, place[0], made.storage, place[1], place[2])
        commands.append(region_write.command(kernels, of_node(node), target, twin))
        trace.leave(node, target if twin is None else twin)
        trace.tidy()
    commands += joint_copy.commands(kernels, copies, made)
    faults: list[DeviceError] = []
    for command in commands:
        try:
            device.recorder.dispatch(*command)
        except DeviceError as error:
            if not faults:
                faults.append(error)
    if faults:
        raise faults.pop()  # this frame must not hold the error, whose traceback holds the frame
    return whole


def _is_computed_there(x: Value, kind: ElementType) -> bool:
    """Return whether a value is uncomputed and too large to be written twice."""
    size = kind.device_bytes(product(x.node.shape))
    is_much = is_recorded_here(x.node) and size >= assignment.LEAST
    return is_much and not x.tracer.device.config.check_nan  # check_nan looks at written arrays
