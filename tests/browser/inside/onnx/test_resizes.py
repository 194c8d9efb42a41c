"""Sums and products before Resize of nearest elements, with the results of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

FLOOR = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def scales(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


DOUBLED = scales(1, 1, 2, 2)


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def model(outputs: str, numbers: np.ndarray, **options: Any) -> bytes:
    """Return a model that resizes an image plus its product with gates.

    The image is another output, so that others read it.
    """
    is_sizes = numbers.dtype != np.float32
    nodes = [
        node("Neg", "x", "a"), node("Mul", "a g", "b"), node("Add", "a b", "c"),
        node("Resize", "c _ _ n" if is_sizes else "c _ n", "y", **options),
    ]  # fmt: skip
    return making.model(nodes, [value("x"), value("g")], outputs, {"n": numbers})


def check(bg: Any, numbers: np.ndarray, *inputs: Any, **options: Any) -> None:
    """Compare with a model whose sum is an output, too, so that it stays."""
    made = bg.onnx.load(model("y a", numbers, **options))
    plain = bg.onnx.load(model("y a c", numbers, **options))
    assert "Resize" in plain.explain().operators
    want = plain(*inputs)[0].numpy()
    np.testing.assert_array_equal(made(*inputs)[0].numpy(), want)
    fast = bg.jit(made)
    for _ in range(3):
        again = fast(*inputs)
    np.testing.assert_array_equal(again[0].numpy(), want)


#: The numbers of Resize, the shapes of the image and of the gates, and other options.
CASES: dict[str, Any] = {
    "doubled": (DOUBLED, (2, 3, 4, 5), (2, 3, 1, 1), FLOOR),
    "three rows and two columns": (scales(1, 1, 3, 2), (2, 3, 4, 5), (3, 1, 1), FLOOR),
    "half pixels": (DOUBLED, (1, 3, 4, 5), (1, 3, 1, 1), {}),
    "a fraction": (scales(1, 1, 0.5, 1.7), (1, 3, 4, 5), (1, 1, 1, 1), FLOOR),
    "sizes": (np.array([1, 3, 8, 5]), (1, 3, 4, 5), (1, 3, 1, 1), FLOOR),
    "sizes and axes": (np.array([9, 20]), (1, 3, 4, 5), (3, 1, 1), FLOOR | {"axes": [2, 3]}),
    "more channels": (scales(1, 2, 2, 2), (1, 3, 4, 5), (1, 3, 1, 1), FLOOR),
    "gates of pixels": (DOUBLED, (1, 3, 4, 5), (1, 3, 4, 5), FLOOR),
    "gates of rows": (DOUBLED, (1, 3, 4, 5), (1, 3, 4, 1), FLOOR),
    "an image that broadcasts": (DOUBLED, (1, 1, 4, 5), (2, 3, 1, 1), FLOOR),
    "a row": (scales(1, 1, 4), (2, 3, 5), (3, 1), FLOOR),
    "linear": (DOUBLED, (1, 3, 4, 5), (1, 3, 1, 1), {"mode": "linear"}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_gates_before_a_resize(bg: Any, case: str) -> None:
    numbers, image, gates, options = CASES[case]
    check(bg, numbers, data(*image), data(*gates), **options)


def kernels(bg: Any, file: bytes, *inputs: Any) -> int:
    call = bg.jit(bg.onnx.load(file))
    for _ in range(3):
        call(*inputs)
    found: int = call.explain().variants[-1]["kernels"]
    return found


def test_a_resized_sum_is_one_kernel(bg: Any) -> None:
    inputs = data(1, 3, 4, 5), data(1, 3, 1, 1)
    assert "ElementsResized" in bg.onnx.load(model("y a", DOUBLED, **FLOOR)).explain().operators
    assert kernels(bg, model("y a", DOUBLED, **FLOOR), *inputs) == 2  # the image, and the rest


def test_a_sum_that_only_a_resize_reads_stays(bg: Any) -> None:
    nodes = [node("Add", "x g", "c"), node("Resize", "c _ n", "y", **FLOOR)]
    file = making.model(nodes, [value("x"), value("g")], "y", {"n": DOUBLED})
    assert "Resize" in bg.onnx.load(file).explain().operators


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bool", "int64"])
def test_repeated_elements(bg: Any, dtype: str) -> None:
    from browsergpu.functions.repetition import repeated

    x = (data(2, 3, 4, 5) * 50).astype(dtype)
    turned = bg.asarray(x).transpose((0, 2, 3, 1))[:, ::2, 1:]
    want = x.transpose((0, 2, 3, 1))[:, ::2, 1:]
    for axis, times in enumerate((1, 3, 2, 2)):
        want = want.repeat(times, axis)
    np.testing.assert_array_equal(repeated(turned, (1, 3, 2, 2)).numpy(), want)
