"""Squeeze-and-excite whose sums the kernel of a depthwise convolution writes, under ``bg.jit``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value
from inside.onnx.test_excitations import results

pytestmark = pytest.mark.native

TOTALS = "conv2d_depthwise_totals"


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def model(
    channels: int, *after: str, outputs: str = "y", residual: str = "", extent: int = 3,
    **options: Any,
) -> bytes:  # fmt: skip
    """Return a depthwise convolution, unary operators, squeeze-and-excite and a convolution."""
    weights = {
        "w": data(channels, 1, extent, extent), "b": data(1, channels, 1, 1),
        "w1": data(4, channels, 1, 1) * 0.3, "b1": data(4), "w2": data(channels, 4, 1, 1),
        "b2": data(channels), "w3": data(5, channels, 1, 1),
    }  # fmt: skip
    nodes = [node("Conv", "x w", "c", group=channels, **options), node("Add", "c b", "v0")]
    for at, kind in enumerate(after):
        nodes.append(node(kind, f"v{at}", f"v{at + 1}"))
    image = f"v{len(after)}"
    if residual:
        nodes.append(node("Add", f"{image} {residual}", "s"))
        image = "s"
    nodes += [
        node("GlobalAveragePool", image, "m"), node("Conv", "m w1 b1", "c1"),
        node("Relu", "c1", "r"), node("Conv", "r w2 b2", "c2"), node("HardSigmoid", "c2", "g"),
        node("Mul", f"{image} g", "p"), node("Conv", "p w3", "y"),
    ]  # fmt: skip
    return making.model(nodes, [value("x")], outputs, weights)


def labels(bg: Any, file: bytes, x: np.ndarray) -> dict[str, int]:
    """Compare replays with a plain call. Returns the kernels of a replay."""
    made = bg.onnx.load(file)
    want = results(made(x))
    fast = bg.jit(made)
    for _ in range(3):
        found = results(fast(x))
        for one, other in zip(found, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)
    kernels: dict[str, int] = fast.explain().variants[0]["labels"]
    return kernels


def total(kernels: dict[str, int]) -> int:
    return sum(count for name, count in kernels.items() if name.startswith(TOTALS))


PADS = {"pads": [1, 1, 1, 1]}
#: The shape of the image, the operators after the convolution, and its options.
CASES: dict[str, Any] = {
    "large": ((1, 8, 80, 90), (), PADS),
    "several images": ((3, 4, 70, 66), (), PADS),
    "strides": ((2, 8, 145, 131), (), {"strides": [2, 2], **PADS}),
    "rows that are no multiple of four": ((1, 4, 67, 71), ("Relu",), {}),
    "a chain": ((1, 8, 80, 90), ("HardSwish",), PADS),
    "a chain of two": ((1, 8, 66, 66), ("Relu", "HardSwish"), PADS),
    "a large kernel": ((1, 8, 80, 90), (), {"pads": [3, 3, 3, 3], "extent": 7}),
    "many channels": ((1, 192, 20, 20), (), PADS),
    "a column": ((1, 4, 5000, 1), (), PADS),
}


@pytest.mark.parametrize("case", CASES)
def test_the_convolution_adds_up_its_channels(bg: Any, case: str) -> None:
    shape, after, options = CASES[case]
    kernels = labels(bg, model(shape[1], *after, **options), data(*shape))
    assert total(kernels) == 1
    assert sum(kernels.values()) == 3  # the convolutions, and squeeze-and-excite with its product


def test_a_residual_is_added_up(bg: Any) -> None:
    kernels = labels(bg, model(8, residual="x", **PADS), data(1, 8, 80, 90))
    assert total(kernels) == 1


def test_small_images_need_no_sums(bg: Any) -> None:
    assert total(labels(bg, model(8, **PADS), data(1, 8, 12, 12))) == 0


@pytest.mark.parametrize("outputs", ["y c", "y v0"])
def test_the_convolution_is_read_elsewhere(bg: Any, outputs: str) -> None:
    """The values are right, whichever kernel adds them up."""
    labels(bg, model(8, "Tanh", outputs=outputs, **PADS), data(1, 8, 80, 90))


def test_operators_that_no_epilogue_computes(bg: Any) -> None:
    labels(bg, model(8, "Round", "Cos", **PADS), data(1, 8, 80, 90))


def test_nan_and_infinities(bg: Any) -> None:
    x = data(1, 4, 70, 70)
    x[0, 1, 3, 4], x[0, 2, 5, 6] = np.nan, np.inf
    labels(bg, model(4, **PADS), x)
