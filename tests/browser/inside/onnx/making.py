"""Models for tests, made of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from browsergpu.onnx.graph.types import NUMBERS
from browsergpu.onnx.wire import messages
from browsergpu.onnx.wire.writer import message_bytes


def tensor(values: Any, name: str = "") -> messages.Tensor:
    """Return a tensor of a NumPy array."""
    own = np.asarray(values)
    return messages.Tensor(
        dims=list(own.shape), data_type=NUMBERS[own.dtype], name=name,
        raw_data=memoryview(own.tobytes()),
    )  # fmt: skip


def attribute(name: str, value: Any) -> messages.Attribute:
    """Return an attribute of a number, text, list, array or graph."""
    one = messages.Attribute(name=name)
    if isinstance(value, messages.Graph):
        one.g, one.type = value, 5
    elif isinstance(value, np.ndarray):
        one.t, one.type = tensor(value), 4
    elif isinstance(value, str):
        one.s, one.type = memoryview(value.encode()), 3
    elif isinstance(value, float):
        one.f, one.type = value, 1
    elif isinstance(value, int):
        one.i, one.type = int(value), 2
    elif value and isinstance(value[0], float):
        one.floats, one.type = np.array(value, np.float32), 6
    elif value and isinstance(value[0], str):
        one.strings, one.type = [memoryview(text.encode()) for text in value], 8
    else:
        one.ints, one.type = list(value), 7
    return one


def node(
    kind: str, inputs: str, outputs: str, domain: str = "", name: str = "", **attributes: Any
) -> messages.Node:
    """Return a node. Names of values are separated by spaces, and _ is a missing one."""
    return messages.Node(
        input=["" if one == "_" else one for one in inputs.split()], output=outputs.split(),
        name=name, op_type=kind, domain=domain,
        attribute=[attribute(key, value) for key, value in attributes.items()],
    )  # fmt: skip


def value(name: str, dtype: Any = np.float32, shape: Sequence[Any] | None = None) -> Any:
    """Return the description of a value. Extents are numbers, or names of dynamic ones."""
    kind = messages.TensorType(NUMBERS[np.dtype(dtype)])
    if shape is not None:
        kind.shape = messages.TensorShape([
            messages.Dimension(None, n) if isinstance(n, str) else messages.Dimension(n)
            for n in shape
        ])  # fmt: skip
    return messages.ValueInfo(name, messages.Type(tensor_type=kind))


def graph(
    nodes: Sequence[messages.Node], inputs: Sequence[Any], outputs: str,
    weights: Mapping[str, Any] | None = None,
) -> messages.Graph:  # fmt: skip
    """Return a graph."""
    return messages.Graph(
        node=list(nodes), name="graph", input=list(inputs),
        output=[messages.ValueInfo(name) for name in outputs.split()],
        initializer=[tensor(x, name) for name, x in (weights or {}).items()],
    )  # fmt: skip


def model(
    nodes: Sequence[messages.Node], inputs: Sequence[Any], outputs: str,
    weights: Mapping[str, Any] | None = None, opset: int = 21, **domains: int,
) -> bytes:  # fmt: skip
    """Return the bytes of a model."""
    opsets = [messages.OperatorSet("", opset)]
    opsets += [messages.OperatorSet(name.replace("_", "."), n) for name, n in domains.items()]
    whole = messages.Model(
        ir_version=10, producer_name="tests", graph=graph(nodes, inputs, outputs, weights),
        opset_import=opsets,
    )  # fmt: skip
    return message_bytes(whole)


def compute(
    bg: Any, kind: str, inputs: Sequence[Any], outputs: int = 1, opset: int = 21,
    domain: str = "", **attributes: Any,
) -> list[np.ndarray]:  # fmt: skip
    """Return the results of one operator. All inputs are inputs of the model."""
    names = [f"x{at}" if x is not None else "_" for at, x in enumerate(inputs)]
    values = [value(f"x{at}", np.asarray(x).dtype) for at, x in enumerate(inputs) if x is not None]
    results = " ".join(f"y{at}" for at in range(outputs))
    domains = {domain.replace(".", "_"): 1} if domain else {}
    made = model(
        [node(kind, " ".join(names), results, domain, **attributes)], values, results, None, opset,
        **domains,
    )  # fmt: skip
    found = bg.onnx.load(made)(*[np.asarray(x) for x in inputs if x is not None])
    return [x.numpy() for x in (found if isinstance(found, tuple) else (found,))]
