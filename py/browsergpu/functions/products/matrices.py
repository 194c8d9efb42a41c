"""Matrix products of values in memory, which captured blocks record and dispatch when needed."""

from __future__ import annotations

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.products import Epilogue, Kernel
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.reduce import memory_view
from browsergpu.engine.core.element_types import FLOAT16
from browsergpu.engine.core.enums import Precision
from browsergpu.engine.tensors.device_array import Storage
from browsergpu.engine.tensors.matmul import (
    MatmulPlan,
    is_by_halves,
    multiply,
    planned,
    takes_residual,
)
from browsergpu.engine.tensors.view import View

#: A planned product and its operands.
Ready = tuple[MatmulPlan, View, View]
#: The parts of an epilogue that the kernels compute, with and without a bias of the product.
_PARTS = frozenset(("factor", "bias", "activation", "residual", "late residual"))
_BIASED_PARTS = frozenset(("activation", "residual", "late residual"))


def multiplied(
    tracer: Tracer,
    op: str,
    a: Node,
    b: Node,
    made: Node,
    ready: Ready,
    bias: Node | None = None,
    *,
    flip_b: bool = False,
    precision: Precision = Precision.HIGHEST,
) -> Node:
    """Compute a b + bias as ``numpy.matmul``, for a nonempty result.

    Parameters
    ----------
    tracer, op
        The arrays' tracer, and the name of the function.
    a, b
        The operands in memory.
    made
        Memory for the result, of its type. The shape may split the rows of the product.
    ready
        What :func:`planned` returns for the operands.
    bias
        One number for each column of b.
    flip_b
        Whether b is transposed.
    precision
        The precision of float32 products without a bias.

    Returns
    -------
    Node
        ``made``, or an equal product's result.
    """
    graph, kind = tracer.optimized, made.kind
    assert kind.dtype is not None
    dtype = kind.dtype
    if graph is None:
        plan, left, right = ready
        result = View(made.storage.buffer, plan.shape, dtype)
        own = None if bias is None else memory_view(bias)
        multiply(tracer.device, op, plan, left, right, result, own, precision=precision)
        return made

    def launch(target: Storage, epilogue: Epilogue) -> None:
        # It must not keep the result alive. The operands may have moved.
        left, right = memory_view(a), memory_view(b)
        plan, left, right = planned(op, left, right, flip_b=flip_b, factor=epilogue.factor)
        added = epilogue.bias if bias is None else bias
        residual = epilogue.residual
        multiply(
            tracer.device, op, plan, left, right, View(target.buffer, plan.shape, dtype),
            None if added is None else memory_view(added), epilogue.activation,
            None if residual is None else memory_view(residual), precision,
        )  # fmt: skip

    parts = _PARTS if bias is None else _BIASED_PARTS
    if precision is not Precision.HIGHEST:  # its kernels have no epilogue
        parts = frozenset()
    elif kind is FLOAT16:
        if ready[0].of_halves is None:  # float32 kernels take float32 arrays
            parts -= {"bias", "residual", "late residual"}
        elif is_by_halves(tracer.device.facts, ready[0]) and not takes_residual(
            tracer.device.facts, ready[0]
        ):  # the kernels add to a copy, which takes longer than an addition
            parts -= {"residual", "late residual"}
    axis = len(made.shape) - 1 if len(b.shape) > 1 else None
    operands = (a, b) if bias is None else (a, b, bias)
    kernel = Kernel(op, launch, axis, parts)
    return tracer.deferred(graph, made, kernel, operands, kind, flip_b, precision)
