"""Exported networks: loaded again, they compute the same."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

RNG = np.random.default_rng(9)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


NETWORKS: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "perceptron": (
        lambda nn: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3),
                                 nn.Softmax(-1)), floats(2, 4),
    ),
    "convolutions": (
        lambda nn: nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 4, 3, groups=2), nn.SiLU(), nn.AvgPool2d(2), nn.Flatten(),
            nn.Linear(4, 5),
        ), floats(1, 3, 10, 10),
    ),
    "transposed": (
        lambda nn: nn.Sequential(
            nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1), nn.GroupNorm(2, 4),
            nn.LeakyReLU(0.2), nn.AdaptiveAvgPool2d(1),
        ), floats(1, 3, 5, 5),
    ),
    "transformer": (
        lambda nn: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), floats(2, 5, 8),
    ),
    "recurrent": (lambda nn: nn.LSTM(4, 6, batch_first=True), floats(2, 3, 4)),
    "upsampling": (lambda nn: nn.Upsample(scale_factor=2, mode="bilinear"), floats(1, 2, 4, 4)),
    "embedding": (lambda nn: nn.Embedding(10, 4), np.array([[1, 2, 9]])),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_come_back(bg: Any, name: str) -> None:
    make, x = NETWORKS[name]
    network = make(bg.nn).eval().requires_grad_(False)
    file = io.BytesIO()
    data = bg.onnx.export(network, x, file)
    assert file.getvalue() == data
    model = bg.onnx.load(data)
    assert model.inputs[0].shape == ("batch", *x.shape[1:])
    # Attention uses parts of its parameters, which become arrays of their own.
    names = {one for one, _ in network.named_parameters() if "in_proj" not in one}
    assert names <= {one for one, _ in model.named_parameters()}
    for given in (x, np.concatenate([x, x, x])):
        found, want = model(given), network(bg.asarray(given))
        for a, b in zip(_flat(found), _flat(want), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def _flat(x: Any) -> list[Any]:
    return [one for part in x for one in _flat(part)] if isinstance(x, tuple) else [x]


def test_functions_of_arrays(bg: Any) -> None:
    class Mixed(bg.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, y: Any) -> Any:
            z = bg.where(x > y, x * 2, bg.exp(-y))[:, 1:, ::2]
            return bg.stack([z.sum(1), z.max(axis=1)], 1), bg.argmax(x, axis=-1), x.var((1, 2))

    x, y = floats(2, 3, 4), floats(2, 3, 4)
    data = bg.onnx.export(Mixed(), (x, y), input_names=("a", "b"), output_names=("p", "q", "r"))
    model = bg.onnx.load(data)
    assert (model.input_names, model.output_names) == (("a", "b"), ("p", "q", "r"))
    for found, want in zip(model(b=y, a=x), Mixed()(bg.asarray(x), bg.asarray(y)), strict=True):
        np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=1e-4, atol=1e-5)


def test_what_cannot_be_exported(bg: Any) -> None:
    class Sorted(bg.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return bg.sort(x)

    class Batches(bg.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return x * bg.arange(x.shape[0], dtype="float32").reshape((-1, 1))

    x = floats(2, 3)
    with pytest.raises(NotImplementedError, match=r"calls ordering.sorting.sort, which cannot"):
        bg.onnx.export(Sorted(), x)
    with pytest.raises(NotImplementedError, match=r"depends on the batch. Pass dynamic"):
        bg.onnx.export(Batches(), x)
    fixed = bg.onnx.load(bg.onnx.export(Batches(), x, dynamic_batch=False))
    assert fixed.inputs[0].shape == (2, 3)
    np.testing.assert_allclose(fixed(x).numpy(), x * [[0], [1]])
    for arguments, options, wrong in (
        ((bg.exp, x), {}, "module must be a Module"),
        ((bg.nn.ReLU(), [1, 2]), {}, "an array, or a tuple of arrays"),
        ((bg.nn.ReLU(), x), {"input_names": ["a", "b"]}, "a list of 1 names"),
        ((bg.nn.ReLU(), np.array(3.0, np.float32)), {}, "as dynamic_batch is True"),
    ):
        with pytest.raises(ValueError, match=wrong):
            bg.onnx.export(*arguments, **options)
