"""Concat nodes of Concat nodes along the same axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import is_one, reads_of, with_inputs, with_replacements


def with_flat_concatenations(nodes: Sequence[Node], used: Iterable[str]) -> list[Node]:
    """Return the nodes of a graph, in which one Concat joins the inputs of several.

    Parameters
    ----------
    nodes
        The nodes in order.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    reads = reads_of(nodes, used)
    joins: dict[str, Node] = {}  # by the name of their value
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        if not is_one(node, "Concat"):
            continue
        joins[node.outputs[0]] = node
        axis = node.attributes["axis"]
        inputs: list[str] = []
        is_nested = False
        for name in node.inputs:
            inner = joins.get(name)
            if inner is None or reads[name] != 1 or inner.attributes["axis"] != axis:
                inputs.append(name)
                continue
            inputs += replaced.get(id(inner), inner).inputs
            gone.add(id(inner))
            is_nested = True
        if is_nested:
            replaced[id(node)] = with_inputs(node, inputs)
    kept = {at: one for at, one in replaced.items() if at not in gone}
    return with_replacements(nodes, kept, gone)
