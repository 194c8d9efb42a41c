"""Attention that graphs write as nodes: one kernel, with the results of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

LEAD, ROWS, KEYS, WIDTH = (2, 3), 4, 5, 8
SCALE = np.float32(2.5)
MASKS = [
    (ROWS, KEYS), (1, 1, ROWS, KEYS), (2, 1, 1, KEYS), (2, 3, ROWS, KEYS), (1, 3, 1, KEYS),
    (2, 1, ROWS, 1), (KEYS,), (3, 1, KEYS),
]  # fmt: skip


def operands(seed: int = 0, rows: int = ROWS, dtype: Any = np.float32) -> list[np.ndarray]:
    """Return queries, transposed keys and values."""
    rng = np.random.default_rng(seed)
    shapes = [(*LEAD, rows, WIDTH), (*LEAD, WIDTH, KEYS), (*LEAD, KEYS, WIDTH)]
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def expected(scores: np.ndarray, v: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return softmax of the scores, times the values."""
    scores = scores.astype(np.float64)
    with np.errstate(invalid="ignore"):
        parts = np.exp(scores - scores.max(axis, keepdims=True))
        return parts / parts.sum(axis, keepdims=True) @ v


def attention(
    middle: list[Any], dtype: Any = np.float32, outputs: str = "y", axis: int = -1,
    shape: tuple[int, ...] = (), more: list[Any] | None = None,
) -> bytes:  # fmt: skip
    """Return a model whose nodes in the middle make s of the product p."""
    nodes = [
        node("MatMul", "q k", "p"), *middle, node("Softmax", "s", "a", axis=axis),
        node("MatMul", "a v", "y"), *(more or []),
    ]  # fmt: skip
    inputs = [value(name, dtype) for name in "qkvm"]
    factor = np.full(shape, SCALE, dtype)
    return making.model(nodes, inputs, outputs, {"c": factor})


def is_one_node(model: Any) -> bool:
    return model.explain().operators == {"Attention": 1}


MASKED = [node("Div", "p c", "d"), node("Add", "d m", "s")]


@pytest.mark.parametrize("shape", MASKS, ids=str)
def test_masks_broadcast(bg: Any, shape: tuple[int, ...]) -> None:
    q, k, v = operands()
    mask = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    model = bg.onnx.load(attention(MASKED))
    assert is_one_node(model)
    want = expected(q @ k / SCALE + mask, v)
    np.testing.assert_allclose(model(q, k, v, mask).numpy(), want, rtol=1e-4, atol=1e-5)


