"""The rows as ONNX models, for onnxruntime-web. The page makes the weights itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from suite import onnx
from suite.onnx import constant, int64, node, value
from suite.row import Row

_CONSTANTS = {"conv2d": ("w",), "layer_norm": ("gamma", "beta")}


def _graph(row: Row) -> tuple[list[bytes], dict[str, tuple[str, tuple[int, ...], bytes]]]:
    """Return the nodes from the row's inputs to "out", and their small constants."""
    o = row.options
    axes = {"axes": ("i64", (1,), int64(o.get("axis", 0)))}
    zero = {"zero": ("f32", (1,), bytes(4))}
    if row.op == "matmul":
        flips = {f"trans{x.upper()}": 1 for x in "ab" if o.get(f"transpose_{x}")}
        return [node("Gemm" if flips else "MatMul", ["a", "b"], "out", **flips)], {}
    if row.op == "conv2d":
        extents = {"kernel_shape": row.inputs["w"].shape[2:], "strides": [o["stride"]] * 2}
        return [node("Conv", ["x", "w"], "out", pads=[o["padding"]] * 4, **extents)], {}
    if row.op == "attention":
        heads = {"num_heads": o["heads"], "unidirectional": int(o["causal"])}
        return [node("MultiHeadAttention", ["q", "k", "v"], "out", "com.microsoft", **heads)], {}
    if row.op == "layer_norm":
        return [
            node("LayerNormalization", ["x", "gamma", "beta"], "out", axis=-1, epsilon=1e-5)
        ], {}
    if row.op == "variance":
        return [
            node("ReduceMean", ["x"], "mean", axes=[o["axis"]], keepdims=1),
            node("Sub", ["x", "mean"], "off"),
            node("Mul", ["off", "off"], "square"),
            node("ReduceMean", ["square"], "out", axes=[o["axis"]], keepdims=0),
        ], {}
    if row.op == "chain":
        nodes, value = [], "x"
        for i in range(0, o["length"], 2):
            last = "out" if i + 2 >= o["length"] else f"v{i + 1}"
            nodes += [node("Add", [value, "y"], f"v{i}"), node("Relu", [f"v{i}"], last)]
            value = last
        return nodes, {}
    if row.op == "sum":
        return [node("ReduceSum", ["x", "axes"], "out", keepdims=0)], axes
    if row.op == "softmax":
        return [node("Softmax", ["x"], "out", axis=row.options["axis"])], {}
    if row.op == "transpose":
        return [node("Transpose", ["x"], "out", perm=[1, 0])], {}
    if row.op in ("upload", "readback"):
        return [node("Add", ["x", "zero"], "out")], zero
    return [node({"relu": "Relu", "add": "Add"}[row.op], list(row.inputs), "out")], {}


def attention_of_parts(row: Row) -> tuple[bytes, dict[str, tuple[int, ...]]]:
    """Return attention without its operator, and its shapes. "mask" is added to the scores."""
    *_, length, width = row.out
    placed = dict.fromkeys(("q", "k", "v", "out"), row.out)
    scale = np.array(1 / sqrt(width), np.float16 if row.dtype == "f16" else np.float32)
    nodes = [
        node("Transpose", ["k"], "turned", perm=[0, 1, 3, 2]),
        node("MatMul", ["q", "turned"], "products"),
        node("Mul", ["products", "scale"], "scores"),
    ]
    if row.options["causal"]:
        placed["mask"] = (length, length)
        nodes.append(node("Add", ["scores", "mask"], "masked"))
    seen = "masked" if row.options["causal"] else "scores"
    nodes.append(node("Softmax", [seen], "shares", axis=-1))
    nodes.append(node("MatMul", ["shares", "v"], "out"))
    constants = {"scale": (row.dtype, (1,), scale.tobytes())}
    return _model(nodes, constants, placed, row.dtype), placed


def shapes(row: Row) -> Mapping[str, tuple[int, ...]]:
    """Return the shapes of the row's inputs and "out" in its model."""
    found = {name: x.shape for name, x in row.inputs.items()} | {"out": row.out}
    if row.op == "attention":
        _, heads, length, width = row.out
        return dict.fromkeys(found, (1, length, heads * width))
    return found


def model(row: Row) -> bytes:
    """Return the row's model."""
    nodes, constants = _graph(row)
    return _model(nodes, constants, shapes(row), row.dtype, _CONSTANTS.get(row.op, ()))


def _model(
    nodes: Sequence[bytes],
    constants: Mapping[str, tuple[str, tuple[int, ...], bytes]],
    placed: Mapping[str, tuple[int, ...]],
    dtype: str,
    outside: Sequence[str] = (),
) -> bytes:
    """Return a model of some nodes.

    ``placed`` has the shapes of its inputs, of the constants outside the model and of "out".
    """
    given = [constant(name, dtype, placed[name], None) for name in outside]
    given += [constant(name, *kept) for name, kept in constants.items()]
    values = {name: value(name, dtype, placed[name]) for name in placed if name not in outside}
    out = values.pop("out")
    return onnx.model(nodes, given, list(values.values()), [out])
