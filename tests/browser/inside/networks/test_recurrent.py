"""RNN, LSTM and GRU, against their formulas on the host."""

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
    """Return the outputs of one layer in one direction over [length, N, I], and the final state."""
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
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)  # shape [N, length, I]
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
    with pytest.raises(ValueError, match="shape"):
        bg.nn.GRUCell(3, 2)(bg.zeros((4, 5)))
    with pytest.raises(ValueError, match="hx"):
        bg.nn.GRUCell(3, 2)(bg.zeros((4, 3)), bg.zeros((3, 2)))
    with pytest.raises(TypeError, match="pair"):
        bg.nn.LSTMCell(3, 2)(bg.zeros((4, 3)), bg.zeros((4, 2)))
    with pytest.raises(ValueError, match="nonlinearity"):
        bg.nn.RNNCell(3, 2, nonlinearity="sin")


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


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("bias", [True, False])
def test_cells_are_steps_of_layers(bg: Any, kind: str, bias: bool) -> None:
    options = {"nonlinearity": "relu"} if kind == "RNN" else {}
    layer = getattr(bg.nn, kind)(3, 2, bias=bias, **options)
    cell = getattr(bg.nn, f"{kind}Cell")(3, 2, bias=bias, **options)
    names = {name.removesuffix("_l0"): x for name, x in layer.state_dict().items()}
    assert list(names) == list(cell.state_dict())
    cell.load_state_dict(names)
    x = bg.asarray(np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32))
    expected, _ = layer(x)
    state = None
    for n in range(4):
        state = cell(x[n], state)
        h = state[0] if kind == "LSTM" else state
        np.testing.assert_allclose(h.tolist(), expected.tolist()[n], atol=1e-6)
    alone = cell(x[0, 0])
    h = alone[0] if kind == "LSTM" else alone
    assert h.shape == (2,)
    np.testing.assert_allclose(h.tolist(), expected.tolist()[0][0], atol=1e-6)
    h.sum().backward()
    assert all(one.grad is not None for one in cell.parameters())
    assert ("bias=False" in repr(cell)) is not bias


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_packed_sequences_are_run_one_by_one(bg: Any, kind: str, is_sorted: bool) -> None:
    """Results, states and gradients equal those of running each sequence alone."""
    rnn = bg.nn.utils.rnn
    layer = getattr(bg.nn, kind)(3, 2, num_layers=2, bidirectional=True)
    lengths = [5, 3, 3, 1] if is_sorted else [3, 5, 1, 3]
    rng = np.random.default_rng(0)
    padded = bg.asarray(rng.normal(size=(5, 4, 3)).astype(np.float32)).requires_grad_()
    begins = [bg.asarray(rng.normal(size=(4, 4, 2)).astype(np.float32)) for _ in range(2)]
    weights = bg.asarray(rng.normal(size=(5, 4, 4)).astype(np.float32))

    def state(n: int | None = None) -> Any:
        own = [x if n is None else x[:, n : n + 1] for x in begins]
        return tuple(own) if kind == "LSTM" else own[0]

    packed = rnn.pack_padded_sequence(padded, lengths, enforce_sorted=is_sorted)
    assert packed.batch_sizes.tolist() == [4, 3, 3, 1, 1]
    found, last = layer(packed, state())
    assert isinstance(found, rnn.PackedSequence)
    outputs, found_lengths = rnn.pad_packed_sequence(found, padding_value=-9.0)
    assert found_lengths.tolist() == lengths
    (outputs * weights).sum().backward()
    gradient, padded.grad = padded.grad.numpy(), None
    total: Any = 0
    for n, length in enumerate(lengths):
        own, end = layer(padded[:length, n : n + 1], state(n))
        np.testing.assert_allclose(outputs.tolist()[:length], _with(outputs, own, n), atol=1e-5)
        assert (np.array(outputs.tolist())[length:, n] == -9).all()
        for whole, part in zip(*(s if kind == "LSTM" else (s,) for s in (last, end)), strict=True):
            np.testing.assert_allclose(
                np.array(whole.tolist())[:, n], np.array(part.tolist())[:, 0], atol=1e-5
            )
        total = total + (own[:, 0] * weights[:length, n]).sum()
    total.backward()
    np.testing.assert_allclose(gradient, padded.grad.numpy(), atol=1e-4)


def _with(outputs: Any, own: Any, n: int) -> np.ndarray:
    """Return the first outputs, with one sequence's outputs replaced by its own run."""
    found = np.array(outputs.tolist())[: own.shape[0]]
    found[:, n] = np.array(own.tolist())[:, 0]
    return found