def test_a_mask_with_more_rows_than_queries(bg: Any) -> None:
    q, k, v = operands(rows=1)
    mask = np.random.default_rng(1).standard_normal((ROWS, KEYS)).astype(np.float32)
    found = bg.onnx.load(attention(MASKED))(q, k, v, mask).numpy()
    np.testing.assert_allclose(found, expected(q @ k / SCALE + mask, v), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
@pytest.mark.parametrize(
    ("middle", "fused"),
    [
        ([node("Div", "p c", "d"), node("Add", "d m", "s")], True),
        ([node("Mul", "c p", "d"), node("Add", "m d", "s")], True),
        ([node("Add", "p m", "d"), node("Div", "d c", "s")], True),
        ([node("Add", "p m", "d"), node("Mul", "d c", "s")], True),
        ([node("Div", "c p", "d"), node("Add", "d m", "s")], False),
    ],
    ids=["div-add", "mul-add", "add-div", "add-mul", "divisor"],
)
def test_factors(bg: Any, middle: list[Any], fused: bool, shape: tuple[int, ...]) -> None:
    q, k, v = operands()
    mask = np.random.default_rng(1).standard_normal((ROWS, KEYS)).astype(np.float32)
    scores = {"p": q @ k, "c": SCALE, "m": mask}
    compute = {"Div": np.divide, "Mul": np.multiply, "Add": np.add}
    for one in middle:
        first, second = (scores[name] for name in one.input)
        scores[one.output[0]] = compute[one.op_type](first, second)
    model = bg.onnx.load(attention(middle, shape=shape))
    # A factor of shape (1,) is a parameter, which can be trained, so it is not read at load.
    assert is_one_node(model) == (fused and not shape)
    assert len(list(model.parameters())) == len(shape)
    found = model(q, k, v, mask).numpy()
    np.testing.assert_allclose(found, expected(scores["s"], v), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["p", "d", "s", "a"])
def test_values_that_others_read_are_kept(bg: Any, name: str) -> None:
    q, k, v = operands()
    mask = np.zeros((ROWS, KEYS), np.float32)
    values = {"p": q @ k, "d": q @ k / SCALE, "s": q @ k / SCALE}
    values["a"] = expected(values["s"], np.eye(KEYS))
    read = bg.onnx.load(attention(MASKED, outputs="y r", more=[node("Neg", name, "r")]))
    returned = bg.onnx.load(attention(MASKED, outputs=f"y {name}"))
    for model, sign in ((read, -1), (returned, 1)):
        assert "Attention" not in model.explain().operators
        y, other = model(q, k, v, mask)
        np.testing.assert_allclose(y.numpy(), expected(values["s"], v), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(other.numpy(), sign * values[name], rtol=1e-4, atol=1e-5)


def test_softmax_of_another_axis(bg: Any) -> None:
    q, k, v = operands()
    model = bg.onnx.load(attention(MASKED, axis=2))
    assert "Attention" not in model.explain().operators
    mask = np.zeros((ROWS, KEYS), np.float32)
    want = expected(q @ k / SCALE, v, axis=2)
    np.testing.assert_allclose(model(q, k, v, mask).numpy(), want, rtol=1e-4, atol=1e-5)


def test_rows_without_keys_are_nan(bg: Any) -> None:
    q, k, v = operands()
    mask = np.zeros((ROWS, KEYS), np.float32)
    mask[1], mask[2, 3:] = -np.inf, -np.inf
    found = bg.onnx.load(attention(MASKED))(q, k, v, mask).numpy()
    assert np.isnan(found[..., 1, :]).all()
    np.testing.assert_allclose(found, expected(q @ k / SCALE + mask, v), rtol=1e-4, atol=1e-5)


def test_float16(bg: Any) -> None:
    q, k, v = operands(dtype=np.float16)
    mask = np.zeros((2, 1, 1, KEYS), np.float16)
    mask[1, ..., 3:] = -10000
    model = bg.onnx.load(attention(MASKED, np.float16))
    assert is_one_node(model)
    found = model(q, k, v, mask).numpy()
    wide = q.astype(np.float32) @ k.astype(np.float32) / SCALE + mask
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, expected(wide, v), rtol=1e-2, atol=5e-3)


def test_gradients_agree_with_those_of_the_nodes(bg: Any) -> None:
    *arrays, v = operands()
    mask = np.random.default_rng(1).standard_normal((2, 1, 1, KEYS)).astype(np.float32)
    whole = bg.onnx.load(attention(MASKED))
    assert is_one_node(whole)
    single = bg.onnx.load(attention(MASKED, outputs="y p"))
    ours, plain = (
        bg.grad(lambda *x, call=call: bg.sum(call(*x, bg.asarray(mask)) ** 2), argnums=(0, 1, 2))(
            *map(bg.asarray, (*arrays, v))
        )
        for call in (whole, lambda *x: single(*x)[0])
    )
    for one, other in zip(ours, plain, strict=True):
        assert np.abs(other.numpy()).max() > 0.1
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-3, atol=1e-4)


def test_identities_between_the_nodes(bg: Any) -> None:
    q, k, v = operands()
    middle = [node("Identity", "p", "i"), node("Div", "i c", "d"), node("Identity", "d", "s")]
    model = bg.onnx.load(attention(middle))
    assert is_one_node(model)
    found = model(q, k, v, np.zeros(1, np.float32)).numpy()
    np.testing.assert_allclose(found, expected(q @ k / SCALE, v), rtol=1e-4, atol=1e-5)


