"""Whole models: compiled, with dynamic shapes, control flow, other dtypes and gradients."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import messages, node, value
from inside.spies import dispatched

pytestmark = [pytest.mark.native, pytest.mark.firefox]

RNG = np.random.default_rng(3)
W = RNG.standard_normal((4, 3, 3, 3), dtype=np.float32)


def network() -> bytes:
    """Return a convolution, whose result is flattened by shape arithmetic, and a softmax."""
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("Shape", "r", "s"),
        node("Gather", "s zero", "n", axis=0),
        node("Unsqueeze", "n axis", "n1"),
        node("Concat", "n1 rest", "shape", axis=0),
        node("Reshape", "r shape", "flat"),
        node("ReduceMean", "flat one", "m", keepdims=1),
        node("Sub", "flat m", "y"),
    ]
    weights = {
        "w": W, "b": np.ones(4, np.float32), "zero": np.array(0), "axis": np.array([0]),
        "rest": np.array([-1]), "one": np.array([1]),
    }  # fmt: skip
    return making.model(nodes, [value("x", np.float32, ["n", 3, "h", "w"])], "y", weights)


def expected(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    flat = np.maximum(np.einsum("nchwij,ocij->nohw", windows, W) + 1, 0).reshape(len(x), -1)
    return flat - flat.mean(1, keepdims=True)


def test_shape_arithmetic_is_on_the_host(bg: Any) -> None:
    model = bg.onnx.load(network())
    x = RNG.standard_normal((2, 3, 5, 4), dtype=np.float32)
    np.testing.assert_allclose(model(x).numpy(), expected(x), rtol=1e-4, atol=1e-4)
    told = model.explain()
    assert told.nodes_on_host == 4
    assert told.reads == 0


def test_compiled_models_take_any_shape(bg: Any) -> None:
    model = bg.jit(bg.onnx.load(network()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for shape in ((1, 3, 4, 4), (2, 3, 5, 6)):
            for _ in range(3):
                x = RNG.standard_normal(shape, dtype=np.float32)
                found = model(x).numpy()
                np.testing.assert_allclose(found, expected(x), rtol=1e-4, atol=1e-4)


def test_norms_cost_no_kernels_of_their_own(bg: Any) -> None:
    def floats(*shape: int) -> np.ndarray:
        return RNG.standard_normal(shape, dtype=np.float32)

    weights = {"w1": floats(8, 4, 3, 3), "w2": floats(4, 8, 1, 1)}
    for at, channels in ((1, 8), (2, 4)):
        weights |= {f"{name}{at}": floats(channels) for name in "sbm"}
        weights[f"v{at}"] = np.abs(floats(channels)) + 0.5
    nodes = [
        node("Conv", "x w1", "c1", pads=[1, 1, 1, 1]),
        node("BatchNormalization", "c1 s1 b1 m1 v1", "n1"), node("Relu", "n1", "r1"),
        node("Conv", "r1 w2", "c2"), node("BatchNormalization", "c2 s2 b2 m2 v2", "n2"),
        node("Add", "n2 x", "sum"), node("Relu", "sum", "y"),
    ]  # fmt: skip
    model = bg.onnx.load(making.model(nodes, [value("x")], "y", weights))
    fast, x = bg.jit(model), bg.asarray(floats(2, 4, 6, 6))
    want = model(x).numpy()
    for _ in range(4):  # the values that are kept are computed first
        with dispatched(x.device) as names:
            found = fast(x).numpy()
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
    # The GPU chooses the kernel of a convolution.
    assert [name.partition("_")[0] for name in names] == ["conv2d", "conv2d"]
    with bg.no_grad():  # the folded values follow their parameters
        dict(model.named_parameters())["s1"][...] = 0.5
    want = model(x).numpy()
    np.testing.assert_allclose(fast(x).numpy(), want, rtol=1e-5, atol=1e-5)


def test_half(bg: Any) -> None:
    model = bg.onnx.load(network()).to(dtype="float16")
    x = RNG.standard_normal((1, 3, 4, 4), dtype=np.float32)
    found = model(x)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.numpy(), expected(x), rtol=2e-2, atol=2e-2)
    assert model.to(dtype="float32")(x).dtype == np.float32


def test_models_are_trained(bg: Any) -> None:
    weights = {"w": np.ones((3, 1), np.float32)}
    data = making.model([node("MatMul", "x w", "y")], [value("x")], "y", weights)
    model = bg.onnx.load(data)
    assert not next(model.parameters()).requires_grad
    model.requires_grad_()
    optimizer = bg.optim.SGD(model.parameters(), lr=0.1)
    x = bg.asarray(np.eye(3, dtype=np.float32))
    losses = []
    for _ in range(5):
        loss = ((model(x) - 2) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2


def branches() -> list[messages.Node]:
    then = making.graph([node("Add", "x x", "t")], [], "t")
    other = making.graph([node("Neg", "x", "t")], [], "t")
    return [node("If", "c", "y", then_branch=then, else_branch=other)]


def test_conditions(bg: Any) -> None:
    inputs = [value("x"), value("c", np.bool_, [])]
    model = bg.onnx.load(making.model(branches(), inputs, "y"))
    x = np.array([1, 2], np.float32)
    assert model(x, True).tolist() == [2, 4]
    assert model(x, False).tolist() == [-1, -2]
    assert model.explain().reads == 0  # Python's numbers stay on the host
    assert model(x, bg.asarray(True)).tolist() == [2, 4]
    assert model.explain().reads == 1
    compiled = bg.jit(model)
    for flag in (True, True, True, False, False, False):
        assert compiled(x, flag).tolist() == ([2, 4] if flag else [-1, -2])


def test_loops_and_scans(bg: Any) -> None:
    body = making.graph(
        [node("Add", "state x", "next"), node("Mul", "next next", "square"),
         node("Identity", "go", "again")],
        [value("i", np.int64), value("go", np.bool_), value("state")], "again next square",
    )  # fmt: skip
    nodes = [node("Loop", "trips _ begin", "end squares", body=body)]
    model = bg.onnx.load(making.model(
        nodes, [value("trips", np.int64, []), value("begin"), value("x")], "end squares"
    ))  # fmt: skip
    end, squares = model(3, np.zeros(2, np.float32), np.array([1, 2], np.float32))
    assert end.tolist() == [3, 6]
    assert squares.tolist() == [[1, 4], [4, 16], [9, 36]]
    begin = np.zeros(2, np.float32)
    with pytest.raises(ValueError, match="declares the types"):
        model(0, begin, begin)
    body.output[2] = value("square", np.int32, ["k"])
    model = bg.onnx.load(making.model(
        nodes, [value("trips", np.int64, []), value("begin"), value("x")], "end squares"
    ))  # fmt: skip
    squares = model(0, begin, begin)[1]
    assert (squares.dtype, squares.shape) == (np.int32, (0, 0))
    step = making.graph(
        [node("Add", "s v", "t"), node("Identity", "t", "o")], [value("s"), value("v")], "t o"
    )
    nodes = [node("Scan", "s0 v", "s1 sums", body=step, num_scan_inputs=1)]
    model = bg.onnx.load(making.model(nodes, [value("s0"), value("v")], "s1 sums"))
    last, sums = model(np.zeros(1, np.float32), np.arange(4, dtype=np.float32).reshape(4, 1))
    assert last.tolist() == [6]
    assert sums.reshape(-1).tolist() == [0, 1, 3, 6]


def test_functions_of_a_model(bg: Any) -> None:
    function = messages.Function(
        name="Scaled", domain="local", input=["a"], output=["b"], attribute=["factor"],
        node=[
            messages.Node(
                output=["f"], op_type="Constant",
                attribute=[messages.Attribute("value_float", ref_attr_name="factor", type=1)],
            ),
            node("Mul", "a f", "b"),
        ],
        opset_import=[messages.OperatorSet("", 21)],
    )  # fmt: skip
    whole = messages.Model(
        graph=making.graph([node("Scaled", "x", "y", "local", factor=3.0)], [value("x")], "y"),
        opset_import=[messages.OperatorSet("", 21), messages.OperatorSet("local", 1)],
        functions=[function],
    )
    model = bg.onnx.load(making.message_bytes(whole))
    assert model(np.array([1, 2], np.float32)).tolist() == [3, 6]


def test_large_and_dead_values_are_dropped(bg: Any) -> None:
    nodes = [node("Relu" if at else "Abs", f"v{at}", f"v{at + 1}") for at in range(3)]
    plan = bg.onnx.load(making.model(nodes, [value("v0")], "v3")).plan
    assert [one.dead for one in plan.nodes] == [("v0",), ("v1",), ("v2",)]


def test_names_of_attributes_and_copies(bg: Any) -> None:
    names = ("inputs", "plan", "context", "training", "_weights")
    weights = {name: np.full(2, at, np.float32) for at, name in enumerate(names)}
    nodes = [node("Sum", "x " + " ".join(names), "y")]
    model = bg.onnx.load(making.model(nodes, [value("x")], "y", weights))
    x = np.zeros(2, np.float32)
    assert model(x).tolist() == [10, 10]
    other = deepcopy(model)
    with bg.no_grad():
        dict(other.named_parameters())["plan"][...] = 5
    assert other(x).tolist() == [14, 14]
    assert model(x).tolist() == [10, 10]
    model.load_state_dict(other.state_dict())
    assert model(x).tolist() == [14, 14]
