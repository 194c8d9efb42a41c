"""Products of one value with several matrices, as one product: queries, keys and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import is_one, makers_of, reads_of, with_replacements
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import Operator

#: Nodes between a product and attention that only move elements.
_MOVES = ("Reshape", "Transpose")
#: Most elements of the joined matrix, which ``bg.jit`` keeps beside its parts.
_MOST = 1 << 24


def with_joined_products(
    nodes: Sequence[Node], weights: Mapping[str, str], used: Iterable[str]
) -> list[Node]:
    """Return the nodes of a graph, with one product for the operands of each attention.

    Parameters
    ----------
    nodes
        The nodes in order.
    weights
        Names of the model's parameters, by the name of the value.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    makers, reads = makers_of(nodes), reads_of(nodes, used)
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        if node.operator.name not in ("Attention", "MultiHeadAttention"):
            continue
        pairs = [_product(name, makers, reads, weights) for name in node.inputs[:3]]
        found = [pair for pair in pairs if pair is not None]
        if len(found) != 3 or len({product.inputs[0] for product, _ in found}) != 1:
            continue
        products = [product for product, _ in found]
        ends = [end for _, end in found]
        if len({id(one) for one in products}) < 3 or any(id(one) in gone for one in products):
            continue
        first = min(products, key=nodes.index)
        replaced[id(first)] = _node(first, products, ends)
        gone.update(id(one) for one in (*products, *ends))
    return with_replacements(nodes, replaced, gone)


def _product(
    name: str, makers: Mapping[str, Node], reads: Mapping[str, int], weights: Mapping[str, str]
) -> tuple[Node, Node] | None:
    """Return the product with a parameter from which a value comes, and the sum with a bias."""
    node = makers.get(name)
    while is_one(node, *_MOVES) and reads[name] == 1:
        name = node.inputs[0]
        node = makers.get(name)
    if not is_one(node, "Add") or reads[name] != 1:
        return None
    for at, other in ((0, 1), (1, 0)):
        product = makers.get(node.inputs[at])
        if not is_one(product, "MatMul"):
            continue
        is_read_once = reads[node.inputs[at]] == 1
        if is_read_once and product.inputs[1] in weights and node.inputs[other] in weights:
            return product, node
    return None


def _node(first: Node, products: Sequence[Node], ends: Sequence[Node]) -> Node:
    matrices = [product.inputs[1] for product in products]
    biases = [
        next(name for name in end.inputs if name != product.outputs[0])
        for product, end in zip(products, ends, strict=True)
    ]
    outputs = [end.outputs[0] for end in ends]
    inputs = [first.inputs[0], *matrices, *biases]
    name = " + ".join(product.name for product in products)
    return Node(_OPERATOR, name, inputs, outputs, {}, first.context, first.opset)


def _joined(x: Any, *parameters: Any) -> tuple[Any, ...]:
    """Multiply a value by several matrices, and add a bias to each product."""
    count = len(parameters) // 2
    matrices, biases = parameters[:count], parameters[count:]
    if not _is_joined(x, matrices, biases):
        return tuple(bg.matmul(x, w) + b for w, b in zip(matrices, biases, strict=True))
    whole = bg.matmul(x, bg.concatenate(matrices, 1)) + bg.concatenate(biases, 0)
    return tuple(_parts(whole, [w.shape[1] for w in matrices]))


def _is_joined(x: Any, matrices: Sequence[Any], biases: Sequence[Any]) -> bool:
    """Whether one product is faster: a captured graph keeps the joined matrix."""
    if x.tracer.optimized is None or any(one.requires_grad for one in (*matrices, *biases)):
        return False
    pairs = zip(matrices, biases, strict=True)
    fits = all(w.ndim == 2 and b.shape == w.shape[1:] and w.dtype == b.dtype for w, b in pairs)
    is_one_type = {one.dtype for one in matrices} == {x.dtype}
    return fits and is_one_type and sum(w.size for w in matrices) <= _MOST


def _parts(whole: Any, widths: Sequence[int]) -> Iterator[Any]:
    begin = 0
    for width in widths:
        yield whole[..., begin : begin + width]
        begin += width


_OPERATOR = Operator("MatMul", "browsergpu", 1, 1 << 30, _joined, (), False, False)
