"""The decoder layers of transformers, against PyTorch's formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.networks.test_attention_layers import _norm, _reference, _values

pytestmark = pytest.mark.native


def _state(layer: Any) -> dict[str, np.ndarray]:
    return {name: x.numpy().astype(float) for name, x in layer.state_dict().items()}


def _fed(layer: Any, y: np.ndarray, activation: Any) -> Any:
    state = _state(layer)
    inner = activation(y @ state["linear1.weight"].T + state.get("linear1.bias", 0))
    return inner @ state["linear2.weight"].T + state.get("linear2.bias", 0)


def _relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def _encoded(layer: Any, x: Any, added: Any = 0.0) -> Any:
    y = _norm(x + _reference(layer.self_attn, x, x, x, added)[0])
    return _norm(y + _fed(layer, y, _relu))


def _decoded(
    layer: Any, x: Any, memory: Any, own: Any = 0.0, across: Any = 0.0, activation: Any = _relu
) -> Any:
    """Return [N, T, width]. The masks are added to the scores of targets and of the memory."""

    def attended(y: Any) -> Any:
        return _reference(layer.self_attn, y, y, y, own)[0]

    def remembered(y: Any) -> Any:
        return _reference(layer.multihead_attn, y, memory, memory, across)[0]

    if layer.norm_first:
        x = x + attended(_norm(x))
        x = x + remembered(_norm(x))
        return x + _fed(layer, _norm(x), activation)
    x = _norm(x + attended(x))
    x = _norm(x + remembered(x))
    return _norm(x + _fed(layer, x, activation))


def _hidden(count: int) -> np.ndarray:
    return np.triu(np.ones((count, count), bool), 1)


@pytest.mark.parametrize("options", [{}, {"norm_first": True}, {"bias": False}], ids=str)
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_decoder_layer(bg: Any, options: dict[str, Any], activation: str) -> None:
    own, theirs = ("relu", _relu) if activation == "relu" else (bg.tanh, np.tanh)
    layer = bg.nn.TransformerDecoderLayer(
        4, 2, 8, batch_first=True, activation=own, **options
    ).eval()
    x, memory = _values(2, 3, 4), _values(2, 5, 4, seed=1)
    found = layer(bg.asarray(x), bg.asarray(memory)).detach().numpy()
    expected = _decoded(layer, x, memory, activation=theirs)
    np.testing.assert_allclose(found, expected, atol=3e-5)


def test_masks(bg: Any) -> None:
    layer = bg.nn.TransformerDecoderLayer(4, 2, 8).eval()
    x, memory = _values(2, 3, 4), _values(2, 5, 4, seed=1)
    across = np.random.default_rng(2).normal(size=(3, 5)).astype(np.float32)
    padded = np.array([[False, False, True], [False, False, False]])
    padded_memory = np.array([[False] * 5, [False, False, False, True, True]])
    infinite = lambda mask: np.where(mask, -np.inf, 0.0)  # noqa: E731
    expected = _decoded(
        layer, x, memory, infinite(_hidden(3)[None, None] | padded[:, None, None]),
        across + infinite(padded_memory[:, None, None]),
    )  # fmt: skip
    given = [bg.asarray(y.swapaxes(0, 1)) for y in (x, memory)]
    options = {
        "memory_mask": bg.asarray(across),
        "tgt_key_padding_mask": bg.asarray(padded),
        "memory_key_padding_mask": bg.asarray(padded_memory),
    }
    for causal in ({"tgt_mask": bg.asarray(_hidden(3))}, {"tgt_is_causal": True}):
        found = layer(*given, **options, **causal).detach().numpy()
        np.testing.assert_allclose(found, expected.swapaxes(0, 1), atol=3e-5)
    seen = infinite(np.triu(np.ones((3, 5), bool), 1))
    found = layer(*given, memory_is_causal=True).detach().numpy()
    expected = _decoded(layer, x, memory, 0.0, seen)
    np.testing.assert_allclose(found, expected.swapaxes(0, 1), atol=3e-5)


def test_decoder(bg: Any) -> None:
    nn = bg.nn
    layer = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True)
    decoder = nn.TransformerDecoder(layer, 2, nn.LayerNorm(4)).eval()
    first, second = decoder.layers
    assert first.linear1.weight is not second.linear1.weight
    x, memory = _values(2, 3, 4), _values(2, 5, 4, seed=1)
    own = np.where(_hidden(3), -np.inf, 0.0)
    y = _decoded(second, _decoded(first, x, memory, own), memory, own)
    found = decoder(bg.asarray(x), bg.asarray(memory), bg.asarray(_hidden(3)))
    np.testing.assert_allclose(found.detach().numpy(), _norm(y), atol=5e-5)
    found = decoder(bg.asarray(x), bg.asarray(memory), tgt_is_causal=True)
    np.testing.assert_allclose(found.detach().numpy(), _norm(y), atol=5e-5)


def test_transformer(bg: Any) -> None:
    bg.nn.init.seed(1)
    model = bg.nn.Transformer(4, 2, 1, 2, 8, batch_first=True).eval()
    x, y = _values(2, 5, 4), _values(2, 3, 4, seed=1)
    memory = _norm(_encoded(model.encoder.layers[0], x))
    mask = model.generate_square_subsequent_mask(3)
    np.testing.assert_array_equal(mask.numpy(), np.where(_hidden(3), -np.inf, 0.0))
    expected = y
    for layer in model.decoder.layers:
        expected = _decoded(layer, expected, memory, mask.numpy())
    found = model(bg.asarray(x), bg.asarray(y), tgt_mask=mask).detach().numpy()
    np.testing.assert_allclose(found, _norm(expected), atol=1e-4)
    alone = model(bg.asarray(x[0]), bg.asarray(y[0]), tgt_is_causal=True).detach().numpy()
    np.testing.assert_allclose(alone, _norm(expected)[0], atol=1e-4)


def test_names_are_pytorchs(bg: Any) -> None:
    model = bg.nn.Transformer(4, 2, 1, 1, 8)
    attention = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]

    def pairs(*names: str) -> list[str]:
        return [f"{name}.{kind}" for name in names for kind in ("weight", "bias")]

    encoder = [f"self_attn.{name}" for name in attention]
    decoder = encoder + [f"multihead_attn.{name}" for name in attention]
    encoder += pairs("linear1", "linear2", "norm1", "norm2")
    decoder += pairs("linear1", "linear2", "norm1", "norm2", "norm3")
    expected = [f"encoder.layers.0.{name}" for name in encoder] + pairs("encoder.norm")
    expected += [f"decoder.layers.0.{name}" for name in decoder] + pairs("decoder.norm")
    assert list(model.state_dict()) == expected
    other = bg.nn.Transformer(4, 2, 1, 1, 8).eval()
    other.load_state_dict(model.state_dict())
    given = [bg.asarray(_values(3, 2, 4, seed=n)) for n in range(2)]
    learning = model(*given).detach().numpy()
    still = model.eval()(*given).detach().numpy()
    assert not np.allclose(learning, still), "dropout"
    np.testing.assert_array_equal(other(*given).detach().numpy(), still)


def test_gradients_reach_all_parameters(bg: Any) -> None:
    model = bg.nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, norm_first=True, activation="gelu")
    src, tgt = (bg.asarray(_values(3, 2, 4, seed=n)) for n in range(2))
    (model(src, tgt, tgt_is_causal=True) ** 2).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert np.isfinite(parameter.grad.numpy()).all(), name
        assert parameter.grad.numpy().any(), name


def test_own_encoder_and_decoder(bg: Any) -> None:
    class Same(bg.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, *_: Any) -> Any:
            return x * 2

    model = bg.nn.Transformer(4, 2, custom_encoder=Same(), custom_decoder=Same())
    x = bg.ones((3, 1, 4))
    assert model(x, x + 1).tolist() == np.full((3, 1, 4), 4.0).tolist()


def test_errors(bg: Any) -> None:
    model = bg.nn.Transformer(4, 2, 1, 1, 8)
    x = bg.zeros((3, 2, 4))
    with pytest.raises(ValueError, match=r"tgt.*4 elements"):
        model(x, bg.zeros((3, 2, 5)))
    with pytest.raises(ValueError, match=r"tgt.*batch of 2"):
        model(x, bg.zeros((3, 1, 4)))
    with pytest.raises(TypeError, match="src"):
        model(np.zeros((3, 2, 4)), x)
    with pytest.raises(TypeError, match="custom_encoder"):
        bg.nn.Transformer(4, 2, custom_encoder=3)
    with pytest.raises(ValueError, match="activation"):
        bg.nn.TransformerDecoderLayer(4, 2, activation="sine")
    with pytest.raises(ValueError, match="num_layers"):
        bg.nn.TransformerDecoder(bg.nn.TransformerDecoderLayer(4, 2, 8), 0)
