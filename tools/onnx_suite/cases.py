"""Test cases of the package onnx: models, inputs and expected outputs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """A model with inputs and outputs.

    Attributes
    ----------
    name : str
        The case's name.
    model : bytes
        The model.
    inputs, outputs : list
        Arrays, lists of arrays, or None.
    rtol, atol : float
        Tolerances.
    operators : frozenset of str
        The operators of the model.
    types : frozenset of str
        Types of the model's inputs and outputs.
    """

    name: str
    model: bytes
    inputs: list[Any]
    outputs: list[Any]
    rtol: float
    atol: float
    operators: frozenset[str]
    types: frozenset[str]


def node_cases() -> Iterator[Case]:
    """Iterate over the cases that onnx generates for its operators."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    for one in sorted(found, key=lambda one: one.name):
        inputs, outputs = one.data_sets[0]
        yield _case(one.name, one.model, inputs, outputs, one.rtol, one.atol)


def light_cases() -> Iterator[Case]:
    """Iterate over the nine models with weights that are computed, and their outputs."""
    import onnx
    import onnx.backend.test

    folder = os.path.join(os.path.dirname(onnx.backend.test.__file__), "data", "light")
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".onnx"):
            continue
        model = onnx.load(os.path.join(folder, file))
        stem = file.removesuffix(".onnx")
        expected = onnx.TensorProto()
        with open(os.path.join(folder, f"{stem}_output_0.pb"), "rb") as data:
            expected.ParseFromString(data.read())
        initial = {one.name for one in model.graph.initializer}
        inputs = []
        for one in model.graph.input:
            if one.name not in initial:
                shape = [dim.dim_value for dim in one.type.tensor_type.shape.dim]
                count = int(np.prod(shape))
                values = np.arange(count).reshape(shape) / count
                inputs.append(values.astype(np.float32))
        yield _case(stem, model, inputs, [onnx.numpy_helper.to_array(expected)], 1e-3, 1e-5)


def _case(name: str, model: Any, inputs: Any, outputs: Any, rtol: float, atol: float) -> Case:
    values = [*model.graph.input, *model.graph.output]
    types = frozenset(_type(one.type) for one in values)
    operators = frozenset(node.op_type for node in model.graph.node)
    return Case(name, model.SerializeToString(), list(map(_plain, inputs)),
                list(map(_plain, outputs)), rtol, atol, operators, types)  # fmt: skip


def _type(kind: Any) -> str:
    import onnx

    which = kind.WhichOneof("value")
    if which != "tensor_type":
        return str(which)
    return str(onnx.TensorProto.DataType.Name(kind.tensor_type.elem_type)).lower()


def _plain(value: Any) -> Any:
    """Return an array of NumPy, or a list of arrays."""
    if hasattr(value, "SerializeToString"):
        from onnx import numpy_helper

        kind = type(value).__name__
        if kind == "TensorProto":
            return numpy_helper.to_array(value)
        return (numpy_helper.to_list if kind == "SequenceProto" else numpy_helper.to_optional)(
            value
        )
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return value
