"""Identity nodes, which rewrites of a graph would have to look through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from browsergpu.onnx.graph.node import Node


def without_identities(nodes: Sequence[Node], used: Iterable[str]) -> list[Node]:
    """Return the nodes of a graph in order, without Identity.

    ``used`` are names of values that the graph returns, or that its subgraphs use. Their nodes
    stay.
    """
    kept = frozenset(used)
    source: dict[str, str] = {}
    found = []
    for node in nodes:
        node.inputs = tuple(source.get(name, name) for name in node.inputs)
        is_identity = node.operator.name == "Identity" and not node.operator.domain
        if is_identity and node.outputs[0] not in kept:
            source[node.outputs[0]] = node.inputs[0]
        else:
            found.append(node)
    return found
