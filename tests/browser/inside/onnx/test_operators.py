"""Operators that onnx's own cases leave out, or that the default run must cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx.making import compute

pytestmark = pytest.mark.native

RNG = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def test_integers_are_divided_towards_zero(bg: Any) -> None:
    a, b = np.array([7, -7, 7, -7, 6]), np.array([2, 2, -2, -2, 3])
    assert compute(bg, "Div", [a, b])[0].tolist() == [3, -3, -3, 3, 2]
    assert compute(bg, "Mod", [a, b])[0].tolist() == [1, 1, -1, -1, 0]
    assert compute(bg, "Mod", [a, b], fmod=1)[0].tolist() == [1, -1, 1, -1, 0]


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters_combine_equal_indices(bg: Any, reduction: str) -> None:
    x, updates = floats(5, 2), floats(7, 2)
    index = np.array([0, 3, 0, 4, 3, 0, 1])
    if reduction == "none":
        index = np.array([0, 3, 2, 4])
        updates = updates[:4]
    want = x.copy()
    at = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    if reduction == "none":
        want[index] = updates
    else:
        at[reduction].at(want, index, updates)
    (found,) = compute(bg, "ScatterND", [x, index[:, None], updates], reduction=reduction)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


def test_pooling_with_unequal_pads(bg: Any) -> None:
    x = floats(1, 2, 5, 6)
    options = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [0, 1, 2, 0]}
    wide = np.pad(x, [(0, 0), (0, 0), (0, 2), (1, 0)], constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 2), (2, 3))[:, :, ::2, ::2]
    found, places = compute(bg, "MaxPool", [x], outputs=2, **options)
    np.testing.assert_allclose(found, windows.max((-2, -1)))
    np.testing.assert_allclose(x.reshape(-1)[places], found)
    finite = np.isfinite(windows)
    means = np.where(finite, windows, 0).sum((-2, -1)) / finite.sum((-2, -1))
    np.testing.assert_allclose(compute(bg, "AveragePool", [x], **options)[0], means, rtol=1e-5)


def test_integer_convolutions_are_exact(bg: Any) -> None:
    x = RNG.integers(0, 256, (1, 400, 4, 4)).astype(np.uint8)
    w = RNG.integers(-128, 128, (2, 400, 3, 3)).astype(np.int8)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64) - 9, (3, 3), (2, 3))
    want = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64))
    assert (compute(bg, "ConvInteger", [x, w, np.uint8(9)])[0] == want).all()


def test_products_of_8_bits_are_exact(bg: Any) -> None:
    a = RNG.integers(0, 256, (3, 900)).astype(np.uint8)
    b = RNG.integers(-128, 128, (900, 2)).astype(np.int8)
    want = (a.astype(np.int64) - 3) @ (b.astype(np.int64) + 1)
    found = compute(bg, "MatMulInteger", [a, b, np.uint8(3), np.int8(-1)])[0]
    assert (found == want).all()


def test_recurrent_layers_of_two_directions(bg: Any) -> None:
    x, w, r, b = floats(4, 2, 3), floats(2, 8, 3), floats(2, 8, 2), floats(2, 16)
    lengths = np.array([4, 2], np.int32)
    found = compute(
        bg, "LSTM", [x, w, r, b, lengths], outputs=3, hidden_size=2, direction="bidirectional"
    )

    def sigmoid(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    want = np.zeros((4, 2, 2, 2))
    for way in range(2):
        for n, length in enumerate(lengths):
            h, c = np.zeros(2), np.zeros(2)
            for at in range(length)[:: -1 if way else 1]:
                gates = w[way] @ x[at, n] + r[way] @ h + b[way, :8] + b[way, 8:]
                i, o, f, g = gates.reshape(4, 2)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
                want[at, way, n] = h
            np.testing.assert_allclose(found[1][way, n], h, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(found[2][way, n], c, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[0], want, rtol=1e-4, atol=1e-5)


RECURRENT = {"RNN": 1, "GRU": 3, "LSTM": 4}


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers_check_their_sizes(bg: Any, name: str) -> None:
    gates = RECURRENT[name]
    x, w, r = floats(4, 2, 3), floats(1, gates * 2, 3), floats(1, gates * 2, 2)
    assert compute(bg, name, [x, w, r], hidden_size=2)[0].shape == (4, 1, 2, 2)
    assert compute(bg, name, [x, w, r])[0].shape == (4, 1, 2, 2)
    wide = floats(1, gates * 2, 5)
    for inputs, options, wrong in (
        ([x, w, r], {"hidden_size": 3}, rf"w must have shape \(1, {gates * 3}, 3\) for hidden_siz"),
        ([x, wide, r], {"hidden_size": 2}, "w must have shape"),
        ([x, w, wide], {"hidden_size": 2}, "r must have shape"),
        ([x, w, r, floats(1, 3)], {}, rf"b must have shape \(1, {gates * 4}\)"),
        ([x, w, r], {"direction": "bidirectional"}, "w must have shape"),
        ([x, w, r], {"activations": ["Tanh"] * 7}, "activations must be"),
        ([x[0], w, r], {}, "x must be an array with three axes"),
    ):
        with pytest.raises(ValueError, match=wrong):
            compute(bg, name, inputs, **options)


def test_old_forms_of_operators(bg: Any) -> None:
    x = floats(2, 3, 4)
    (found,) = compute(bg, "Slice", [x], opset=9, starts=[1], ends=[9], axes=[2])
    np.testing.assert_allclose(found, x[:, :, 1:])
    np.testing.assert_allclose(compute(bg, "Clip", [x], opset=10, min=-0.5, max=0.5)[0],
                               np.clip(x, -0.5, 0.5))  # fmt: skip
    (found,) = compute(bg, "Softmax", [x], opset=11, axis=1)
    flat = np.exp(x.reshape(2, 12))
    np.testing.assert_allclose(found.reshape(2, 12), flat / flat.sum(1, keepdims=True), rtol=1e-5)
    (found,) = compute(bg, "ReduceSum", [x], opset=11, axes=[0, 2], keepdims=0)
    np.testing.assert_allclose(found, x.sum((0, 2)), rtol=1e-5)
    (found,) = compute(bg, "Resize", [x, np.array([1, 1, 2], np.float32)], opset=10)
    np.testing.assert_allclose(found, np.repeat(x, 2, 2))
    np.testing.assert_allclose(compute(bg, "Pad", [x], opset=9, pads=[0, 0, 1, 0, 1, 0])[0],
                               np.pad(x, [(0, 0), (0, 1), (1, 0)]))  # fmt: skip


def test_unsorted_unique_slices(bg: Any) -> None:
    x = np.array([[1, 2], [0, 1], [1, 2], [0, 0]], np.float32)
    values, first, inverse, counts = compute(bg, "Unique", [x], outputs=4, axis=0, sorted=0)
    assert values.tolist() == [[1, 2], [0, 1], [0, 0]]
    assert (first.tolist(), inverse.tolist()) == ([0, 1, 3], [0, 1, 0, 2])
    assert counts.tolist() == [2, 1, 1]


def test_boxes_that_overlap_are_dropped(bg: Any) -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0, 2.05, 1, 3]]], np.float32)
    scores = np.array([[[0.9, 0.75, 0.6, 0.95]]], np.float32)
    arguments = [boxes, scores, np.array([3]), np.array([0.5], np.float32)]
    (found,) = compute(bg, "NonMaxSuppression", arguments)
    assert found.tolist() == [[0, 0, 3], [0, 0, 0]]


def test_what_cannot_be_is_refused(bg: Any) -> None:
    x = floats(2, 3)
    for kind, inputs, options, wrong in (
        ("Conv", [floats(1, 2, 4), floats(2, 2, 3)], {"auto_pad": "HALF"}, "auto_pad must be"),
        ("Squeeze", [x, np.array([0])], {}, "axes must have the extent 1"),
        ("Split", [x, np.array([1, 1])], {"axis": 1}, "numbers whose sum is 3"),
        ("Pad", [x, np.array([0, 1, 0, 1])], {"mode": "odd"}, "mode must be one of"),
        ("Resize", [x, None, np.array([1, 2], np.float32)], {"mode": "odd"}, "mode must be"),
        ("Gelu", [x], {"approximate": "odd"}, "approximate must be"),
    ):
        with pytest.raises(ValueError, match=wrong):
            compute(bg, kind, inputs, **options)
