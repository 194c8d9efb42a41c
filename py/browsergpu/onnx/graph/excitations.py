"""Squeeze-and-excite that a model writes as a mean, convolutions, activations and a product."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.functions.products.excitations import Layers, excited
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import (
    computed,
    is_one,
    joined,
    makers_of,
    readers_of,
    reads_of,
    with_replacements,
)
from browsergpu.onnx.registry import Operator


class _Parts(NamedTuple):
    """The nodes of squeeze-and-excite."""

    mean: Node | None  # of the image
    gates: list[Node]  # from the first convolution to the gate
    products: list[Node]  # of the image with the gates, and its sum with the image

    def in_order(self) -> list[Node]:
        """Return all nodes."""
        return [*([self.mean] if self.mean else []), *self.gates, *self.products]


def with_excitations(
    nodes: Sequence[Node], constants: Mapping[str, Any], used: Iterable[str]
) -> list[Node]:
    """Return the nodes of a graph, with one node for each squeeze-and-excite.

    The node begins with the mean of the image. It ends with the gates, or with the scaled image if
    a convolution reads it, since other nodes fuse the product.

    Parameters
    ----------
    nodes
        The nodes in order.
    constants
        Arrays on the host by name.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    found = _Search(nodes, constants, used)
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        parts = found.excitation_with_gate(node)
        if parts is not None:
            whole = parts.in_order()
            gone.update(id(one) for one in whole)
            replaced[id(whole[-1])] = joined(_OPERATOR, parts, whole)
    return with_replacements(nodes, replaced, gone)


class _Search(Shown):
    """Finds the nodes of excitations."""

    def __init__(
        self, nodes: Sequence[Node], constants: Mapping[str, Any], used: Iterable[str]
    ) -> None:
        self._makers, self._reads = makers_of(nodes), reads_of(nodes, used)
        self._readers, self._constants = readers_of(nodes), constants

    def excitation_with_gate(self, gate: Node) -> _Parts | None:
        """Return the nodes of the squeeze-and-excite whose gate is a node, or None."""
        if not is_one(gate, "HardSigmoid", "Sigmoid"):
            return None
        last = self._convolution(gate.inputs[0])
        relu = None if last is None else self._before(last[0].inputs[0])
        if last is None or not is_one(relu, "Relu"):
            return None
        first = self._convolution(relu.inputs[0])
        if first is None:
            return None
        gates = [*first, relu, *last, gate]
        mean = self._before(first[0].inputs[0])
        if not self._is_mean(mean):
            return _Parts(None, gates, [])
        return _Parts(mean, gates, self._products(mean.inputs[0], gate) if mean else [])

    def _products(self, image: str, gate: Node) -> list[Node]:
        """Return the product of an image and gates that a convolution reads, or with a sum."""
        scaled = self._only_reader(gate, "Mul", image)
        if scaled is None:
            return []
        if self._is_convolved(scaled):
            return [scaled]
        total = self._only_reader(scaled, "Add", image)
        return [] if total is None or not self._is_convolved(total) else [scaled, total]

    def _only_reader(self, node: Node, operator: str, other: str) -> Node | None:
        """Return the only node that reads a value, an operator of it and another value."""
        name = node.outputs[0]
        if self._reads[name] != 1 or name not in self._readers:
            return None
        (reader,) = self._readers[name]
        is_of_both = sorted(reader.inputs) == sorted((name, other))
        return reader if is_of_both and is_one(reader, operator) else None

    def _is_convolved(self, node: Node) -> bool:
        readers = self._readers.get(node.outputs[0], ())
        return any(is_one(one, "Conv") and one.inputs[0] == node.outputs[0] for one in readers)

    def _is_mean(self, node: Node | None) -> bool:
        """Whether a node is the mean of each channel of [N, C, H, W], which stays an axis."""
        if is_one(node, "GlobalAveragePool"):
            return True
        if not is_one(node, "ReduceMean") or node.attributes.get("keepdims", 1) != 1:
            return False
        axes = node.attributes.get("axes")
        if len(node.inputs) > 1:
            axes = self._constants.get(node.inputs[1])
        return axes is not None and sorted(int(one) % 4 for one in np.ravel(axes)) == [2, 3]

    def _before(self, name: str) -> Node | None:
        """Return the node of a value that only one other node reads."""
        return self._makers.get(name) if self._reads[name] == 1 else None

    def _convolution(self, name: str) -> list[Node] | None:
        """Return the 1 × 1 convolution of a value, and the sum with a bias if it is a node."""
        node = self._before(name)
        if node is None:
            return None
        if _is_plain(node):
            return [node]
        if not is_one(node, "Add"):
            return None
        for one in node.inputs:
            convolution = self._before(one)
            if convolution is not None and _is_plain(convolution):
                return [convolution, node] if len(convolution.inputs) == 2 else None
        return None


def _is_plain(node: Node) -> bool:
    """Whether a node is a convolution that may be one of 1 × 1, without groups or padding."""
    if not is_one(node, "Conv"):
        return False
    own = node.attributes
    around = any(own.get("pads") or ()) or own.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID")
    kernel = own.get("kernel_shape") or (1, 1)
    return not around and own.get("group", 1) == 1 and tuple(kernel) == (1, 1)


def _squeezed_and_excited(*values: Any, parts: _Parts, names: Sequence[str]) -> Any:
    """Compute squeeze-and-excite by the kernel, or by the nodes that it does not compute."""
    known = dict(zip(names, values, strict=True))
    rest = [*parts.gates, *parts.products]
    layers = _layers(parts.gates, known)
    made = ("", "multiply", "add")[len(parts.products)]
    squeezed = parts.gates[0].inputs[0]
    image = None if parts.mean is None else known[parts.mean.inputs[0]]
    found = None
    if parts.mean is not None:
        found = excited(layers, None, image, made)
        if found is None:
            known[squeezed] = computed([parts.mean], known)
    if found is None:
        found = excited(layers, known[squeezed], image if made else None, made)
    return computed(rest, known) if found is None else found


def _layers(parts: Sequence[Node], known: Mapping[str, Any]) -> Layers:
    """Return the filters and biases of both convolutions, and the numbers of the gate."""
    middle = next(at for at, node in enumerate(parts) if node.operator.name == "Relu")
    first, last = parts[:middle], parts[middle + 1 : -1]
    return Layers(*_filters(first, known), *_filters(last, known), _hard(parts[-1]))


def _filters(parts: Sequence[Node], known: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the filters of a convolution, and its bias as it broadcasts to images, or None."""
    convolution = parts[0]
    w = known[convolution.inputs[1]]
    if len(parts) > 1:
        (name,) = (one for one in parts[1].inputs if one != convolution.outputs[0])
        return w, known[name]
    b = known[convolution.inputs[2]] if len(convolution.inputs) > 2 else None
    return w, None if b is None else b.reshape((-1, 1, 1))


def _hard(gate: Node) -> tuple[float, float] | None:
    """Return alpha and beta of a hard sigmoid, or None."""
    if gate.operator.name == "Sigmoid":
        return None
    return gate.attributes.get("alpha", 0.2), gate.attributes.get("beta", 0.5)


_OPERATOR = Operator(
    "SqueezeAndExcite", "browsergpu", 1, 1 << 30, _squeezed_and_excited, (), False, False
)  # fmt: skip
