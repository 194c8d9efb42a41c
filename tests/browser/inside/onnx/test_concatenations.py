"""Concat nodes of Concat nodes along one axis, which become one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native


def data(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.standard_normal((2, 1 + at % 3, 4)).astype(np.float32) for at in range(count)]


def load(bg: Any, nodes: list[Any], names: str, outputs: str = "y") -> Any:
    return bg.onnx.load(making.model(nodes, [value(name) for name in names], outputs))


def test_a_chain(bg: Any) -> None:
    names = "abcdefghijkl"
    nodes = [node("Concat", "a b", "s1", axis=1)]
    for at, name in enumerate(names[2:], 2):
        both = f"{name} s{at - 1}" if at % 2 else f"s{at - 1} {name}"
        nodes.append(node("Concat", both, f"s{at}" if at < len(names) - 1 else "y", axis=1))
    arrays = data(len(names))
    want = np.concatenate(arrays[:2], 1)
    for at, x in enumerate(arrays[2:], 2):
        want = np.concatenate([x, want] if at % 2 else [want, x], 1)
    model = load(bg, nodes, names)
    assert model.explain().operators == {"Concat": 1}
    np.testing.assert_array_equal(model(*arrays).numpy(), want)


@pytest.mark.parametrize(
    ("nodes", "count"),
    [
        ([node("Concat", "a b", "s", axis=1), node("Concat", "c d", "t", axis=1),
          node("Concat", "s t", "y", axis=1)], 1),
        ([node("Concat", "a", "s", axis=1), node("Concat", "s", "y", axis=1)], 1),
        ([node("Concat", "a b", "s", axis=-1), node("Concat", "s c", "y", axis=-1)], 1),
        ([node("Concat", "a b", "s", axis=2), node("Concat", "s s", "y", axis=2)], 2),
        ([node("Concat", "a b", "s", axis=2), node("Concat", "s s", "y", axis=1)], 2),
        ([node("Concat", "a b", "s", axis=2), node("Neg", "s", "t"),
          node("Concat", "t c", "y", axis=2)], 2),
    ],
)  # fmt: skip
def test_trees(bg: Any, nodes: list[Any], count: int) -> None:
    arrays = [np.full((2, 3, 4), at, np.float32) for at in range(4)]
    known = dict(zip("abcd", arrays, strict=True))
    for one in nodes:
        values = [known[name] for name in one.input]
        known[one.output[0]] = (
            -values[0] if one.op_type == "Neg" else np.concatenate(values, one.attribute[0].i)
        )
    model = load(bg, nodes, "abcd")
    assert model.explain().operators["Concat"] == count
    np.testing.assert_array_equal(model(*arrays).numpy(), known["y"])


def test_values_that_the_graph_returns_are_kept(bg: Any) -> None:
    nodes = [node("Concat", "a b", "s", axis=1), node("Concat", "s c", "y", axis=1)]
    model = load(bg, nodes, "abc", "y s")
    assert model.explain().operators == {"Concat": 2}
    arrays = data(3)
    for found, count in zip(model(*arrays), (3, 2), strict=True):
        np.testing.assert_array_equal(found.numpy(), np.concatenate(arrays[:count], 1))
