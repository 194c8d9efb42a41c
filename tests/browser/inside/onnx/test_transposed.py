"""Biases and activations after ConvTranspose, with the results of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

OPERATOR = "TransposedActivated"


def data(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def model(
    outputs: str, w: tuple[int, ...], bias: tuple[int, ...] | None, activation: str,
    own_bias: bool = False, dtype: Any = np.float32, **options: Any,
) -> bytes:  # fmt: skip
    """Return a model of ConvTranspose, Add and an activation, of which two may be left out."""
    weights = {"w": data(*w, dtype=dtype)}
    names, last = "x w", "a"
    if own_bias:
        weights["b"], names = data(w[1] * options.get("group", 1), dtype=dtype), "x w b"
    nodes = [node("ConvTranspose", names, "a", **options)]
    if bias is not None:
        weights["c"] = data(*bias, dtype=dtype)
        nodes.append(node("Add", "a c", "s"))
        last = "s"
    nodes.append(node(activation or "Identity", last, "y"))
    return making.model(nodes, [value("x", dtype)], outputs, weights)


def check(bg: Any, x: np.ndarray, *described: Any, folded: bool = True, **options: Any) -> None:
    """Compare with a model whose convolution is another output, so that its nodes stay."""
    made = bg.onnx.load(model("y", *described, dtype=x.dtype, **options))
    plain = bg.onnx.load(model("y a", *described, dtype=x.dtype, **options))
    assert (OPERATOR in made.explain().operators) == folded
    assert OPERATOR not in plain.explain().operators
    want = plain(x)[0].numpy()
    tolerance = 1e-2 if x.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(made(x).numpy(), want, rtol=tolerance, atol=tolerance)
    fast = bg.jit(made)
    for _ in range(3):
        again = fast(x)
    np.testing.assert_allclose(again.numpy(), want, rtol=tolerance, atol=tolerance)


TWICE = {"strides": [2, 2], "kernel_shape": [2, 2]}
#: The shapes of the image, the filters and the bias, the activation, options, and whether the nodes
#: are one.
CASES: dict[str, Any] = {
    "bias and activation": ((2, 3, 4, 5), (3, 4, 2, 2), (1, 4, 1, 1), "Relu", TWICE, True),
    "bias": ((1, 3, 4, 5), (3, 4, 2, 2), (4, 1, 1), "", TWICE, True),
    "activation": ((1, 3, 4, 5), (3, 1, 2, 2), None, "Sigmoid", TWICE, True),
    "own bias": ((1, 3, 4, 5), (3, 4, 2, 2), None, "HardSwish", TWICE | {"own_bias": True}, True),
    "groups": ((2, 6, 4, 5), (6, 2, 2, 3), (1, 4, 1, 1), "Tanh",
               {"strides": [2, 3], "group": 2}, True),
    "own bias of groups": ((1, 6, 4, 5), (6, 2, 2, 2), None, "Elu",
                           {"strides": [2, 2], "group": 2, "own_bias": True}, True),
    "a row": ((2, 3, 5), (3, 4, 3), (4, 1), "LeakyRelu", {"strides": [3]}, True),
    "a volume": ((1, 3, 2, 3, 2), (3, 2, 2, 1, 2), (2, 1, 1, 1), "Relu",
                 {"strides": [2, 1, 2]}, True),
    "a larger kernel": ((1, 3, 4, 5), (3, 4, 3, 3), (1, 4, 1, 1), "Relu",
                        {"strides": [2, 2]}, True),
    "a smaller kernel": ((1, 3, 4, 5), (3, 4, 1, 1), (1, 4, 1, 1), "Relu",
                         {"strides": [2, 2]}, True),
    "a bias of columns": ((1, 3, 4, 5), (3, 4, 2, 2), (10,), "Relu", TWICE, True),
    "a bias that broadcasts": ((1, 3, 4, 5), (3, 4, 2, 2), (2, 1, 4, 1, 1), "Relu", TWICE, True),
    "pads": ((1, 3, 4, 5), (3, 4, 2, 2), (1, 4, 1, 1), "Relu",
             TWICE | {"pads": [1, 0, 0, 1]}, False),
    "output padding": ((1, 3, 4, 5), (3, 4, 2, 2), (1, 4, 1, 1), "Relu",
                       TWICE | {"output_padding": [1, 0]}, False),
    "no strides": ((1, 3, 4, 5), (3, 4, 2, 2), (1, 4, 1, 1), "Relu", {}, False),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_nodes_after_a_transposed_convolution(bg: Any, case: str) -> None:
    image, w, bias, activation, options, folded = CASES[case]
    check(bg, data(*image), w, bias, activation, folded=folded, **options)


def test_halves(bg: Any) -> None:
    if "shader-f16" not in bg.asarray(data(1)).device.features:
        pytest.skip("the GPU has no float16")
    x = data(1, 3, 4, 5, dtype=np.float16)
    check(bg, x, (3, 4, 2, 2), (1, 4, 1, 1), "Relu", **TWICE)


def test_two_kernels(bg: Any) -> None:
    call = bg.jit(bg.onnx.load(model("y", (3, 4, 2, 2), (1, 4, 1, 1), "Relu", **TWICE)))
    for _ in range(3):
        call(data(1, 3, 4, 5))
    assert call.explain().variants[-1]["kernels"] == 2


def test_gradients(bg: Any) -> None:
    x = data(1, 3, 4, 5)
    found = []
    for outputs in ("y", "y a"):
        own = bg.onnx.load(model(outputs, (3, 4, 2, 2), (1, 4, 1, 1), "Tanh", **TWICE))
        own.requires_grad_()
        y = own(x)
        (y[0] if isinstance(y, tuple) else y).sum().backward()
        found.append({name: one.grad.numpy() for name, one in own.named_parameters()})
    assert found[0].keys() == {"w", "c"}
    for name, want in found[1].items():
        np.testing.assert_allclose(found[0][name], want, rtol=1e-5, atol=1e-5)
