"""The nodes of ONNX for calls of public functions."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import Unsupported
from browsergpu.onnx.exporter.recorder import Call, Name, Recorder, emits
from browsergpu.onnx.namespace import bg

#: Elementwise functions with one operand.
_UNARY = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh",
    "atan": "Atan", "atanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "exp": "Exp",
    "floor": "Floor", "isinf": "IsInf", "isnan": "IsNaN", "log": "Log", "logical_not": "Not",
    "negative": "Neg", "reciprocal": "Reciprocal", "round": "Round", "sign": "Sign", "sin": "Sin",
    "sinh": "Sinh", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh", "positive": "Identity",
}  # fmt: skip
#: Elementwise functions with two operands.
_BINARY = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "pow": "Pow",
    "maximum": "Max", "minimum": "Min", "equal": "Equal", "greater": "Greater",
    "greater_equal": "GreaterOrEqual", "less": "Less", "less_equal": "LessOrEqual",
    "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor",
}  # fmt: skip


def _refused(what: str) -> Unsupported:
    return Unsupported("onnx.export", f"{what} cannot be exported.")


def _first(call: Call) -> Any:
    return next(iter(call.given.values()))


def _first_value(call: Call) -> Any:
    return next(iter(call.values.values()))


def _of_one(kind: str) -> Any:
    def function(emit: Recorder, call: Call) -> Any:
        return emit(kind, _first(call))

    return function


def _of_two(kind: str) -> Any:
    def function(emit: Recorder, call: Call) -> Any:
        return _binary(emit, call, kind)

    return function


for _name, _kind in _UNARY.items():
    emits(f"elementwise.{_name}")(_of_one(_kind))
for _name, _kind in _BINARY.items():
    emits(f"elementwise.{_name}")(_of_two(_kind))


def _dtype(values: Sequence[Any]) -> np.dtype[Any]:
    """Return the dtype in which operands are combined."""
    found: np.dtype[Any] = np.dtype(bg.result_type(*values))
    return found


def _operand(emit: Recorder, given: Any, value: Any, dtype: Any) -> Any:
    if isinstance(value, Array):
        return emit.cast(given, value.dtype, dtype)
    return emit.name(np.asarray(value).astype(dtype))


def _binary(emit: Recorder, call: Call, kind: str) -> Name:
    values = list(call.values.values())[:2]
    dtype = _dtype(values)
    if kind == "Div" and dtype.kind in "iu":
        dtype = call.result.dtype
    pairs = zip(list(call.given.values())[:2], values, strict=True)
    found: Name = emit(kind, *[_operand(emit, x, value, dtype) for x, value in pairs])
    return found


@emits("elementwise.square")
def _square(emit: Recorder, call: Call) -> Any:
    return emit("Mul", _first(call), _first(call))


@emits("elementwise.where")
def _where(emit: Recorder, call: Call) -> Any:
    names = ("x1", "x2")
    dtype = call.result.dtype
    own = [_operand(emit, call.given[name], call.values[name], dtype) for name in names]
    return emit("Where", call.given["condition"], *own)


@emits("elementwise.clip")
def _clip(emit: Recorder, call: Call) -> Any:
    dtype = call.result.dtype
    limits = [
        None if call.values[name] is None
        else _operand(emit, call.given[name], call.values[name], dtype)
        for name in ("min", "max")
    ]  # fmt: skip
    return emit("Clip", call.given["x"], *limits)


@emits("special.erf")
def _erf(emit: Recorder, call: Call) -> Any:
    operand = _first(call)
    return emit("Erf", operand[0] if isinstance(operand, tuple) else operand)


@emits("nn.activations._ndtr")
def _ndtr(emit: Recorder, call: Call) -> Any:
    kind = call.result.dtype
    inner = emit("Mul", _first(call), emit.name(np.asarray(sqrt(0.5), kind)))
    whole = emit("Add", emit("Erf", inner), emit.name(np.asarray(1, kind)))
    return emit("Mul", whole, emit.name(np.asarray(0.5, kind)))


@emits("data_types.astype")
def _astype(emit: Recorder, call: Call) -> Any:
    found = emit.cast(_first(call), _first_value(call).dtype, call.result.dtype)
    return emit("Identity", found) if found is _first(call) else found


# -- shapes ----------------------------------------------------------------------------------------


@emits(
    "manipulation.reshape", "manipulation.expand_dims", "manipulation.squeeze",
)  # fmt: skip
def _reshape(emit: Recorder, call: Call) -> Any:
    return emit("Reshape", _first(call), emit.integers(*call.result.shape))


@emits("manipulation.permute_dims", "manipulation.transpose")
def _permute(emit: Recorder, call: Call) -> Any:
    axes = call.given["axes"]
    rank = call.result.ndim
    order = range(rank)[::-1] if axes is None else [int(axis) % rank for axis in axes]
    return emit("Transpose", _first(call), perm=list(order))


@emits("manipulation.matrix_transpose")
def _matrix_transpose(emit: Recorder, call: Call) -> Any:
    rank = call.result.ndim
    return emit("Transpose", _first(call), perm=[*range(rank - 2), rank - 1, rank - 2])


@emits("manipulation.moveaxis")
def _moveaxis(emit: Recorder, call: Call) -> Any:
    probe = np.moveaxis(np.empty(range(call.result.ndim)), call.given["source"],
                        call.given["destination"])  # fmt: skip
    return emit("Transpose", _first(call), perm=probe.shape)


@emits("manipulation.broadcast_to")
def _broadcast(emit: Recorder, call: Call) -> Any:
    return emit("Expand", _first(call), emit.integers(*call.result.shape))


@emits("manipulation.concat")
def _concat(emit: Recorder, call: Call) -> Any:
    axis = call.given["axis"]
    kind = call.result.dtype
    pairs = zip(call.given["arrays"], call.values["arrays"], strict=True)
    own = [emit.cast(x, value.dtype, kind) for x, value in pairs]
    if axis is None:
        own = [emit("Reshape", x, emit.integers(-1)) for x in own]
    return emit("Concat", *own, axis=int(axis or 0))


@emits("manipulation.stack")
def _stack(emit: Recorder, call: Call) -> Any:
    axis = call.given["axis"] % call.result.ndim
    own = [emit("Unsqueeze", x, emit.integers(axis)) for x in call.given["arrays"]]
    return emit("Concat", *own, axis=int(axis))


@emits("manipulation.unstack")
def _unstack(emit: Recorder, call: Call) -> Any:
    axis = int(call.given["axis"])
    return tuple(
        emit("Gather", _first(call), emit.name(np.asarray(at, np.int64)), axis=axis)
        for at in range(len(call.result))
    )


@emits("manipulation.flip")
def _flip(emit: Recorder, call: Call) -> Any:
    axes = call.given["axis"]
    rank = call.result.ndim
    used = range(rank) if axes is None else axes if isinstance(axes, tuple | list) else [axes]
    count = len(used)
    return emit("Slice", _first(call), emit.integers(*[-1] * count),
                emit.integers(*[-(1 << 62)] * count), emit.integers(*used),
                emit.integers(*[-1] * count))  # fmt: skip


@emits("manipulation.take")
def _take(emit: Recorder, call: Call) -> Any:
    x, axis = _first(call), call.given["axis"]
    if axis is None:
        x, axis = emit("Reshape", x, emit.integers(-1)), 0
    indices = call.given["indices"]
    if not isinstance(indices, Name | Array):
        indices = np.asarray(indices, np.int64)
    return emit("Gather", x, indices, axis=int(axis))


@emits("manipulation.repeat")
def _repeat(emit: Recorder, call: Call) -> Any:
    times, axis = call.given["repeats"], call.given["axis"]
    if not isinstance(times, int) or axis is None:
        raise _refused("repeat with several numbers or without an axis")
    extent = _first_value(call).shape[axis]
    index = np.repeat(np.arange(extent), times)
    return emit("Gather", _first(call), index, axis=int(axis))


@emits("parts.part")
def _part(emit: Recorder, call: Call) -> Any:
    given = call.given["key"]
    key = given if isinstance(given, tuple) else (given,)
    rank = _first_value(call).ndim
    whole = sum(one is not None and one is not Ellipsis for one in key)
    at = 0
    x = _first(call)
    starts, ends, axes, steps = [], [], [], []
    for one in key:
        if one is Ellipsis:
            at += rank - whole
        elif isinstance(one, slice):
            extent = _first_value(call).shape[at]
            if one != slice(None):
                begin, end, step = one.indices(extent)
                is_open = one.stop is None or one.stop >= extent
                starts.append(begin)
                ends.append(-(1 << 62) if end < 0 else 1 << 62 if step > 0 and is_open else end)
                axes.append(at)
                steps.append(step)
            at += 1
        elif isinstance(one, int | np.integer) and not isinstance(one, bool):
            starts.append(int(one))
            ends.append(int(one) + 1 if int(one) != -1 else 1 << 62)
            axes.append(at)
            steps.append(1)
            at += 1
        elif one is not None:
            raise _refused("an index by an array")
    if axes:
        x = emit("Slice", x, emit.integers(*starts), emit.integers(*ends), emit.integers(*axes),
                 emit.integers(*steps))  # fmt: skip
    return emit("Reshape", x, emit.integers(*call.result.shape))


# -- reductions and products -----------------------------------------------------------------------


def _reduction(kind: str) -> Any:
    def function(emit: Recorder, call: Call) -> Any:
        axis = call.given["axis"]
        x, value = _first(call), _first_value(call)
        x = emit.cast(x, value.dtype, call.result.dtype) if kind in ("Sum", "Prod", "Mean") else x
        axes = None
        if axis is not None:
            axes = emit.integers(*(axis if isinstance(axis, tuple | list) else (axis,)))
        return emit(f"Reduce{kind}", x, axes, keepdims=int(call.given["keepdims"]))

    return function


for _name, _kind in (("sum", "Sum"), ("prod", "Prod"), ("max", "Max"), ("min", "Min"),
                     ("mean", "Mean")):  # fmt: skip
    emits(f"statistics.{_name}")(_reduction(_kind))


@emits("statistics.var")
def _var(emit: Recorder, call: Call) -> Any:
    axis, x = call.given["axis"], _first(call)
    shape = _first_value(call).shape
    used = range(len(shape)) if axis is None else axis if isinstance(axis, tuple | list) else [axis]
    axes = [int(at) % len(shape) for at in used]
    count = int(np.prod([shape[at] for at in axes]))
    away = emit("Sub", x, emit("ReduceMean", x, emit.integers(*axes), keepdims=1))
    found = emit("ReduceMean", emit("Mul", away, away), emit.integers(*axes),
                 keepdims=int(call.given["keepdims"]))  # fmt: skip
    correction = call.given["correction"]
    if not correction:
        return found
    factor = np.asarray(count / (count - correction), call.result.dtype)
    return emit("Mul", found, emit.name(factor))


@emits("ordering.sorting.argmax", "ordering.sorting.argmin")
def _argmax(emit: Recorder, call: Call) -> Any:
    axis, x = call.given["axis"], _first(call)
    if axis is None:
        x, axis = emit("Reshape", x, emit.integers(-1)), 0
    kind = "ArgMax" if call.is_of("argmax") else "ArgMin"
    found = emit(kind, x, axis=int(axis), keepdims=int(call.given["keepdims"]))
    return emit.cast(found, np.int64, call.result.dtype)


@emits("linalg.linear.matmul")
def _matmul(emit: Recorder, call: Call) -> Any:
    dtype = _dtype(list(call.values.values())[:2])
    pairs = list(zip(call.given.values(), call.values.values(), strict=True))[:2]
    return emit("MatMul", *[_operand(emit, x, value, dtype) for x, value in pairs])


@emits("weighted_sums.weighted_sums")
def _weighted_sums(emit: Recorder, call: Call) -> Any:
    """Multiply by a matrix of the weights, along an axis."""
    places, weights = call.values["places"], call.values["weights"]
    axis = call.values["axis"] % call.result.ndim
    matrix = np.zeros((_first_value(call).shape[axis], len(places)), call.result.dtype)
    np.add.at(matrix, (places, np.arange(len(places))[:, None]), weights)
    rank = call.result.ndim
    order = [*(at for at in range(rank) if at != axis), axis]
    found = emit("MatMul", emit("Transpose", _first(call), perm=order), matrix)
    return emit("Transpose", found, perm=[int(n) for n in np.argsort(order)])
