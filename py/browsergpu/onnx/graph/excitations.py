"""The excitation of squeeze-and-excite that a model writes as convolutions and activations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from browsergpu.engine.core.showing import Shown
from browsergpu.functions.products.excitations import excited
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import (
    computed,
    is_one,
    makers_of,
    reads_of,
    with_replacements,
)
from browsergpu.onnx.registry import Operator


def with_excitations(nodes: Sequence[Node], used: Iterable[str]) -> list[Node]:
    """Return the nodes of a graph, with one node for the gates of each squeeze-and-excite.

    Parameters
    ----------
    nodes
        The nodes in order.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    found = _Search(nodes, used)
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        parts = found.excitation_that_ends(node)
        if parts is not None:
            gone.update(id(one) for one in parts)
            replaced[id(node)] = _node(parts)
    return with_replacements(nodes, replaced, gone)


class _Search(Shown):
    """Finds the nodes of excitations."""

    def __init__(self, nodes: Sequence[Node], used: Iterable[str]) -> None:
        self._makers, self._reads = makers_of(nodes), reads_of(nodes, used)

    def excitation_that_ends(self, gate: Node) -> list[Node] | None:
        """Return the nodes of an excitation whose gate is a node, in order, or None."""
        if not is_one(gate, "HardSigmoid", "Sigmoid"):
            return None
        last = self._convolution(gate.inputs[0])
        relu = None if last is None else self._before(last[0].inputs[0])
        if last is None or not is_one(relu, "Relu"):
            return None
        first = self._convolution(relu.inputs[0])
        return None if first is None else [*first, relu, *last, gate]

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


def _node(parts: Sequence[Node]) -> Node:
    first, gate = parts[0], parts[-1]
    made = {name for node in parts for name in node.outputs}
    inputs = dict.fromkeys(name for node in parts for name in node.inputs if name not in made)
    attributes = {"parts": parts, "names": tuple(inputs)}
    title = f"{first.name} … {gate.name}"
    return Node(_OPERATOR, title, tuple(inputs), gate.outputs, attributes, gate.context, gate.opset)


def _excitation(*values: Any, parts: Sequence[Node], names: Sequence[str]) -> Any:
    """Compute the gates by the kernel, or by the nodes if the kernel does not compute them."""
    known = dict(zip(names, values, strict=True))
    x, w1, b1, w2, b2 = _operands(parts, known)
    found = excited(x, w1, b1, w2, b2, _hard(parts[-1]))
    return computed(parts, known) if found is None else found


def _operands(parts: Sequence[Node], known: Mapping[str, Any]) -> list[Any]:
    """Return the means, and the filters and biases of both convolutions."""
    middle = next(at for at, node in enumerate(parts) if node.operator.name == "Relu")
    first, last = parts[:middle], parts[middle + 1 : -1]
    return [known[first[0].inputs[0]], *_filters(first, known), *_filters(last, known)]


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
    "SqueezeAndExcite", "browsergpu", 1, 1 << 30, _excitation, (), False, False
)  # fmt: skip
