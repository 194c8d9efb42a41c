"""Batching rules of matrix products, contractions and linear equations."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.autograd.batching.calls import RULES, Call, NoRule, rank_of
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import manipulation, operands
from browsergpu.functions.linalg import contraction, linear
from browsergpu.functions.linalg.subscripts import plan


def _matmul(call: Call) -> Any:
    x1, x2 = call.given["x1"], call.given["x2"]
    for name, x in (("x1", x1), ("x2", x2)):
        if operands.array("matmul", name, x).ndim == 0:
            raise InvalidArgument("matmul", name, x, "have an axis")
    if not call.has(x2) and x2.ndim <= 2:
        return call()  # all rows of all examples are one product
    if not call.has(x1) and x2.ndim == 1 and x1.ndim <= 2:
        right = manipulation.transpose(x1) if x1.ndim == 2 else x1
        return call(x1=call.value(x2), x2=right)
    rank = max(rank_of(x1, x2), 2)
    left, right = call.value(x1), call.value(x2)
    if x1.ndim == 1:
        left = manipulation.expand_dims(left, axis=-2)
    if x2.ndim == 1:
        right = manipulation.expand_dims(right, axis=-1)
    if call.has(x1):
        left = _aligned(left, rank)
    if call.has(x2):
        right = _aligned(right, rank)
    found = call(x1=left, x2=right)
    axes = [-2] if x1.ndim == 1 else []
    axes += [-1] if x2.ndim == 1 else []
    return manipulation.squeeze(found, axis=tuple(axes)) if axes else found


def _aligned(value: Array, rank: int) -> Array:
    missing = rank + 1 - value.ndim
    if missing <= 0:
        return value
    return manipulation.reshape(value, (value.shape[0], *(1,) * missing, *value.shape[1:]))


def _contraction(call: Call) -> Any:
    text, arrays, optimize, dtype = (
        call.given[name] for name in ("text", "arrays", "optimize", "dtype")
    )
    found = plan("einsum", text, tuple([x.shape for x in arrays]), False)
    numbers = {label: n + 1 for n, label in enumerate(found.extents)}  # 0 numbers the examples
    given: list[Any] = []
    for x, labels in zip(arrays, found.inputs, strict=True):
        own = [numbers[label] for label in labels]
        given += [call.value(x), [0, *own] if call.has(x) else own]
    output = [0, *[numbers[label] for label in found.output]]
    return contraction.einsum(*given, output, optimize=optimize, dtype=dtype)


def _solve(call: Call) -> Any:
    x1, x2 = call.given["x1"], call.given["x2"]
    if x1.ndim < 2:
        raise InvalidArgument("solve", "x1", x1, "have at least 2 axes")
    is_vector = x2.ndim == 1
    rank = max(x1.ndim, 2 if is_vector else x2.ndim)
    right = manipulation.expand_dims(call.full(x2), axis=-1) if is_vector else call.full(x2)
    found = call(x1=_aligned(call.full(x1), rank), x2=_aligned(right, rank))
    return manipulation.squeeze(found, axis=-1) if is_vector else found


def _linear(call: Call) -> Any:
    input, weight, bias = (call.given[name] for name in ("input", "weight", "bias"))
    if not call.has(weight) and not call.has(bias):
        if not input.ndim:
            raise InvalidArgument("linear", "input", input, "have an axis")
        return call()
    found = linear.matmul(input, manipulation.matrix_transpose(weight))
    return call.full(found if bias is None else found + bias)


def _embedding(call: Call) -> Any:
    if call.has(call.given["weight"]):
        raise NoRule
    return call()


def _attention(call: Call) -> Any:
    arrays = {name: call.given[name] for name in ("query", "key", "value", "attn_mask")}
    rank = rank_of(*arrays.values())
    return call(**{
        name: _aligned(call.full(x), rank)
        for name, x in arrays.items() if x is not None
    })  # fmt: skip


RULES |= {
    "browsergpu.functions.linalg.linear.matmul": _matmul,
    "browsergpu.functions.linalg.contraction.contraction": _contraction,
    "browsergpu.functions.linalg.equations.solve": _solve,
    "browsergpu.functions.nn.tables._linear": _linear,
    "browsergpu.functions.nn.tables.embedding": _embedding,
    "browsergpu.functions.nn.tables.one_hot": lambda call: call(),
    "browsergpu.functions.nn.attention.scaled_dot_product_attention": _attention,
}
