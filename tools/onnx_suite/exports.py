"""Networks built with bg.nn, exported, and run by onnxruntime on the host."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import browsergpu as bg
from browsergpu import nn

_RNG = np.random.default_rng(0)


def _floats(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


class Tokens(nn.Module):
    """An embedding with functions of arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.layer = nn.Linear(4, 2)

    def forward(self, tokens: Any) -> Any:
        """Return a mix of sums, slices and conditions."""
        h = self.table(tokens)
        chosen = bg.where(h[:, 1:2, 1] > 0, 1.0, h[:, 0, 3:])
        return self.layer(h).sum(1) * 2 + bg.exp(h[:, 0, :2]) - chosen


def networks() -> dict[str, tuple[Any, np.ndarray]]:
    """Return networks with inputs, by name."""
    return {
        "perceptron": (
            nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3),
                          nn.Softmax(-1)), _floats(2, 4),
        ),
        "convolutions": (
            nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                          nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=4), nn.SiLU(),
                          nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 5)), _floats(1, 3, 10, 10),
        ),
        "transposed": (
            nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1),
                          nn.GroupNorm(2, 4), nn.LeakyReLU(0.2), nn.AdaptiveAvgPool2d(1)),
            _floats(1, 3, 5, 5),
        ),
        "transformer": (
            nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
            _floats(2, 5, 8),
        ),
        "recurrent": (nn.LSTM(4, 6, batch_first=True), _floats(2, 3, 4)),
        "upsampling": (nn.Upsample(scale_factor=2, mode="bilinear"), _floats(1, 2, 4, 4)),
        "tokens": (Tokens(), _RNG.integers(0, 10, (2, 3))),
        "patches": (
            nn.Sequential(nn.Conv2d(3, 8, 4, stride=4), nn.Flatten(2), nn.Linear(4, 4), nn.ReLU6(),
                          nn.Hardswish()), _floats(1, 3, 8, 8),
        ),
    }  # fmt: skip


def _flat(x: Any) -> list[Any]:
    return [one for part in x for one in _flat(part)] if isinstance(x, tuple) else [x]


def main() -> int:
    """Print the largest difference of each network. Returns the number of too large ones."""
    import onnxruntime

    failed = 0
    for name, (network, x) in networks().items():
        network.eval().requires_grad_(False)
        data = bg.onnx.export(network, x)
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        worst = 0.0
        for given in (x, np.concatenate([x, x])):
            expected = _flat(network(bg.asarray(given)))
            found = session.run(None, {session.get_inputs()[0].name: given})
            for got, want in zip(found, expected, strict=True):
                worst = max(worst, float(np.abs(got - want.numpy()).max()))
        failed += worst > 1e-4
        print(f"{name}: {worst:.1e}")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
