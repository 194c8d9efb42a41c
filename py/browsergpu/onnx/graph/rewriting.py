"""Parts of graph rewrites: who makes and reads values, and nodes that replace others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.registry import Operator


def makers_of(nodes: Iterable[Node]) -> dict[str, Node]:
    """Return the node that makes each value."""
    return {name: node for node in nodes for name in node.outputs if name}


def reads_of(nodes: Iterable[Node], used: Iterable[str]) -> Counter[str]:
    """Return how often each value is read: by nodes, and by ``used``, names of other readers."""
    found = Counter(name for node in nodes for name in node.inputs)
    found.update(used)
    return found


def readers_of(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    """Return the nodes that read each value, one for each input."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        for name in node.inputs:
            found.setdefault(name, []).append(node)
    return found


def is_one(node: Node | None, *operators: str) -> TypeGuard[Node]:
    """Whether a node has one of ONNX's own operators, and one output."""
    if node is None or node.operator.domain or len(node.outputs) != 1:
        return False
    return node.operator.name in operators


def with_replacements(
    nodes: Iterable[Node], replaced: Mapping[int, Node], gone: Iterable[int]
) -> list[Node]:
    """Return nodes without those that are gone, and with others at the places of some.

    Parameters
    ----------
    nodes
        The nodes in order.
    replaced
        New nodes by the id of the node whose place they take.
    gone
        Ids of nodes. Those in ``replaced`` may be among them.
    """
    left_out = frozenset(gone) - replaced.keys()
    return [replaced.get(id(node), node) for node in nodes if id(node) not in left_out]


def joined(operator: Operator, parts: Any, whole: Sequence[Node]) -> Node:
    """Return a node at the place of the last of several nodes.

    The operator's function gets the values that the nodes read, and the options ``parts`` and
    ``names``: the names of these values.

    Parameters
    ----------
    operator
        Computes the last node's value.
    parts
        The nodes as the operator takes them.
    whole
        The same nodes in order.
    """
    first, last = whole[0], whole[-1]
    made = {name for node in whole for name in node.outputs}
    inputs = tuple(
        dict.fromkeys(name for node in whole for name in node.inputs if name not in made)
    )
    attributes = {"parts": parts, "names": inputs}
    title = f"{first.name} … {last.name}"
    return Node(operator, title, inputs, last.outputs, attributes, last.context, last.opset)


def with_inputs(
    node: Node, inputs: Sequence[str], attributes: dict[str, Any] | None = None
) -> Node:
    """Return a node with other inputs, and with other attributes if they are given."""
    own = node.attributes if attributes is None else attributes
    return Node(node.operator, node.name, inputs, node.outputs, own, node.context, node.opset)


def computed(parts: Sequence[Node], values: Mapping[str, Any]) -> Any:
    """Compute nodes of one output each in order, and return the last one's value.

    ``values`` has the values by name that the nodes do not make.
    """
    known: dict[str, Any] = {"": None, **values}
    for node in parts:
        (known[node.outputs[0]],) = node.compute([known[name] for name in node.inputs], {})
    return known[parts[-1].outputs[0]]
