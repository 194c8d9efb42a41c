"""Biases and activations after ConvTranspose, which are computed before its pixels are joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import (
    computed,
    is_one,
    joined,
    readers_of,
    reads_of,
    with_replacements,
)
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import Operator

_ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu")


class _Parts(NamedTuple):
    """The nodes of a transposed convolution, a sum with a bias, and an activation."""

    convolution: Node
    bias: Node | None
    activation: Node | None

    def in_order(self) -> list[Node]:
        """Return the nodes."""
        return [one for one in self if one is not None]


def with_transposed_convolutions(nodes: Sequence[Node], used: Iterable[str]) -> list[Node]:
    """Return the nodes of a graph, with one node for ConvTranspose, a bias and an activation.

    Parameters
    ----------
    nodes
        The nodes in order.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    reads, readers = reads_of(nodes, used), readers_of(nodes)

    def after(node: Node, *operators: str) -> Node | None:
        """Return the only reader of a node's value, if it is one of some operators."""
        name = node.outputs[0]
        found = readers.get(name, [None])[0] if reads[name] == 1 else None
        return found if is_one(found, *operators) else None

    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        if not is_one(node, "ConvTranspose") or not _splits_pixels(node):
            continue
        bias = after(node, "Add") if len(node.inputs) == 2 else None
        parts = _Parts(node, bias, after(bias or node, *_ACTIVATIONS))
        whole = parts.in_order()
        if len(whole) > 1:
            gone.update(id(one) for one in whole)
            replaced[id(whole[-1])] = joined(_OPERATOR, parts, whole)
    return with_replacements(nodes, replaced, gone)


def _splits_pixels(node: Node) -> bool:
    """Whether each pixel of the result depends on one pixel, if the kernel is as the strides."""
    own = node.attributes
    around = any(own.get("pads") or ()) or any(own.get("output_padding") or ())
    is_dense = prod(own.get("dilations") or [1]) == 1
    is_whole = own.get("auto_pad", "NOTSET") in ("NOTSET", "VALID") and not own.get("output_shape")
    return is_dense and is_whole and not around and bool(own.get("strides"))


def _activated(*values: Any, parts: _Parts, names: Sequence[str]) -> Any:
    """Compute a product of the pixels with its bias and activation, and place the results.

    Kernels other than the strides take the nodes one by one.
    """
    known = dict(zip(names, values, strict=True))
    convolution, bias, activation = parts
    x, w = (known[name] for name in convolution.inputs[:2])
    strides = tuple(convolution.attributes["strides"])
    b = known[convolution.inputs[2]] if len(convolution.inputs) > 2 else None
    group = convolution.attributes.get("group", 1)
    filters = group * w.shape[1]
    if bias is not None:
        (name,) = (one for one in bias.inputs if one != convolution.outputs[0])
        b = known[name]
        b = b.reshape((-1,)) if _is_of_filters(b, filters, len(strides)) else None
    if w.shape[2:] != strides or (bias is not None and b is None):
        return computed(parts.in_order(), known)
    times = prod(strides)
    own = w.reshape((group, -1, w.shape[1], times)).transpose((0, 2, 3, 1))
    own = own.reshape((filters * times, -1, *[1] * len(strides)))
    b = None if b is None else bg.broadcast_to(b.reshape((-1, 1)), (filters, times)).reshape((-1,))
    found = getattr(bg.nn, f"conv{len(strides)}d")(x, own, b, groups=group)
    if activation is not None:
        found = computed([activation], {activation.inputs[0]: found})
    return _placed(found, filters, strides)


def _is_of_filters(b: Any, filters: int, rank: int) -> bool:
    """Whether a value has one element for each filter, and broadcasts to images."""
    own = (1,) * (rank + 2 - b.ndim) + b.shape
    return bool(own == (1, filters, *[1] * rank))


def _placed(x: Any, filters: int, strides: tuple[int, ...]) -> Any:
    """Return [N, filters · strides, ...] as [N, filters, ...], with the channels as pixels."""
    rank = len(strides)
    spatial = x.shape[2:]
    apart = x.reshape((x.shape[0], filters, *strides, *spatial))
    order = [n for at in range(rank) for n in (2 + rank + at, 2 + at)]
    sizes = [int(n) for n in np.multiply(spatial, strides)]
    return apart.transpose((0, 1, *order)).reshape((x.shape[0], filters, *sizes))


_OPERATOR = Operator("TransposedActivated", "browsergpu", 1, 1 << 30, _activated, (), False, False)
