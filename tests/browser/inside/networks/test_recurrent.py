"""RNN, LSTM and GRU beside their formulas on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree

pytestmark = pytest.mark.native

Arrays = dict[str, np.ndarray]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _step(kind: str, inside: np.ndarray, inner: np.ndarray, h: Any, c: Any) -> tuple[Any, Any]:
    if kind == "RNN":
        return np.tanh(inside + inner), None
    if kind == "LSTM":
        i, f, g, o = np.split(inside + inner, 4, -1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(c), c
    (r, z, n), (own_r, own_z, own_n) = np.split(inside, 3, -1), np.split(inner, 3, -1)
    new = np.tanh(n + _sigmoid(r + own_r) * own_n)
    update = _sigmoid(z + own_z)
    return (1 - update) * new + update * h, None


def _way(kind: str, state: Arrays, name: str, x: np.ndarray, h: Any, c: Any) -> Any:
    """The outputs of one layer in one direction over [length, N, I], and its end."""
    outputs = []
    for step in x:
        inside = step @ state[f"weight_ih{name}"].T + state.get(f"bias_ih{name}", 0)
        inner = h @ state[f"weight_hh{name}"].T + state.get(f"bias_hh{name}", 0)
        h, c = _step(kind, inside, inner, h, c)
        outputs.append(h)
    return np.stack(outputs), h, c


def _reference(kind: str, state: Arrays, x: np.ndarray, layers: int, ways: int, hidden: int) -> Any:
    ends = []
    for layer in range(layers):
        zeros = np.zeros((x.shape[1], hidden))
        outputs, h, c = _way(kind, state, f"_l{layer}", x, zeros, zeros)
        ends.append((h, c))
        if ways == 2:
            back, h, c = _way(kind, state, f"_l{layer}_reverse", x[::-1], zeros, zeros)
            ends.append((h, c))
            outputs = np.concatenate([outputs, back[::-1]], -1)
        x = outputs
    return x, np.stack([h for h, _ in ends]), [c for _, c in ends]


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize(("layers", "ways", "bias"), [(1, 1, True), (2, 2, True), (1, 1, False)])
def test_results(bg: Any, kind: str, layers: int, ways: int, bias: bool) -> None:
    layer = getattr(bg.nn, kind)(
        3, 2, num_layers=layers, bidirectional=ways == 2, bias=bias, batch_first=True
    )
    state = {name: x.numpy().astype(float) for name, x in layer.state_dict().items()}
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)  # [N, length, I]
    expected, end, cells = _reference(kind, state, x.swapaxes(0, 1), layers, ways, 2)
    found, last = layer(bg.asarray(x))
    np.testing.assert_allclose(found.detach().numpy(), expected.swapaxes(0, 1), atol=1e-5)
    h = last[0] if kind == "LSTM" else last
    np.testing.assert_allclose(h.detach().numpy(), end, atol=1e-5)
    if kind == "LSTM":
        np.testing.assert_allclose(last[1].detach().numpy(), np.stack(cells), atol=1e-5)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_goes_on_from_its_states(bg: Any, kind: str) -> None:
    layer = getattr(bg.nn, kind)(3, 2)
    x = bg.asarray(np.random.default_rng(0).normal(size=(6, 4, 3)).astype(np.float32))
    whole, end = layer(x)
    _, middle = layer(x[:2])
    rest, last = layer(x[2:], middle)
    np.testing.assert_allclose(rest.detach().numpy(), whole.detach().numpy()[2:], atol=1e-6)
    for a, b in zip(*(s if kind == "LSTM" else (s,) for s in (end, last)), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-6)


def test_without_batches(bg: Any) -> None:
    layer = bg.nn.LSTM(3, 2)
    x = bg.asarray(np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32))
    found, (h, c) = layer(x)
    assert found.shape == (6, 2)
    assert h.shape == c.shape == (1, 2)
    expected, _ = layer(x[:, None])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy()[:, 0], atol=1e-6)
    again, _ = layer(x, (h, c))
    assert again.shape == (6, 2)


def test_errors(bg: Any) -> None:
    layer = bg.nn.GRU(3, 2)
    with pytest.raises(ValueError, match="length"):
        layer(bg.zeros((4, 1, 5)))
    with pytest.raises(ValueError, match="shape"):
        layer(bg.zeros((4, 1, 3)), bg.zeros((2, 1, 2)))
    with pytest.raises(TypeError, match="pair"):
        bg.nn.LSTM(3, 2)(bg.zeros((4, 1, 3)), bg.zeros((1, 1, 2)))
    with pytest.raises(ValueError, match="nonlinearity"):
        bg.nn.RNN(3, 2, nonlinearity="sin")
    with pytest.raises(ValueError, match="one step"):
        layer(bg.zeros((0, 1, 3)))


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_gradients(bg: Any, kind: str) -> None:
    layer = getattr(bg.nn, kind)(2, 2)
    names = list(layer.state_dict())
    given = [x.numpy() for x in layer.state_dict().values()]
    x = np.random.default_rng(0).normal(size=(3, 2, 2)).astype(np.float32)

    def ours(x: Any, *arrays: Any) -> Any:
        for name, array in zip(names, arrays, strict=True):
            layer._parameters[name] = array
        return layer(x)[0]

    def theirs(x: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
        state = dict(zip(names, arrays, strict=True))
        return _reference(kind, state, x, 1, 1, 2)[0]

    gradients_agree(bg, ours, theirs, [x, *given])