def test_what_a_model_tells(bg: Any) -> None:
    model = bg.onnx.load(attention(MASKED))
    assert "Attention" in repr(model)
    model(*operands(), np.zeros((ROWS, KEYS), np.float32))
    assert (model.explain().nodes_on_gpu, model.explain().reads) == (1, 0)


#: Nodes that make qs of q and ks of k, their numbers, and whether attention has the factors.
OPERANDS: dict[str, Any] = {
    "queries": ("Mul q c qs", "Identity k ks", SCALE, True),
    "both": ("Mul c q qs", "Mul k c ks", SCALE, True),
    "divided": ("Div q c qs", "Div k c ks", SCALE, True),
    "a sum with zero": ("Add q z qs", "Add z k ks", SCALE, True),
    "several": ("Mul q c t; Add t z u; Mul u c qs", "Identity k ks", SCALE, True),
    "negative": ("Mul q c qs", "Identity k ks", -SCALE, False),
    "zero": ("Mul q c qs", "Identity k ks", np.float32(0), False),
    "divisor": ("Div c q qs", "Identity k ks", SCALE, False),
    "another sum": ("Add q c qs", "Identity k ks", SCALE, False),
    "a parameter": ("Mul q c qs", "Identity k ks", SCALE[None], False),
}


@pytest.mark.parametrize("case", OPERANDS)
@pytest.mark.parametrize("middle", [[node("Identity", "p", "s")], MASKED], ids=["plain", "masked"])
def test_factors_of_queries_and_keys(bg: Any, case: str, middle: list[Any]) -> None:
    *texts, number, fused = OPERANDS[case]
    q, k, v = operands()
    mask = np.random.default_rng(1).standard_normal((ROWS, KEYS)).astype(np.float32)
    known = {"q": q, "k": k, "c": number, "z": np.float32(0)}
    functions = {"Div": np.divide, "Mul": np.multiply, "Add": np.add}
    nodes = []
    for text in "; ".join(texts).split("; "):
        kind, *names = text.split()
        *own, made = names
        nodes.append(node(kind, " ".join(own), made))
        values = [known[name] for name in own]
        known[made] = values[0] if kind == "Identity" else functions[kind](*values)
    own_factor = SCALE if middle is MASKED else np.float32(1)
    nodes += [
        node("MatMul", "qs ks", "p"), *[node(one.op_type, " ".join(one.input).replace("c", "f"),
                                             one.output[0]) for one in middle],
        node("Softmax", "s", "a", axis=-1), node("MatMul", "a v", "y"),
    ]  # fmt: skip
    inputs = [value(name) for name in "qkvm"]
    weights = {"c": np.asarray(number), "z": np.float32(0), "f": own_factor}
    model = bg.onnx.load(making.model(nodes, inputs, "y", weights))
    operators = model.explain().operators
    assert (operators == {"Attention": 1}) == fused
    scores = known["qs"] @ known["ks"] / own_factor + (mask if middle is MASKED else 0)
    want = expected(scores, v)
    np.testing.assert_allclose(model(q, k, v, mask).numpy(), want, rtol=1e-4, atol=1e-5)
    # Values of two axes are computed by the nodes.
    parts = [one[0, 0] for one in (q, k, v)]
    np.testing.assert_allclose(model(*parts, mask).numpy(), expected(scores[0, 0], v[0, 0]),
                               rtol=1e-4, atol=1e-5)  # fmt: skip


def test_scaled_queries_that_others_read_are_kept(bg: Any) -> None:
    q, k, v = operands()
    nodes = [node("Mul", "q c", "qs"), node("MatMul", "qs k", "p"), node("Softmax", "p", "a"),
             node("MatMul", "a v", "y")]  # fmt: skip
    inputs = [value(name) for name in "qkv"]
    model = bg.onnx.load(making.model(nodes, inputs, "y qs", {"c": SCALE}))
    assert model.explain().operators == {"Mul": 1, "Attention": 1}
    found, scaled = model(q, k, v)
    np.testing.assert_allclose(scaled.numpy(), q * SCALE, rtol=1e-6)
    want = expected(q * SCALE @ k, v)
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-4, atol=1e-5)
