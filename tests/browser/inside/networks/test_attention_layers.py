"""MultiheadAttention and the layers of transformers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree

pytestmark = pytest.mark.native


def _values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _reference(
    layer: Any, q: Any, k: Any, v: Any, added: Any = 0.0, state: Any = None
) -> tuple[Any, Any]:
    """Return the result and the weights of all heads, for [N, length, width]."""
    if state is None:
        state = {name: x.numpy().astype(float) for name, x in layer.state_dict().items()}
    width, heads = layer.embed_dim, layer.num_heads
    if "in_proj_weight" in state:
        weights = np.split(state["in_proj_weight"], 3)
    else:
        weights = [state[f"{name}_proj_weight"] for name in "qkv"]
    biases = np.split(state.get("in_proj_bias", np.zeros(3 * width)), 3)
    parts = []
    for x, w, b in zip((q, k, v), weights, biases, strict=True):
        y = x @ w.T + b
        parts.append(y.reshape(*y.shape[:2], heads, -1).swapaxes(1, 2))
    scores = parts[0] @ parts[1].swapaxes(-1, -2) / np.sqrt(width / heads) + added
    found = _softmax(scores)
    joined = (found @ parts[2]).swapaxes(1, 2).reshape(*q.shape[:2], width)
    return joined @ state["out_proj.weight"].T + state.get("out_proj.bias", 0), found


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"kdim": 3, "vdim": 5}])
def test_attention(bg: Any, options: dict[str, Any]) -> None:
    layer = bg.nn.MultiheadAttention(4, 2, batch_first=True, **options)
    q, k, v = _values(2, 3, 4), _values(2, 5, layer.kdim), _values(2, 5, layer.vdim, seed=1)
    expected, weights = _reference(layer, q, k, v)
    given = [bg.asarray(x) for x in (q, k, v)]
    found, shown = layer(*given)
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(shown.detach().numpy(), weights.mean(1), atol=1e-5)
    _, each = layer(*given, average_attn_weights=False)
    np.testing.assert_allclose(each.detach().numpy(), weights, atol=1e-5)
    fast, nothing = layer(*given, need_weights=False)
    assert nothing is None
    np.testing.assert_allclose(fast.detach().numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("need_weights", [True, False])
def test_masks_are_pytorchs(bg: Any, need_weights: bool) -> None:
    layer = bg.nn.MultiheadAttention(4, 2)
    x = _values(3, 2, 4)  # shape [length, N, width]
    own = bg.asarray(x)
    batches = x.swapaxes(0, 1)
    hidden = np.triu(np.ones((3, 3), bool), 1)
    padding = np.array([[False, False, True], [False, False, False]])
    unseen = hidden[None, None] | padding[:, None, None]
    added = np.where(unseen, -np.inf, 0.0)
    expected, _ = _reference(layer, batches, batches, batches, added)
    options = {"need_weights": need_weights}
    found, _ = layer(own, own, own, bg.asarray(padding), attn_mask=bg.asarray(hidden), **options)
    np.testing.assert_allclose(found.detach().numpy(), expected.swapaxes(0, 1), atol=1e-5)
    causal, _ = layer(own, own, own, bg.asarray(padding), is_causal=True, **options)
    np.testing.assert_allclose(causal.detach().numpy(), expected.swapaxes(0, 1), atol=1e-5)
    each = np.random.default_rng(3).normal(size=(4, 3, 3)).astype(np.float32)
    expected, _ = _reference(layer, batches, batches, batches, each.reshape(2, 2, 3, 3))
    found, _ = layer(own, own, own, attn_mask=bg.asarray(each), **options)
    np.testing.assert_allclose(found.detach().numpy(), expected.swapaxes(0, 1), atol=1e-5)


@pytest.mark.parametrize("need_weights", [True, False])
def test_gradients(bg: Any, need_weights: bool) -> None:
    layer = bg.nn.MultiheadAttention(2, 1, batch_first=True)
    state = layer.state_dict()
    x = _values(1, 3, 2)

    def ours(x: Any, joined: Any, bias: Any) -> Any:
        layer._parameters |= {"in_proj_weight": joined, "in_proj_bias": bias}
        return layer(x, x, x, need_weights=need_weights)[0]

    def theirs(x: np.ndarray, joined: np.ndarray, bias: np.ndarray) -> np.ndarray:
        rest = {name: y.numpy() for name, y in state.items()}
        own = rest | {"in_proj_weight": joined, "in_proj_bias": bias}
        return _reference(layer, x, x, x, state=own)[0]

    given = [state[name].numpy() for name in ("in_proj_weight", "in_proj_bias")]
    gradients_agree(bg, ours, theirs, [x, *given])


def test_without_batches(bg: Any) -> None:
    layer = bg.nn.MultiheadAttention(4, 2)
    x = bg.asarray(_values(3, 4))
    found, weights = layer(x, x, x)
    assert found.shape == (3, 4)
    assert weights.shape == (3, 3)


def test_errors(bg: Any) -> None:
    with pytest.raises(ValueError, match="heads"):
        bg.nn.MultiheadAttention(5, 2)
    layer, x = bg.nn.MultiheadAttention(4, 2), bg.zeros((3, 1, 4))
    with pytest.raises(ValueError, match="attn_mask"):
        layer(x, x, x, attn_mask=bg.zeros((2, 3)))
    with pytest.raises(TypeError, match="bools"):
        layer(x, x, x, attn_mask=bg.zeros((3, 3), dtype="int32"))
    with pytest.raises(ValueError, match="key_padding_mask"):
        layer(x, x, x, bg.zeros((2, 3), dtype="bool"))
    with pytest.raises(ValueError, match="4 elements"):
        layer(x, bg.zeros((3, 1, 5)), x)


def _norm(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer(bg: Any, norm_first: bool) -> None:
    layer = bg.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=norm_first).eval()
    x = _values(2, 3, 4)
    state = {name: v.numpy() for name, v in layer.state_dict().items()}

    def fed(y: np.ndarray) -> np.ndarray:
        inner = np.maximum(y @ state["linear1.weight"].T + state["linear1.bias"], 0)
        return inner @ state["linear2.weight"].T + state["linear2.bias"]

    def attended(y: np.ndarray) -> Any:
        return _reference(layer.self_attn, y, y, y)[0]

    if norm_first:
        y = x + attended(_norm(x))
        expected = y + fed(_norm(y))
    else:
        y = _norm(x + attended(x))
        expected = _norm(y + fed(y))
    np.testing.assert_allclose(layer(bg.asarray(x)).detach().numpy(), expected, atol=2e-5)


def test_encoder_and_dropout(bg: Any) -> None:
    nn = bg.nn
    nn.init.seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"), 2)
    first, second = (layer.linear1.weight for layer in encoder.layers)
    assert first is not second
    np.testing.assert_array_equal(first.detach().numpy(), second.detach().numpy())
    x = bg.asarray(_values(3, 2, 4))
    learning = encoder(x).detach().numpy()
    still = encoder.eval()(x).detach().numpy()
    assert np.isfinite(learning).all()
    assert not np.allclose(learning, still)
    np.testing.assert_array_equal(still, encoder(x).detach().numpy())


def test_gradients_reach_all_parameters(bg: Any) -> None:
    layer = bg.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
    x = bg.asarray(_values(3, 2, 4))
    (layer(x, is_causal=True) ** 2).sum().backward()
    for name, parameter in layer.named_parameters():
        assert parameter.grad is not None, name
        assert np.isfinite(parameter.grad.numpy()).all(), name


@pytest.mark.parametrize("weights", [False, True])
def test_sequences_that_are_all_padding_give_zeros(bg: Any, weights: bool) -> None:
    layer = bg.nn.MultiheadAttention(4, 2, batch_first=True)
    x = bg.asarray(_values(2, 3, 4))
    padding = bg.asarray(np.array([[False, False, True], [True] * 3]))
    found, shares = layer(x, x, x, padding, need_weights=weights)
    expected = np.broadcast_to(layer.out_proj.bias.detach().numpy(), (3, 4))
    np.testing.assert_allclose(found.detach().numpy()[1], expected, atol=1e-6)
    if weights:
        np.testing.assert_allclose(shares.detach().numpy().sum(-1), [[1] * 3, [0] * 3], rtol=1e-6)
    (found**2).sum().backward()
    assert all(np.isfinite(p.grad.numpy()).all() for p in layer.parameters())
