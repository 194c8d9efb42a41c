"""Attention that a model writes as nodes: MatMul, a factor, a mask, Softmax and MatMul."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import computed, is_one, makers_of, reads_of, with_replacements
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import Operator

#: Ranks of the scores whose last axes are queries and keys.
_RANKS = (3, 4)
_LAST_AXIS = 13  # the first opset in which Softmax uses the last axis by default


class _Scores(NamedTuple):
    """The nodes that compute scores, and the arguments of attention that they have."""

    nodes: list[Node]
    factor: float = 1.0
    mask: str = ""
    mask_factor: float = 1.0  # of a mask before the factor


def with_attention(
    nodes: Sequence[Node], constants: Mapping[str, Any], used: Iterable[str]
) -> list[Node]:
    """Return the nodes of a graph, with one node for each attention.

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

    def only(name: str, *operators: str) -> Node | None:
        """Return the node that makes a value, if nothing else reads the value."""
        node = makers.get(name)
        return node if reads[name] == 1 and is_one(node, *operators) else None

    def scores_of(name: str) -> _Scores | None:
        node = only(name, "MatMul", "Div", "Mul", "Add")
        if node is None:
            return None
        if node.operator.name == "MatMul":
            return _Scores([node])
        for at, other in ((0, 1), (1, 0)):
            inner = scores_of(node.inputs[at])
            if inner is None:
                continue
            if node.operator.name == "Add":
                if inner.mask:
                    continue
                return inner._replace(nodes=[*inner.nodes, node], mask=node.inputs[other])
            factor = _factor(constants.get(node.inputs[other]))
            if factor and inner.factor == 1 and (node.operator.name == "Mul" or not at):
                own = factor if node.operator.name == "Mul" else 1 / factor
                of_mask = own if inner.mask else 1.0
                return inner._replace(nodes=[*inner.nodes, node], factor=own, mask_factor=of_mask)
        return None

    def operand_of(name: str) -> tuple[str, float, list[Node]]:
        """Return a value, the factor by which queries or keys have more, and the factor's nodes."""
        found: list[Node] = []
        total = 1.0
        while True:
            node = only(name, "Mul", "Div", "Add")
            factor, at = (0.0, 0) if node is None else _operand_factor(node, constants)
            if node is None or not factor:
                return name, total, found
            total *= factor
            found.insert(0, node)
            name = node.inputs[at]

    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        if not is_one(node, "MatMul"):
            continue
        softmax = only(node.inputs[0], "Softmax")
        if softmax is None:
            continue
        axis = softmax.attributes.get("axis", -1 if softmax.opset >= _LAST_AXIS else 1)
        if axis not in (-1, 3):
            continue
        scores = scores_of(softmax.inputs[0])
        if scores is None:
            continue
        (q, of_q, first), (k, of_k, second) = map(operand_of, scores.nodes[0].inputs)
        inputs = [q, k, node.inputs[1], *([scores.mask] if scores.mask else [])]
        parts = [*first, *second, *scores.nodes, softmax, node]
        numbers = {name for one in parts for name in one.inputs if name in constants}
        made = Node(
            _OPERATOR, node.name, inputs, node.outputs,
            {
                "factor": scores.factor * of_q * of_k, "mask_factor": scores.mask_factor,
                "axis": axis, "parts": parts, "names": tuple(inputs),
                "numbers": {name: constants[name] for name in numbers - {*inputs}},
            },
            node.context, node.opset,
        )  # fmt: skip
        replaced[id(node)] = made
        gone.update(id(one) for one in parts[:-1])
    return with_replacements(nodes, replaced, gone)


def _operand_factor(node: Node, constants: Mapping[str, Any]) -> tuple[float, int]:
    """Return the factor between a node's operand and its value, and the operand's position.

    The factor is 0 if there is none. It is 1 for a sum with zero.
    """
    for at, other in ((0, 1), (1, 0)):
        value = constants.get(node.inputs[other])
        if not isinstance(value, np.ndarray) or value.ndim > 1:
            continue
        if node.operator.name == "Add":
            is_zero = value.size == 1 and value.dtype.kind == "f" and not value.any()
            return float(is_zero), at
        factor = _factor(value)
        if node.operator.name == "Mul":
            return factor, at
        return (1 / factor if factor and not at else 0.0), at
    return 0.0, 0


def _factor(value: Any) -> float:
    """Return a positive number of a constant, or 0."""
    if not isinstance(value, np.ndarray) or value.size != 1 or value.dtype.kind != "f":
        return 0.0
    number = float(value.reshape(-1)[0])
    return number if number > 0 and isfinite(number) else 0.0


def _attention(
    q: Any, k: Any, v: Any, mask: Any = None, *, factor: float, mask_factor: float, axis: int,
    parts: Sequence[Node], names: Sequence[str], numbers: Mapping[str, Any],
) -> Any:  # fmt: skip
    """Compute attention by its kernel, or by the nodes for values that the kernel does not read."""
    own = _mask(mask, q, k.shape[-1])
    if not _is_supported(q, k, v, axis) or (mask is not None and own is None):
        return computed(parts, {**numbers, **dict(zip(names, (q, k, v, mask), strict=False))})
    if own is not None and mask_factor != 1:
        own = own * mask_factor
    found = bg.nn.scaled_dot_product_attention(q, bg.matrix_transpose(k), v, own, scale=factor)
    if own is None:
        return found
    # The kernel gives 0 to queries that see no key, and softmax NaN.
    return bg.where(bg.isneginf(bg.max(own, axis=-1, keepdims=True)), np.nan, found)


def _is_supported(q: Any, k: Any, v: Any, axis: int) -> bool:
    if not q.ndim == k.ndim == v.ndim or q.ndim not in _RANKS or axis not in (-1, q.ndim - 1):
        return False
    is_float = q.dtype in (np.float32, np.float16) and q.dtype == k.dtype == v.dtype
    extents = q.shape[:-2] == k.shape[:-2] == v.shape[:-2] and min(*q.shape, *k.shape, *v.shape) > 0
    return is_float and extents and q.shape[-1] == k.shape[-2] and v.shape[-2] == k.shape[-1]


def _mask(mask: Any, q: Any, keys: int) -> Any:
    """Return a mask for the kernel, or None if it does not read this one."""
    if mask is None or mask.ndim not in (2, q.ndim) or mask.dtype != q.dtype:
        return None
    if mask.shape[-2] not in (1, q.shape[-2]) or mask.shape[-1] not in (1, keys):
        return None  # the sum has more rows or columns than the product
    lead = mask.shape[:-2]
    if not lead or all(extent == 1 for extent in lead) or lead == q.shape[:-2]:
        return mask
    if lead[0] not in (1, q.shape[0]) or lead[-1] not in (1, q.shape[-3]):
        return None
    return bg.broadcast_to(mask, (*q.shape[:-2], *mask.shape[-2:]))


_OPERATOR = Operator("Attention", "browsergpu", 1, 1 << 30, _attention, (), False, False)
