"""Pytrees with JAX's names."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


class Point(NamedTuple):
    x: Any
    y: Any


def test_trees(bg: Any) -> None:
    from browsergpu.jax import tree

    given = {"b": [1, None, (2,)], "a": Point(3, 4)}
    leaves, structure = tree.flatten(given)
    assert leaves == [3, 4, 1, 2]
    assert tree.unflatten(structure, [30, 40, 10, 20]) == {
        "a": Point(30, 40), "b": [10, None, (20,)],
    }  # fmt: skip
    assert structure == tree.structure({"a": Point(0, 0), "b": [0, None, (0,)]})
    assert structure != tree.structure({"a": (0, 0), "b": [0, None, (0,)]})
    assert tree.map(lambda x, y: x + y, given, given)["b"] == [2, None, (4,)]
    assert tree.map(len, {"a": [1, 2]}, is_leaf=lambda x: isinstance(x, list)) == {"a": 2}
    assert tree.reduce(lambda x, y: x + y, given) == 10
    assert tree.all(given)
    outer, inner = tree.structure([0, 0]), tree.structure({"p": 0, "q": 0})
    assert tree.transpose(outer, inner, [{"p": 1, "q": 2}, {"p": 3, "q": 4}]) == {
        "p": [1, 3], "q": [2, 4],
    }  # fmt: skip
    with pytest.raises(ValueError, match="structure of the first tree"):
        tree.map(lambda x, y: x, [1, 2], [1])


def test_registered_classes(bg: Any) -> None:
    from browsergpu.jax import tree

    @tree.register_pytree_node_class
    class Weights:
        def __init__(self, w: Any, name: str) -> None:
            self.w, self.name = w, name

        def tree_flatten(self) -> Any:
            return (self.w,), self.name

        @classmethod
        def tree_unflatten(cls, name: str, children: Any) -> Any:
            return cls(*children, name)

    made = tree.map(lambda x: x * 2, Weights(3, "one"))
    assert (made.w, made.name) == (6, "one")
    slope = bg.grad(lambda given: (given.w**2).sum())(Weights(bg.asarray([1.0, 2.0]), "one"))
    assert slope.name == "one"
    assert slope.w.tolist() == [2, 4]
    found = bg.vmap(lambda given: given.w * 2)(Weights(bg.ones((2, 3)), "one"))
    assert found.shape == (2, 3)
    with pytest.raises(ValueError, match="registered"):
        tree.register_pytree_node_class(Weights)
