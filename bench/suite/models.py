"""The rows as ONNX models, for onnxruntime-web: a few fields of ONNX's protobuf, written by hand.

https://github.com/onnx/onnx/blob/main/onnx/onnx.proto has the numbers of the fields. Weights are
constants outside the model ("external data"), which the page makes itself.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np

from suite.row import Row

_TYPES = {"f32": 1, "f16": 10, "i64": 7}
_WIDTHS = {"f32": 4, "f16": 2}
_CONSTANTS = {"conv2d": ("w",), "layer_norm": ("gamma", "beta")}


def _varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    if isinstance(value, float):
        return _field(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _field(20, 1)
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + b"".join(_field(8, each) for each in value) + _field(20, 7)


def _node(
    op: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any
) -> bytes:
    return (
        b"".join(_field(1, name) for name in inputs)
        + _field(2, output)
        + _field(4, op)
        + b"".join(_field(5, _attribute(*item)) for item in attributes.items())
        + (_field(7, domain) if domain else b"")
    )


def _value(name: str, dtype: str, shape: Sequence[int]) -> bytes:
    dimensions = b"".join(_field(1, _field(1, extent)) for extent in shape)
    tensor = _field(1, _TYPES[dtype]) + _field(2, dimensions)
    return _field(1, name) + _field(2, _field(1, tensor))


def _constant(name: str, dtype: str, shape: Sequence[int], data: bytes | None) -> bytes:
    head = b"".join(_field(1, extent) for extent in shape) + _field(2, _TYPES[dtype])
    head += _field(8, name)
    if data is not None:
        return head + _field(9, data)
    length = str(_WIDTHS[dtype] * prod(shape))
    place = (("location", name), ("offset", "0"), ("length", length))
    entries = (_field(13, _field(1, key) + _field(2, value)) for key, value in place)
    return head + b"".join(entries) + _field(14, 1)


def _int64(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def _graph(row: Row) -> tuple[list[bytes], dict[str, tuple[str, tuple[int, ...], bytes]]]:
    """The nodes from the row's inputs to "out", and the small constants that they need."""
    o = row.options
    axes = {"axes": ("i64", (1,), _int64(o.get("axis", 0)))}
    zero = {"zero": ("f32", (1,), bytes(4))}
    if row.op == "matmul":
        flips = {f"trans{x.upper()}": 1 for x in "ab" if o.get(f"transpose_{x}")}
        return [_node("Gemm" if flips else "MatMul", ["a", "b"], "out", **flips)], {}
    if row.op == "conv2d":
        extents = {"kernel_shape": row.inputs["w"].shape[2:], "strides": [o["stride"]] * 2}
        return [_node("Conv", ["x", "w"], "out", pads=[o["padding"]] * 4, **extents)], {}
    if row.op == "attention":
        heads = {"num_heads": o["heads"], "unidirectional": int(o["causal"])}
        return [_node("MultiHeadAttention", ["q", "k", "v"], "out", "com.microsoft", **heads)], {}
    if row.op == "layer_norm":
        return [
            _node("LayerNormalization", ["x", "gamma", "beta"], "out", axis=-1, epsilon=1e-5)
        ], {}
    if row.op == "variance":
        return [
            _node("ReduceMean", ["x"], "mean", axes=[o["axis"]], keepdims=1),
            _node("Sub", ["x", "mean"], "off"),
            _node("Mul", ["off", "off"], "square"),
            _node("ReduceMean", ["square"], "out", axes=[o["axis"]], keepdims=0),
        ], {}
    if row.op == "chain":
        nodes, value = [], "x"
        for i in range(0, o["length"], 2):
            last = "out" if i + 2 >= o["length"] else f"v{i + 1}"
            nodes += [_node("Add", [value, "y"], f"v{i}"), _node("Relu", [f"v{i}"], last)]
            value = last
        return nodes, {}
    if row.op == "sum":
        return [_node("ReduceSum", ["x", "axes"], "out", keepdims=0)], axes
    if row.op == "softmax":
        return [_node("Softmax", ["x"], "out", axis=-1)], {}
    if row.op == "transpose":
        return [_node("Transpose", ["x"], "out", perm=[1, 0])], {}
    if row.op in ("upload", "readback"):
        return [_node("Add", ["x", "zero"], "out")], zero
    return [_node({"relu": "Relu", "add": "Add"}[row.op], list(row.inputs), "out")], {}


def attention_of_parts(row: Row) -> tuple[bytes, dict[str, tuple[int, ...]]]:
    """Attention without the operator for it, and its shapes; "mask" is added to the scores."""
    *_, length, width = row.out
    placed = dict.fromkeys(("q", "k", "v", "out"), row.out)
    scale = np.array(1 / sqrt(width), np.float16 if row.dtype == "f16" else np.float32)
    nodes = [
        _node("Transpose", ["k"], "turned", perm=[0, 1, 3, 2]),
        _node("MatMul", ["q", "turned"], "products"),
        _node("Mul", ["products", "scale"], "scores"),
    ]
    if row.options["causal"]:
        placed["mask"] = (length, length)
        nodes.append(_node("Add", ["scores", "mask"], "masked"))
    seen = "masked" if row.options["causal"] else "scores"
    nodes.append(_node("Softmax", [seen], "shares", axis=-1))
    nodes.append(_node("MatMul", ["shares", "v"], "out"))
    constants = {"scale": (row.dtype, (1,), scale.tobytes())}
    return _model(nodes, constants, placed, row.dtype), placed


def shapes(row: Row) -> Mapping[str, tuple[int, ...]]:
    """The shapes that the row's inputs and "out" have in its model."""
    found = {name: x.shape for name, x in row.inputs.items()} | {"out": row.out}
    if row.op == "attention":
        _, heads, length, width = row.out
        return dict.fromkeys(found, (1, length, heads * width))
    return found


def model(row: Row) -> bytes:
    """The row's model."""
    nodes, constants = _graph(row)
    return _model(nodes, constants, shapes(row), row.dtype, _CONSTANTS.get(row.op, ()))


def _model(
    nodes: Sequence[bytes],
    constants: Mapping[str, tuple[str, tuple[int, ...], bytes]],
    placed: Mapping[str, tuple[int, ...]],
    dtype: str,
    outside: Sequence[str] = (),
) -> bytes:
    """A model of some nodes. ``placed`` has the shapes of its inputs, of the constants outside
    the model and of "out"."""
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "row")
    for name in outside:
        graph += _field(5, _constant(name, dtype, placed[name], None))
    for name, (kind, shape, data) in constants.items():
        graph += _field(5, _constant(name, kind, shape, data))
    for name in placed:
        if name not in outside:
            graph += _field(12 if name == "out" else 11, _value(name, dtype, placed[name]))
    versions = _field(8, _field(1, "") + _field(2, 17))
    versions += _field(8, _field(1, "com.microsoft") + _field(2, 1))
    return _field(1, 8) + _field(7, graph) + versions
