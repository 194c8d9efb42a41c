"""Batching rules of elementwise functions and of functions of shapes alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.autograd.batching.calls import RULES, Call, rank_of
from browsergpu.functions import creation, elementwise, manipulation

#: Elementwise functions that are not in ``elementwise.OPERATIONS``.
_OTHERS = {
    "autograd.transforms": ("identity",),
    "compat.numpy.ufuncs": ("_fmod",),
    "functions.creation": ("empty_like", "ones_like", "zeros_like"),
    "functions.data_types": ("astype",),
    "functions.elementwise": ("where", "clip"),
    "functions.images.filters": ("brightness", "contrast", "invert", "threshold"),
    "functions.nn.activations": (
        "_ndtr", "dropout", "elu", "gelu", "hardswish", "leaky_relu", "relu", "sigmoid", "silu",
        "softplus", "tanh",
    ),
    "functions.nn.gates": ("mish", "logsigmoid", "softsign", "tanhshrink"),
    "functions.nn.piecewise": (
        "threshold", "hardtanh", "relu6", "hardsigmoid", "hardshrink", "softshrink", "selu",
        "celu", "rrelu",
    ),
    "functions.special": (
        "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "gamma", "gammaln",
        "log_ndtr", "ndtr", "ndtri", "sinc", "xlog1py", "xlogy",
    ),
}  # fmt: skip


def of_elements(call: Call) -> Any:
    """Align the axes of the operands."""
    rank = rank_of(*call.given.values())
    return call(**{
        name: call.ranked(x, rank) for name, x in call.given.items() if call.has(x)
    })  # fmt: skip


def _asarray(call: Call) -> Any:
    obj = call.given["obj"]
    if isinstance(obj, Array):
        return of_elements(call)
    return call.public(_stacked(obj), **{k: x for k, x in call.given.items() if k != "obj"})


def _stacked(obj: Any) -> Any:
    """Join the arrays in nested lists."""
    if isinstance(obj, list | tuple):
        items = [_stacked(one) for one in obj]
        return manipulation.stack([
            one if isinstance(one, Array) else creation.asarray(one) for one in items
        ])  # fmt: skip
    return obj


def _reshape(call: Call) -> Any:
    x, shape = call.given["x"], call.given["shape"]
    whole = tuple(shape) if isinstance(shape, list | tuple | np.ndarray) else (shape,)
    extents = [int(n) for n in whole]
    if extents.count(-1) == 1:
        known = int(np.prod([n for n in extents if n != -1], dtype=np.int64))
        if known and x.size % known == 0:
            extents[extents.index(-1)] = x.size // known
    return call(shape=(call.frame.size, *extents))


def _broadcast_to(call: Call) -> Any:
    shape = call.given["shape"]
    whole = tuple(shape) if isinstance(shape, list | tuple | np.ndarray) else (shape,)
    return call(x=call.ranked(call.given["x"], len(whole)), shape=(call.frame.size, *whole))


def _broadcast_arrays(call: Call) -> Any:
    arrays = call.given["arrays"]
    shape = manipulation.broadcast_shapes(*[x.shape for x in arrays])
    whole = (call.frame.size, *shape)
    return tuple([manipulation.broadcast_to(call.ranked(x, len(shape)), whole) for x in arrays])


def _meshgrid(call: Call) -> Any:
    arrays, indexing = call.given["arrays"], call.given["indexing"]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = 1, 0
    sizes = [x.size for x in arrays]
    shape = tuple([sizes[n] for n in order])
    found = []
    for n, x in enumerate(arrays):
        own = [1] * len(order)
        own[order[n]] = sizes[n]
        column = manipulation.reshape(call.full(x), (call.frame.size, *own))
        found.append(manipulation.broadcast_to(column, (call.frame.size, *shape)))
    return tuple(found)


for _function in elementwise.OPERATIONS:
    RULES[f"browsergpu.functions.elementwise.{_function.__name__}"] = of_elements
for _module, _names in _OTHERS.items():
    RULES |= {f"browsergpu.{_module}.{name}": of_elements for name in _names}
RULES["browsergpu.functions.creation.asarray"] = _asarray
RULES["browsergpu.functions.creation.meshgrid"] = _meshgrid
RULES |= {
    f"browsergpu.functions.manipulation.{name}": rule
    for name, rule in {
        "reshape": _reshape, "broadcast_to": _broadcast_to, "broadcast_arrays": _broadcast_arrays,
    }.items()
}  # fmt: skip