def test_packing(bg: Any) -> None:
    rnn = bg.nn.utils.rnn
    rows = [bg.asarray(np.float32(x)) for x in ([1, 2], [3, 4, 5, 6], [7])]
    padded = rnn.pad_sequence(rows, batch_first=True)
    assert padded.tolist() == [[1, 2, 0, 0], [3, 4, 5, 6], [7, 0, 0, 0]]
    left = rnn.pad_sequence(rows, padding_value=9.0, padding_side="left")
    assert left.tolist() == [[9, 3, 9], [9, 4, 9], [1, 5, 9], [2, 6, 7]]
    packed = rnn.pack_sequence(rows, enforce_sorted=False)
    assert packed.data.tolist() == [3, 1, 7, 4, 2, 5, 6]
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    assert packed.unsorted_indices.tolist() == [1, 0, 2]
    assert [x.tolist() for x in rnn.unpack_sequence(packed)] == [[1, 2], [3, 4, 5, 6], [7]]
    again, lengths = rnn.pad_packed_sequence(packed, True, -1.0, total_length=5)
    assert again.tolist() == [[1, 2, -1, -1, -1], [3, 4, 5, 6, -1], [7, -1, -1, -1, -1]]
    assert lengths.tolist() == [2, 4, 1]
    parts = rnn.unpad_sequence(padded, bg.asarray([2, 4, 1]), batch_first=True)
    assert [x.tolist() for x in parts] == [[1, 2], [3, 4, 5, 6], [7]]
    assert rnn.invert_permutation([2, 0, 1]).tolist() == [1, 2, 0]
    for call, name in (
        (lambda: rnn.pack_sequence(rows), "lengths"),
        (lambda: rnn.pack_padded_sequence(padded, [1, 2]), "lengths"),
        (lambda: rnn.pack_padded_sequence(padded, [4, 1, 1, 0]), "lengths"),
        (lambda: rnn.pad_packed_sequence(packed, total_length=2), "total_length"),
        (lambda: rnn.pad_sequence(rows, padding_side="both"), "padding_side"),
        (lambda: rnn.pad_sequence([rows[0], bg.ones((2, 2))]), "sequences"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            call()


def test_projected_states(bg: Any) -> None:
    """h is the projected state, by the formula on the host."""
    layer = bg.nn.LSTM(3, 4, num_layers=2, proj_size=2)
    own = {name: x.numpy().astype(float) for name, x in layer.state_dict().items()}
    assert own["weight_hh_l0"].shape == (16, 2)
    assert own["weight_ih_l1"].shape == (16, 2)
    assert own["weight_hr_l1"].shape == (2, 4)
    values = np.random.default_rng(0).normal(size=(5, 2, 3)).astype(np.float32)
    found, (h, c) = layer(bg.asarray(values))
    x: Any = values
    for n in range(2):
        state, cell, outputs = np.zeros((2, 2)), np.zeros((2, 4)), []
        for step in x:
            inside = step @ own[f"weight_ih_l{n}"].T + own[f"bias_ih_l{n}"]
            inner = state @ own[f"weight_hh_l{n}"].T + own[f"bias_hh_l{n}"]
            wide, cell = _step("LSTM", inside, inner, state, cell)
            state = wide @ own[f"weight_hr_l{n}"].T
            outputs.append(state)
        x = np.stack(outputs)
        np.testing.assert_allclose(c.tolist()[n], cell, atol=1e-5)
    np.testing.assert_allclose(found.tolist(), x, atol=1e-5)
    assert h.shape == (2, 2, 2)
    with pytest.raises(ValueError, match="proj_size"):
        bg.nn.GRU(3, 4, proj_size=2)


def test_vectors_of_parameters(bg: Any) -> None:
    layer, utils = bg.nn.Linear(2, 3), bg.nn.utils
    vector = utils.parameters_to_vector(layer.parameters())
    values = np.concatenate([np.ravel(layer.weight.tolist()), layer.bias.tolist()])
    np.testing.assert_array_equal(vector.tolist(), values.astype(np.float32))
    (vector * vector).sum().backward()
    np.testing.assert_allclose(layer.bias.grad.tolist(), 2 * values[6:], rtol=1e-6)
    utils.vector_to_parameters(bg.arange(9, dtype="float32"), layer.parameters())
    assert layer.weight.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert layer.bias.tolist() == [6, 7, 8]
    assert isinstance(layer.bias, bg.nn.Parameter)
    with pytest.raises(ValueError, match="vec"):
        utils.vector_to_parameters(bg.ones(8), layer.parameters())
    with pytest.raises(TypeError, match="parameters"):
        utils.parameters_to_vector([])
