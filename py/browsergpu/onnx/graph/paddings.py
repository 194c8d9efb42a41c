"""Pad nodes before convolutions and pools, which can pad themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import (
    is_one,
    makers_of,
    reads_of,
    with_inputs,
    with_replacements,
)


class _Padding(NamedTuple):
    """Elements before and after the axes behind the channels, and their value."""

    before: list[int]
    after: list[int]
    number: float


def with_paddings(
    nodes: Sequence[Node], constants: Mapping[str, Any], used: Iterable[str]
) -> list[Node]:
    """Return the nodes of a graph, with the numbers of Pad as ``pads`` of the node that reads it.

    These are Conv and AveragePool, which pad with zeros, and MaxPool.

    Parameters
    ----------
    nodes
        The nodes in order.
    constants
        Arrays on the host by name.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    makers, reads = makers_of(nodes), reads_of(nodes, used)
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        if not is_one(node, "Conv", "AveragePool", "MaxPool"):
            continue
        pad = makers.get(node.inputs[0])
        if not is_one(pad, "Pad") or reads[pad.outputs[0]] != 1:
            continue
        padding = _padding(pad, constants)
        if padding is None:
            continue
        attributes = _attributes(node, padding, makers.get(pad.inputs[0]))
        if attributes is not None:
            inputs = (pad.inputs[0], *node.inputs[1:])
            replaced[id(node)] = with_inputs(node, inputs, attributes)
            gone.add(id(pad))
    return with_replacements(nodes, replaced, gone)


def _padding(pad: Node, constants: Mapping[str, Any]) -> _Padding | None:
    """Return what a node adds behind the channels, or None if it does more or it is unknown."""
    inputs = [*pad.inputs, "", "", ""][1:4]
    values = [constants.get(name) for name in inputs]
    if any(name and one is None for name, one in zip(inputs, values, strict=True)):
        return None
    pads, value, axes = values
    own = pad.attributes.get("pads") if pads is None else pads
    if own is None or axes is not None or pad.attributes.get("mode", "constant") != "constant":
        return None
    numbers = [int(n) for n in np.ravel(own)]
    half = len(numbers) // 2
    before, after = numbers[:half], numbers[half:]
    if half < 3 or any((*before[:2], *after[:2])) or min(numbers) < 0:
        return None
    number = pad.attributes.get("value", 0.0) if value is None or not value.size else value.item()
    return _Padding(before[2:], after[2:], number)


def _attributes(node: Node, padding: _Padding, source: Node | None) -> dict[str, Any] | None:
    """Return a node's attributes with more pads, or None if the result would differ."""
    own = node.attributes
    rank = len(padding.before)
    kernel = own.get("kernel_shape")
    if own.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID", "") or own.get("ceil_mode"):
        return None
    if kernel is not None and len(kernel) != rank:
        return None
    pads = own.get("pads") or [0] * 2 * rank
    if own.get("auto_pad") == "VALID":
        pads = [0] * 2 * rank
    made = {**own, "auto_pad": "NOTSET"}
    made["pads"] = [n + m for n, m in zip(pads, [*padding.before, *padding.after], strict=True)]
    if node.operator.name == "MaxPool":
        is_same = padding.number == -np.inf or (
            # Zeros beside an element of at least 0 are no maximum.
            padding.number == 0 and is_one(source, "Relu") and _is_beside_elements(made)
        )
        return made if is_same else None
    if padding.number != 0:
        return None
    if node.operator.name == "AveragePool":
        if any(pads) and not own.get("count_include_pad"):
            return None
        made["count_include_pad"] = 1
    return made


def _is_beside_elements(attributes: Mapping[str, Any]) -> bool:
    """Whether each window of a pool has an element that is no padding."""
    kernel = attributes["kernel_shape"]
    is_dense = prod(attributes.get("dilations") or [1]) == 1
    pads = attributes["pads"]
    return is_dense and all(
        max(pads[at], pads[len(kernel) + at]) < n for at, n in enumerate(kernel)
    )
