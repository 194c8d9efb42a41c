"""Layer normalization that a model writes as nodes: means, differences, a root and a quotient."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import (
    computed,
    is_one,
    makers_of,
    readers_of,
    with_replacements,
)
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import Operator


def with_layer_norms(
    nodes: Sequence[Node], constants: Mapping[str, Any], weights: Iterable[str], used: Iterable[str]
) -> list[Node]:
    """Return the nodes of a graph, with one node for each layer normalization.

    Parameters
    ----------
    nodes
        The nodes in order.
    constants
        Arrays on the host by name.
    weights
        Names of the graph's parameters.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    found = _Search(nodes, constants, weights, used)
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        parts = found.norm_that_ends(node)
        if parts is None:
            continue
        end, made = parts[-1], _node(parts, found)
        gone.update(id(one) for one in parts)
        replaced[id(end)] = made
    return with_replacements(nodes, replaced, gone)


class _Search(Shown):
    """Finds the nodes of layer normalizations."""

    def __init__(
        self, nodes: Sequence[Node], constants: Mapping[str, Any], weights: Iterable[str],
        used: Iterable[str],
    ) -> None:  # fmt: skip
        self._makers = makers_of(nodes)
        self._readers = readers_of(nodes)
        self._constants, self._weights = constants, frozenset(weights)
        self._used = Counter(used)

    def norm_that_ends(self, quotient: Node) -> list[Node] | None:
        """Return the nodes of a normalization whose quotient is a node, in order, or None."""
        if not is_one(quotient, "Div"):
            return None
        apart, root = (self._made(name) for name in quotient.inputs)
        if not is_one(apart, "Sub") or not is_one(root, "Sqrt"):
            return None
        total = self._made(root.inputs[0])
        if not is_one(total, "Add") or self._number(total) is None:
            return None
        spread = self._made(self._other(total))
        squares = self._made(spread.inputs[0]) if spread is not None else None
        mean = self._made(apart.inputs[1])
        if not self._is_mean(mean) or not self._is_mean(spread):
            return None
        if not self._are_squares(squares, apart.outputs[0]) or mean.inputs[0] != apart.inputs[0]:
            return None
        parts = [mean, apart, squares, spread, total, root, quotient]
        inside = {id(one) for one in parts}
        for one in parts[:-1]:
            readers = self._readers.get(one.outputs[0], ())
            if self._used[one.outputs[0]] or any(id(reader) not in inside for reader in readers):
                return None
        return [*parts, *self._affine(quotient)]

    def _affine(self, quotient: Node) -> list[Node]:
        """Return the product with a weight and the sum with another that follow."""
        product = self._only_reader(quotient, "Mul")
        if product is None or self._weight(product, quotient) is None:
            return []
        total = self._only_reader(product, "Add")
        if total is None or self._weight(total, product) is None:
            return []
        return [product, total]

    def _only_reader(self, node: Node, operator: str) -> Node | None:
        readers = self._readers.get(node.outputs[0], ())
        if len(readers) != 1 or self._used[node.outputs[0]]:
            return None
        return readers[0] if is_one(readers[0], operator) else None

    def _weight(self, node: Node, before: Node) -> str | None:
        """Return the name of a node's operand that is a parameter, beside another node's value."""
        names = [name for name in node.inputs if name != before.outputs[0]]
        return names[0] if len(names) == 1 and names[0] in self._weights else None

    def _made(self, name: str) -> Any:
        node = self._makers.get(name)
        return node if node is not None and len(node.outputs) == 1 else None

    def _other(self, total: Node) -> str:
        """Return the operand of a sum that is no constant."""
        return next((name for name in total.inputs if name not in self._constants), "")

    def _number(self, total: Node) -> float | None:
        """Return the constant of a sum, if one operand is a number."""
        for name in total.inputs:
            value = self._constants.get(name)
            if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind == "f":
                number = float(value.reshape(-1)[0])
                return number if number >= 0 else None
        return None

    def _is_mean(self, node: Node | None) -> bool:
        """Whether a node is the mean over the last axis, which stays."""
        if not is_one(node, "ReduceMean") or node.attributes.get("keepdims", 1) != 1:
            return False
        axes = node.attributes.get("axes")
        if len(node.inputs) > 1:
            axes = self._constants.get(node.inputs[1])
        return axes is not None and [int(one) for one in np.ravel(axes)] == [-1]

    def _are_squares(self, node: Node | None, name: str) -> bool:
        if is_one(node, "Mul"):
            return node.inputs == (name, name)
        if not is_one(node, "Pow") or node.inputs[0] != name:
            return False
        power = self._constants.get(node.inputs[1])
        return (
            isinstance(power, np.ndarray) and power.size == 1 and float(power.reshape(-1)[0]) == 2
        )

    def inputs_of(self, parts: Sequence[Node]) -> tuple[list[str], float]:
        """Return the names of the input and the weights, and the number in the root."""
        epsilon = self._number(parts[4])
        assert epsilon is not None
        names = [parts[0].inputs[0]]
        for before, node in pairwise(parts[6:]):
            name = self._weight(node, before)
            assert name is not None
            names.append(name)
        return names, epsilon

    def constants_of(self, parts: Sequence[Node]) -> dict[str, Any]:
        """Return the constants that nodes read."""
        names = {name for node in parts for name in node.inputs}
        return {name: self._constants[name] for name in names if name in self._constants}


def _node(parts: Sequence[Node], found: _Search) -> Node:
    inputs, epsilon = found.inputs_of(parts)
    attributes = {
        "epsilon": epsilon, "parts": parts, "names": inputs, "known": found.constants_of(parts)
    }  # fmt: skip
    end = parts[-1]
    return Node(_OPERATOR, end.name, inputs, end.outputs, attributes, end.context, end.opset)


def _layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, epsilon: float, parts: Sequence[Node],
    names: Sequence[str], known: Mapping[str, Any],
) -> Any:  # fmt: skip
    """Normalize by the kernel, or by the nodes for values that the kernel does not read."""
    fits = x.ndim and x.size and x.dtype in (np.float32, np.float16)
    if fits and all(one is None or one.shape == x.shape[-1:] for one in (weight, bias)):
        return bg.nn.layer_norm(x, x.shape[-1:], weight, bias, epsilon)
    return computed(parts, {**known, **dict(zip(names, (x, weight, bias), strict=False))})


_OPERATOR = Operator(
    "LayerNormalization", "browsergpu", 1, 1 << 30, _layer_norm, (), False, False
)  # fmt: skip
