"""Convolutions of values in memory, which captured blocks record and dispatch when needed."""

from __future__ import annotations

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.products import Epilogue, Kernel, Totals
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.reduce import memory_view
from browsergpu.engine.core.element_types import FLOAT16, FLOAT32
from browsergpu.engine.kernels.convolution.conv2d import (
    Conv2dPlan,
    is_depthwise,
    totals_of_planes,
)
from browsergpu.engine.kernels.convolution.conv2d_products import is_by_product
from browsergpu.engine.tensors import nn
from browsergpu.engine.tensors.device_array import Storage
from browsergpu.engine.tensors.view import View

#: The parts of an epilogue that the kernels compute.
_PARTS = frozenset(("scale", "bias", "activation", "residual", "late residual", "last"))
#: Those of float16 convolutions as matrix products, and of those that cast the operands.
_PARTS_BY_PRODUCT = frozenset(("scale", "bias", "activation", "residual", "last", "casts"))
_PARTS_OF_CASTS = frozenset(("scale", "bias", "activation", "casts"))


def convolved(
    tracer: Tracer, op: str, plan: Conv2dPlan, x: Node, w: Node, made: Node, bias: Node | None
) -> Node:
    """Compute a planned convolution with a nonempty result.

    Parameters
    ----------
    tracer, op
        The arrays' tracer, and the name of the function.
    plan
        The plan.
    x, w
        Packed images and filters.
    made
        Memory for the result, of its type. The shape may leave out axes of length 1.
    bias
        One packed number for each filter.

    Returns
    -------
    Node
        ``made``, or an equal convolution's result.
    """
    kind = made.kind
    assert kind.dtype is not None
    dtype = kind.dtype
    graph = tracer.optimized
    if graph is None:
        result = View(made.storage.buffer, plan.output_shape, dtype)
        own = None if bias is None else memory_view(bias)
        nn.conv2d(tracer.device, op, plan, memory_view(x), memory_view(w), result, own)
        return made

    facts = tracer.device.facts
    count = totals_of_planes(facts, plan) if kind is FLOAT32 else 0
    totals = Totals(count) if count else None

    def launch(target: Storage, epilogue: Epilogue) -> None:  # must not keep the result alive
        added = epilogue.bias if bias is None else bias
        into = None if totals is None else totals.into
        scale, residual, sums = (
            None if one is None else memory_view(one)
            for one in (epilogue.scale, epilogue.residual, into)
        )
        nn.conv2d(
            tracer.device, op, plan, memory_view(x), memory_view(w),
            View(target.buffer, plan.output_shape, dtype),
            None if added is None else memory_view(added), scale, residual, epilogue.activation,
            epilogue.last, sums,
        )  # fmt: skip
        if totals is not None and into is not None:
            totals.beside = target.buffer.id

    parts = _PARTS
    if kind is FLOAT16:  # a residual would have to be cast as well
        parts = _PARTS_OF_CASTS
        if is_by_product(facts, plan):
            parts = _PARTS_BY_PRODUCT
        elif is_depthwise(facts, plan):
            parts = _PARTS | {"casts"}
    if bias is not None:
        parts -= {"scale", "bias"}
    operands = (x, w) if bias is None else (x, w, bias)
    return tracer.deferred(graph, made, Kernel(op, launch, 1, parts, totals), operands, kind, plan)
