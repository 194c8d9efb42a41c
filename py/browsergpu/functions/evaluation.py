"""Evaluation of arrays, and descriptions of their kernels."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.variable import node_of
from browsergpu.arrays.lazy import fusion
from browsergpu.arrays.lazy.products import Product
from browsergpu.arrays.pending_upload import PendingUpload
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.showing import byte_count
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.fused.source import name_of, result_of


@exclusive
def eval(*arrays: Array) -> None:
    """Compute arrays now, without waiting for the GPU.

    Parameters
    ----------
    *arrays : Array
        The arrays. Those in memory stay as they are.

    Raises
    ------
    OutOfMemory
        If there is no memory for the results.
    """
    for x in arrays:
        node_of(x).in_memory()


@exclusive
def explain(x: Array, /, *, helpers: bool = False) -> str:
    """Describe the kernels that compute an array, without computing it.

    Parameters
    ----------
    x : Array
        Any array.
    helpers : bool, optional
        Whether to show the helper functions that the kernels call, such as ``np_exp``. The WGSL is
        complete only with them.

    Returns
    -------
    str
        For each kernel its operations, the bytes that it reads and writes, and its WGSL. For an
        array in memory or on the host, a sentence that says so.
    """
    node = node_of(x)
    trace = node.trace
    if trace is None:
        return "in memory: nothing is to be computed"
    if isinstance(trace, PendingUpload):
        return "on the host: it is uploaded when it is needed"
    if isinstance(trace, Product):
        return f"a product: the kernel of {trace.kernel.op} computes it when it is needed"
    wanted = sorted({other.place for other in trace.nodes if other.is_held})
    plans = fusion.plans(x.tracer.kernels, trace.shape, trace.code, trace.leaves, wanted)
    n = product(trace.shape)
    parts = []
    for number, plan in enumerate(plans, 1):
        arrays = [trace.leaves[at] for at in plan.part.arrays]
        read = sum(one.kind.device_bytes(product(one.shape)) for one in arrays)
        written = sum(result_of(trace.code[at]).device_bytes(n) for at in plan.places)
        names = [name for entry in plan.part.code if (name := name_of(entry))]
        code = plan.kernel.code
        if not helpers:
            code = code.replace(plan.kernel.helpers, "").rstrip()
        parts.append(
            f"kernel {number} of {len(plans)}: {', '.join(names) or 'no operations'}\n"
            f"reads {len(arrays)} arrays, {byte_count(read)}; "
            f"writes {len(plan.places)}, {byte_count(written)}\n\n{code}"
        )
    return "\n".join(parts)
