"""Pad before convolutions and pools becomes their ``pads``, with the results of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

PADS = [0, 0, 1, 0, 0, 0, 2, 1]
EVEN = [0, 0, 1, 1, 0, 0, 1, 1]
LOWEST = -np.inf
POOL = {"kernel_shape": [3, 3]}


def data(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def model(
    kind: str, around: Any, number: float | None = None, /, *, mode: str = "constant",
    opset: int = 21, before: str = "", outputs: str = "y", axes: Any = None,
    dynamic: bool = False, **options: Any,
) -> bytes:  # fmt: skip
    """Return a model of Pad and another node. ``before`` is an operator before them."""
    weights: dict[str, Any] = {}
    if kind == "Conv":
        weights["w"] = data(5, 4, 3, 3)
    if opset < 11:
        given = {"pads": around, "mode": mode, **({} if number is None else {"value": number})}
        pad = node("Pad", "a" if before else "x", "p", **given)
    else:
        names = ["a" if before else "x", "n"]
        if not dynamic:
            weights["n"] = np.array(around)
        names.append("v" if number is not None else "_")
        if number is not None:
            weights["v"] = np.array(number, np.float32)
        if axes is not None:
            names.append("o")
            weights["o"] = np.array(axes)
        while names[-1] == "_":
            names.pop()
        pad = node("Pad", " ".join(names), "p", mode=mode)
    nodes = [
        *([node(before, "x", "a")] if before else []), pad,
        node(kind, "p w" if kind == "Conv" else "p", "y", **options),
    ]  # fmt: skip
    inputs = [value("x"), *([value("n", np.int64)] if dynamic else [])]
    return making.model(nodes, inputs, outputs, weights, opset=opset)


def check(bg: Any, file: bytes, *inputs: Any, folded: bool, whole: bytes = b"") -> None:
    """Compare a model with the results of one whose Pad stays, as another output."""
    made, plain = bg.onnx.load(file), bg.onnx.load(whole)
    assert ("Pad" not in made.explain().operators) == folded
    assert "Pad" in plain.explain().operators
    want = plain(*inputs)[0].numpy()
    found = made(*inputs)
    found = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-5, atol=1e-5)
    fast = bg.jit(made)
    for _ in range(3):
        again = fast(*inputs)
    again = again[0] if isinstance(again, tuple) else again
    np.testing.assert_allclose(again.numpy(), want, rtol=1e-5, atol=1e-5)


#: The node, its pads, their number, other options, and whether they become the node's own.
CASES: dict[str, Any] = {
    "conv": ("Conv", PADS, None, {}, True),
    "conv, zero": ("Conv", PADS, 0.0, {"pads": [1, 0, 2, 1], "strides": [2, 1]}, True),
    "conv, valid": ("Conv", PADS, 0.0, {"auto_pad": "VALID"}, True),
    "conv, same": ("Conv", PADS, 0.0, {"auto_pad": "SAME_UPPER"}, False),
    "conv, one": ("Conv", PADS, 1.0, {}, False),
    "conv, channels": ("Conv", [0, 1, 0, 0, 0, -1, 1, 1], 0.0, {}, False),
    "conv, cropped": ("Conv", [0, 0, -1, 0, 0, 0, 1, 0], 0.0, {}, False),
    "conv, reflected": ("Conv", PADS, None, {"mode": "reflect"}, False),
    "conv, opset 10": ("Conv", PADS, None, {"opset": 10}, True),
    "conv, opset 10, one": ("Conv", PADS, 1.0, {"opset": 10}, False),
    "conv, axes": ("Conv", [1, 0, 2, 1], 0.0, {"axes": [2, 3]}, False),
    "maximum": ("MaxPool", PADS, LOWEST, POOL, True),
    "maximum, even": ("MaxPool", EVEN, LOWEST, {**POOL, "strides": [2, 2]}, True),
    "maximum, zero": ("MaxPool", PADS, 0.0, POOL, False),
    "maximum, zero after relu": ("MaxPool", PADS, 0.0, {**POOL, "before": "Relu"}, True),
    "maximum, zero, all": (
        "MaxPool", [0, 0, 3, 0, 0, 0, 0, 0], 0.0, {**POOL, "before": "Relu"}, False
    ),
    "maximum, rounded up": ("MaxPool", PADS, LOWEST, {**POOL, "ceil_mode": 1}, False),
    "mean": ("AveragePool", PADS, 0.0, POOL, True),
    "mean, even": ("AveragePool", EVEN, 0.0, {**POOL, "strides": [2, 2]}, True),
    "mean, pads": ("AveragePool", PADS, 0.0, {**POOL, "pads": [1, 1, 1, 1]}, False),
    "mean, counted pads": (
        "AveragePool", PADS, 0.0, {**POOL, "pads": [1, 1, 1, 1], "count_include_pad": 1}, True
    ),
    "mean, rounded up": (
        "AveragePool", PADS, 0.0, {**POOL, "ceil_mode": 1, "strides": [2, 2]}, False
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pads(bg: Any, case: str) -> None:
    kind, pads, number, options, folded = CASES[case]
    x = data(2, 4, 6, 7)
    x[0, 0, 0, 0] = np.nan if kind == "MaxPool" else x[0, 0, 0, 0]
    whole = model(kind, pads, number, outputs="y p", **options)
    check(bg, model(kind, pads, number, **options), x, folded=folded, whole=whole)


@pytest.mark.filterwarnings("ignore:jit")
def test_pads_of_an_input(bg: Any) -> None:
    x = data(2, 4, 6, 7)
    file, whole = (model("Conv", PADS, outputs=one, dynamic=True) for one in ("y", "y p"))
    check(bg, file, x, np.array(PADS), folded=False, whole=whole)


def test_gradients(bg: Any) -> None:
    slopes = []
    for outputs in ("y", "y p"):
        made = bg.onnx.load(model("Conv", PADS, outputs=outputs)).requires_grad_()
        x = bg.nn.Parameter(bg.asarray(data(2, 4, 6, 7)))
        found = made(x)
        bg.sum((found[0] if isinstance(found, tuple) else found) ** 2).backward()
        slopes.append([x.grad.numpy(), *(one.grad.numpy() for one in made.parameters())])
    for one, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
