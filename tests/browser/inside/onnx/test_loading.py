"""Files: what a model tells, and what is refused before anything is allocated."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inside.onnx import making
from inside.onnx.making import message_bytes, messages, node, value

pytestmark = pytest.mark.native

X = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def layer(**options: Any) -> bytes:
    nodes = [node("MatMul", "x w", "h", name="product"), node("Relu", "h", "y", name="relu")]
    options = {"inputs": [value("x", np.float32, ["batch", 3])], "weights": {"w": W}, **options}
    return making.model(options.pop("nodes", nodes), options.pop("inputs"), "y", **options)


def test_what_a_model_tells(bg: Any) -> None:
    model = bg.onnx.load(layer())
    assert model.input_names == ("x",)
    assert model.output_names == ("y",)
    assert model.inputs[0].shape == ("batch", 3)
    assert model.inputs[0].dtype == "float32"
    assert model.opsets == {"": 21}
    assert model.producer == "tests"
    assert [name for name, _ in model.named_parameters()] == ["w"]
    text = repr(model)
    for part in ("2 nodes, 6 parameters", "x [batch, 3] float32", "MatMul", "product", "relu"):
        assert part in text
    np.testing.assert_allclose(model(X).numpy(), X @ W)
    np.testing.assert_allclose(model(x=-X).numpy(), 0)
    told = model.explain()
    assert (told.nodes_on_gpu, told.nodes_on_host, told.reads) == (2, 0, 0)
    assert told.operators == {"MatMul": 1, "Relu": 1}
    assert told.weight_bytes == W.nbytes
    assert "2 nodes on the GPU" in repr(told)


def test_shapes_of_results_are_those_of_the_last_call(bg: Any) -> None:
    model = bg.onnx.load(layer())
    assert model.explain().shapes == {}
    model(X)
    assert model.explain().shapes == {"h": "[2, 2] float32", "y": "[2, 2] float32"}
    assert "relu     y       [2, 2] float32" in repr(model)
    bg.jit(model)(np.concatenate([X, X]))
    assert model.explain().shapes["y"] == "[4, 2] float32"


def test_sources(bg: Any, tmp_path: Path) -> None:
    data = layer()
    path = tmp_path / "layer.onnx"
    path.write_bytes(data)

    class Proto:
        def SerializeToString(self) -> bytes:
            return data

    for source in (path, str(path), bytearray(data), io.BytesIO(data), Proto()):
        np.testing.assert_allclose(bg.onnx.load(source)(X).numpy(), X @ W)
    with pytest.raises(ValueError, match=r"an existing file, got 'no.onnx'"):
        bg.onnx.load("no.onnx")
    with pytest.raises(TypeError, match="source must be a path, bytes, or a binary file, got 3"):
        bg.onnx.load(3)


def test_addresses_are_fetched(bg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu.engine.gpu import content

    files = {"https://host/m.onnx": outside("w.bin"), "https://host/w.bin": W.tobytes()}

    async def fetch(url: str, report: Any) -> bytes:
        if url not in files:
            raise OSError(f"{url}: status 404")
        return files[url]

    monkeypatch.setattr(content, "fetch", fetch)
    external = {"w.bin": "https://host/w.bin"}
    model = bg.onnx.load("https://host/m.onnx", external=external)
    np.testing.assert_allclose(model(X).numpy(), X @ W)
    with pytest.raises(OSError, match="status 404"):
        bg.onnx.load("https://host/other.onnx")


def test_inputs_are_checked(bg: Any) -> None:
    model = bg.onnx.load(layer())
    for args, named, wrong in (
        ((), {}, "inputs must be given for x, got none for x"),
        ((X, X), {}, "at most 1 inputs, got 2"),
        ((X,), {"x": X}, "input must be given once, got 'x'"),
        ((), {"z": X}, "input must be one of x, got 'z'"),
        ((X.T,), {}, r"x must have shape \[batch, 3\] float32, got shape \(3, 2\)"),
        ((X.astype(np.int64),), {}, "x must be float32, got int64"),
    ):
        with pytest.raises(ValueError, match=wrong):
            model(*args, **named)


def test_errors_name_the_node(bg: Any) -> None:
    model = bg.onnx.load(layer(inputs=[value("x")]))
    with pytest.raises(ValueError, match="matmul") as caught:
        model(X.T)
    assert "node 'product' (MatMul)" in caught.value.__notes__[0]
    assert "x (3, 2) float32, w (3, 2) float32" in caught.value.__notes__[0]


def test_missing_operators_are_all_listed(bg: Any) -> None:
    nodes = [node("Nonsense", "x", "h", name="first"), node("Other", "h", "y", "com.example")]
    with pytest.raises(NotImplementedError) as caught:
        bg.onnx.load(layer(nodes=nodes, com_example=3))
    assert "Nonsense, opset 21 (node 'first')" in str(caught.value)
    assert "com.example.Other, opset 3 (node 'Other_1')" in str(caught.value)


def test_own_operators(bg: Any) -> None:
    @bg.onnx.operator("Shifted", domain="com.example")
    def shifted(x: Any, y: Any = None, *, by: float = 2.0) -> Any:
        return x + by

    model = bg.onnx.load(layer(nodes=[node("Shifted", "x", "y", "com.example", by=0.5)],
                               com_example=1))  # fmt: skip
    np.testing.assert_allclose(model(X).numpy(), X + 0.5)
    for inputs, options, wrong in (
        ("x", {"b": 1.0}, "attribute must be one of by, got 'b'"),
        ("x x x", {}, "have 1 to 2 inputs, got 3 inputs"),
    ):
        nodes = [node("Shifted", inputs, "y", "com.example", name="n", **options)]
        with pytest.raises(ValueError, match=wrong):
            bg.onnx.load(layer(nodes=nodes, com_example=1))
    with pytest.raises(TypeError, match="function must be a function"):
        bg.onnx.operator("No")(3)


def changed(**fields: Any) -> bytes:
    """Return the layer, whose weight has other fields."""
    one = making.tensor(W, "w")
    for name, new in fields.items():
        setattr(one, name, new)
    graph = making.graph([node("MatMul", "x w", "y")], [value("x")], "y")
    graph.initializer = [one]
    whole = messages.Model(graph=graph, opset_import=[messages.OperatorSet("", 21)])
    return message_bytes(whole)


def outside(location: str, **entries: str) -> bytes:
    pairs = {"location": location, **entries}
    found = [messages.Entry(key, text) for key, text in pairs.items()]
    return changed(raw_data=None, data_location=1, external_data=found)


BAD = {
    "empty": (b"", "an empty file"),
    "no graph": (message_bytes(messages.Model(ir_version=9)), "a file without a graph"),
    "text": (b"<html>", "an ONNX model"),
    "truncated": (layer()[:-20], r"an ONNX model, got a field of \d+ bytes where \d+ are left"),
    "opset": (layer(opset=99), "opset must be from 1 to 28, got 99"),
    "wrong size": (changed(dims=[3, 3]), r"an array of 36 bytes, got 24 bytes for shape \(3, 3\)"),
    "negative": (changed(dims=[-3, -2]), "a shape of numbers of at least 0"),
    "huge": (changed(dims=[1 << 40, 1 << 40]), "got 24 bytes"),
    "huge and empty": (changed(dims=[50_000, 50_000], raw_data=None), "2500000000 values"),
    "unknown type": (changed(data_type=77), "elements of ONNX's type 77"),
    "strings": (changed(data_type=8), "has strings, which the GPU has not"),
    "no file": (outside("w.bin"), "no file|a file of the argument external"),
    "leaves": (outside("../w.bin"), "in the model's folder, got the file '../w.bin'"),
    "absolute": (outside("/etc/passwd"), "in the model's folder, got the file '/etc/passwd'"),
    "offset": (outside("w.bin", offset="-4"), "an array whose offset is at least 0"),
    "cycle": (
        layer(nodes=[node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b", "y")]),
        "a cycle, with node 0 .Add.",
    ),
    "no source": (layer(nodes=[node("Add", "x gone", "y")]), "the input 'gone' of node 0"),
    "twice": (layer(nodes=[node("Relu", "x", "y"), node("Abs", "x", "y")]), "two values"),
    "no output": (layer(nodes=[node("Relu", "x", "z")]), "the output 'y', which no node"),
    "no attribute": (layer(nodes=[node("Concat", "x x", "y")]), "have the attribute 'axis'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(bg: Any, name: str) -> None:
    data, wrong = BAD[name]
    with pytest.raises((ValueError, NotImplementedError), match=wrong):
        bg.onnx.load(data)


def test_nodes_in_any_order(bg: Any) -> None:
    nodes = [node("Relu", "h", "y"), node("MatMul", "x w", "h")]
    np.testing.assert_allclose(bg.onnx.load(layer(nodes=nodes))(X).numpy(), X @ W)


def test_external_data(bg: Any, tmp_path: Path) -> None:
    data = outside("w.bin", offset="8", length=str(W.nbytes))
    model = bg.onnx.load(data, external={"w.bin": b"12345678" + W.tobytes()})
    np.testing.assert_allclose(model(X).numpy(), X @ W)
    (tmp_path / "m.onnx").write_bytes(data)
    (tmp_path / "w.bin").write_bytes(b"12345678" + W.tobytes())
    np.testing.assert_allclose(bg.onnx.load(tmp_path / "m.onnx")(X).numpy(), X @ W)
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    with pytest.raises(ValueError, match=r"a file of at least 32 bytes, got 24 bytes in 'w.bin'"):
        bg.onnx.load(tmp_path / "m.onnx")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "m.onnx").write_bytes(data)
    (tmp_path / "inner" / "w.bin").symlink_to(tmp_path / "w.bin")
    with pytest.raises(ValueError, match="which leads out of it"):
        bg.onnx.load(tmp_path / "inner" / "m.onnx")


@given(st.integers(0, 400), st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_changed_bytes_raise_or_load(bg: Any, at: int, byte: int) -> None:
    data = bytearray(layer())
    data[at % len(data)] = byte
    with suppress(ValueError, NotImplementedError):
        bg.onnx.load(bytes(data))


def test_graphs_within_graphs_have_a_limit(bg: Any) -> None:
    inner = making.graph([node("Relu", "x", "y")], [], "y")
    for _ in range(30):
        branches = {"then_branch": inner, "else_branch": making.graph([], [], "x")}
        inner = making.graph([node("If", "c", "y", **branches)], [], "y")
    data = making.model(inner.node, [value("x"), value("c", np.bool_)], "y")
    with pytest.raises(ValueError, match="of at most 24 levels"):
        bg.onnx.load(data)
