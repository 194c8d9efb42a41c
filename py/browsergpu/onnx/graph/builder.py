"""Graphs from messages: checks everything that a file can have wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.onnx import registry
from browsergpu.onnx.graph.attention import with_attention
from browsergpu.onnx.graph.concatenations import with_flat_concatenations
from browsergpu.onnx.graph.excitations import with_excitations
from browsergpu.onnx.graph.external import ExternalData
from browsergpu.onnx.graph.identities import without_identities
from browsergpu.onnx.graph.joined import with_joined_products
from browsergpu.onnx.graph.narrow import Narrow
from browsergpu.onnx.graph.node import Context, Node
from browsergpu.onnx.graph.normalization import with_layer_norms
from browsergpu.onnx.graph.paddings import with_paddings
from browsergpu.onnx.graph.plan import Plan, plans_of, sorted_nodes
from browsergpu.onnx.graph.quantized import Quantized, packed, quantizable
from browsergpu.onnx.graph.resizes import with_resizes
from browsergpu.onnx.graph.tensors import dense, gpu_bytes, host_array
from browsergpu.onnx.graph.transposed import with_transposed_convolutions
from browsergpu.onnx.graph.types import DTYPES, NarrowType
from browsergpu.onnx.graph.values import MOST_ON_HOST
from browsergpu.onnx.registry import REQUIRED, Operator
from browsergpu.onnx.wire import messages

#: Graphs within each other, and functions that call each other.
_MOST_LEVELS = 24
#: Bytes of a dense copy of a sparse tensor.
_MOST_DENSE = 1 << 28

#: How the GPU stores an array: as it is, in codes, or in blocks.
Kind = NarrowType | Quantized | None
Keep = Callable[[str, np.ndarray, Kind], None]
#: Allocates memory for arrays of these bytes.
Reserve = Callable[[list[int]], None]


def _declared(info: messages.ValueInfo) -> tuple[Any, tuple[int, ...]] | None:
    """Return the declared dtype and shape of an array, if it has both. Unknown extents are 0."""
    tensor = info.array
    kind = DTYPES.get(tensor.elem_type) if tensor else None
    if tensor is None or kind is None or tensor.shape is None:
        return None
    return kind, tuple([one.dim_value or 0 for one in tensor.shape.dim])


class Builder(Shown):
    """Makes plans of a model's graphs.

    Parameters
    ----------
    model : messages.Model
        The file.
    external : ExternalData
        Files beside it.
    context : Context
        What the nodes share.
    arrays : mapping
        The model's parameters and buffers by name.
    keep : callable
        Takes the name, the values and the kind of an array for the GPU.
    reserve : callable
        Takes the bytes of arrays before ``keep`` gets them.
    """

    def __init__(
        self, model: messages.Model, external: ExternalData, context: Context,
        arrays: Mapping[str, Any], keep: Keep, reserve: Reserve,
    ) -> None:  # fmt: skip
        self._external, self._context, self._arrays = external, context, arrays
        self._keep, self._reserve = keep, reserve
        self._functions = {(one.domain, one.name, one.overload): one for one in model.functions}
        self._opsets = _opsets(model.opset_import)
        self._names = {"training"}  # which every module has
        self._missing: dict[str, list[str]] = {}

    def graph(self, graph: messages.Graph) -> Plan:
        """Return the plan of the model's graph.

        Raises Unsupported if operators are missing. The message lists all of them.
        """
        plan = self._graph(graph, (), self._opsets, "", 0, {})
        if self._missing:
            listed = "; ".join(
                f"{name} (node {', '.join(map(repr, nodes[:3]))}{', …' if len(nodes) > 3 else ''})"
                for name, nodes in sorted(self._missing.items())
            )
            raise Unsupported(
                "onnx.load", f"the model has operators that are missing here: {listed}. "
                "bg.onnx.operator adds one.",
            )  # fmt: skip
        return plan

    def _graph(
        self, graph: messages.Graph, outer: Iterable[str], opsets: Mapping[str, int], prefix: str,
        level: int, given: Mapping[str, Any],
    ) -> Plan:  # fmt: skip
        if level > _MOST_LEVELS:
            raise _refused("graph", "graphs within graphs, or functions that call themselves",
                           f"of at most {_MOST_LEVELS} levels")  # fmt: skip
        constants: dict[str, Any] = {}
        weights: dict[str, str] = {}
        read_on_host = _host_inputs(graph.node, opsets)
        packed_names = self._quantize(graph, weights, prefix)
        own = [one for one in graph.initializer if one.name not in packed_names]
        sizes = [gpu_bytes(one, self._external, f"initializer {one.name!r}") for one in own]
        self._reserve(sizes)
        for tensor in own:
            where = f"initializer {tensor.name!r}"
            if tensor.name in constants or tensor.name in weights:
                raise _refused(where, "two of them", "have one initializer for each name")
            values, narrow = host_array(tensor, self._external, where)
            self._place(tensor.name, values, narrow, read_on_host, constants, weights, prefix)
        for sparse in graph.sparse_initializer:
            name = sparse.values.name if sparse.values else ""
            values = dense(sparse, self._external, f"initializer {name!r}", _MOST_DENSE)
            self._place(name, values, None, read_on_host, constants, weights, prefix)
        known_names = {*constants, *weights, *packed_names}
        inputs = [one.name for one in graph.input if one.name not in known_names]
        before = {*outer, *inputs, *constants, *weights}
        pairs = [(node, (*node.input, *_captured(node))) for node in graph.node]
        order = sorted_nodes(pairs, before, "graph")
        nodes = []
        known = set(before)
        for at, message in enumerate(order):
            own_name = message.name or f"{message.op_type}_{at}"
            if message.op_type == "Constant" and message.domain in ("", "ai.onnx"):
                self._constant(message, read_on_host, constants, weights, prefix, given)
            else:
                node = self._node(message, own_name, known, opsets, prefix, level, given)
                if node is not None:
                    nodes.append(node)
            known.update(message.output)
        outputs = [one.name for one in graph.output]
        for name in outputs:
            if name not in known:
                raise _refused("graph", f"the output {name!r}, which no node computes",
                               "have a source for each output")  # fmt: skip
        inner = [name for node in nodes for plan in plans_of(node) for name in plan.captured]
        used = (*outputs, *inner)
        nodes = without_identities(nodes, used)
        nodes = with_paddings(nodes, constants, used)
        nodes = with_flat_concatenations(nodes, used)
        nodes = with_layer_norms(nodes, constants, weights, used)
        nodes = with_attention(nodes, constants, used)
        nodes = with_joined_products(nodes, weights, used)
        nodes = with_excitations(nodes, constants, used)
        nodes = with_resizes(nodes, used)
        nodes = with_transposed_convolutions(nodes, used)
        types = [_declared(one) for one in graph.output]
        return Plan(inputs, outputs, nodes, constants, weights, self._arrays, types)

    def _quantize(self, graph: messages.Graph, weights: dict[str, str], prefix: str) -> set[str]:
        """Keep matrices of few bits in blocks for kernels. Returns the initializers in them."""
        tensors = {one.name: one for one in graph.initializer}
        if len(tensors) < len(graph.initializer):
            return set()  # two of one name, which are refused later
        others = [one.name for one in (*graph.output, *graph.input)]
        others += [name for node in graph.node for name in _captured(node)]
        found: set[str] = set()
        for name, node in quantizable(graph.node, tensors, others).items():
            names = [one for one in node.input[1:4] if one]
            arrays = [
                host_array(tensors[one], self._external, f"initializer {one!r}")[0] for one in names
            ]
            blocks = packed(node, arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None)
            if blocks is not None:
                weights[name] = self._kept(prefix, name, *blocks)
                node.input[2:4] = ["", ""][: len(node.input) - 2]
                found.update(names)
        return found

    def _place(
        self, name: str, values: np.ndarray, narrow: NarrowType | None, read_on_host: set[str],
        constants: dict[str, Any], weights: dict[str, str], prefix: str, is_weight: bool = True,
    ) -> None:  # fmt: skip
        """Put an array on the host, if it is small and no weight, or else on the GPU."""
        is_float = values.dtype.kind in "fc"
        is_small = values.size <= MOST_ON_HOST and (
            not is_float or not is_weight or values.ndim == 0 or name in read_on_host
        )
        if narrow is None and (is_small or name in read_on_host):
            # Aligned, and independent of the file's memory.
            constants[name] = values.astype(values.dtype.newbyteorder("="), copy=True)
            self._context.keep(constants[name])
            return
        weights[name] = self._kept(prefix, name, values, narrow)

    def _kept(self, prefix: str, name: str, values: np.ndarray, kind: Kind) -> str:
        """Put an array on the GPU, and return its name in the model."""
        whole = f"{prefix}{name}"
        at = 0
        while whole in self._names:
            at += 1
            whole = f"{prefix}{name}#{at}"
        self._names.add(whole)
        self._keep(whole, values, kind)
        return whole

    def _constant(
        self, node: messages.Node, read_on_host: set[str], constants: dict[str, Any],
        weights: dict[str, str], prefix: str, given: Mapping[str, Any],
    ) -> None:  # fmt: skip
        where = f"node {node.name or node.output[0]!r} (Constant)"
        if len(node.attribute) != 1 or len(node.output) != 1:
            raise _refused(where, f"{len(node.attribute)} attributes", "have one value")
        narrow = None
        one = node.attribute[0]
        values: Any
        if one.ref_attr_name:
            values = given.get(one.ref_attr_name)
            if values is None:
                raise _refused(where, f"no attribute {one.ref_attr_name!r}", "have a value")
            values, narrow = values if isinstance(values, tuple) else (values, None)
            values = np.asarray(values, _PYTHON.get(one.name))
        elif one.t is not None:
            values, narrow = host_array(one.t, self._external, where)
        elif one.sparse_tensor is not None:
            values = dense(one.sparse_tensor, self._external, where, _MOST_DENSE)
        elif one.name in ("value_float", "value_int"):
            values = np.asarray(one.f if one.name == "value_float" else one.i, _PYTHON[one.name])
        elif one.name in ("value_floats", "value_ints"):
            numbers = one.ints if one.name == "value_ints" else one.floats
            values = np.array([] if numbers is None else numbers, _PYTHON[one.name])
        else:
            raise Unsupported("onnx.load", f"{where} has strings, which the GPU has not.")
        name = node.output[0]
        self._place(name, values, narrow, read_on_host, constants, weights, prefix, False)

    def _node(
        self, message: messages.Node, name: str, known: set[str], opsets: Mapping[str, int],
        prefix: str, level: int, given: Mapping[str, Any],
    ) -> Node | None:  # fmt: skip
        domain = "" if message.domain == "ai.onnx" else message.domain
        where = f"node {name!r} ({message.op_type})"
        function = self._functions.get((message.domain, message.op_type, message.overload))
        if function is not None:
            return self._call(function, message, name, prefix, level, given, where)
        opset = opsets.get(domain)
        if opset is None:
            if domain == "":
                raise _refused(where, "no opset for it", "of a domain that the model imports")
            opset = 1
        operator = registry.find(domain, message.op_type, opset)
        if operator is None:
            whole = f"{domain}.{message.op_type}" if domain else message.op_type
            self._missing.setdefault(f"{whole}, opset {opset}", []).append(name)
            return None
        count = len(message.input)
        if not operator.least <= count <= operator.most:
            most = operator.most if operator.most < 1 << 30 else "any number"
            raise _refused(where, f"{count} inputs", f"have {operator.least} to {most} inputs")
        attributes, plans = self._attributes(
            message, operator, where, known, opsets, f"{prefix}{name}.", level, given
        )
        node = Node(operator, name, message.input, message.output, attributes, self._context, opset)
        node.plans = plans
        return node

    def _attributes(
        self, message: messages.Node, operator: Operator, where: str, known: set[str],
        opsets: Mapping[str, int], prefix: str, level: int, given: Mapping[str, Any],
    ) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
        found: dict[str, Any] = {}
        plans: dict[str, Any] = {}
        for one in message.attribute:
            if one.name not in operator.attributes:
                expected = f"one of {', '.join(operator.attributes) or 'no attributes'}"
                raise _refused(f"{where}: attribute", repr(one.name), expected)
            if one.ref_attr_name:
                if one.ref_attr_name in given:
                    value = given[one.ref_attr_name]
                    (plans if isinstance(value, Plan) else found)[one.name] = value
            elif one.g is not None:
                inner = f"{prefix}{one.name}."
                plans[one.name] = self._graph(one.g, known, opsets, inner, level + 1, given)
            else:
                found[one.name] = self._value(one, where)
        for name, default in operator.attributes.items():
            if default is REQUIRED and name not in found and name not in plans:
                raise _refused(where, "none", f"have the attribute {name!r}")
        return found, plans

    def _value(self, one: messages.Attribute, where: str) -> Any:
        kind = one.type or _guessed(one)
        if kind == 1:
            return one.f
        if kind == 2:
            return one.i
        if kind == 3:
            return _text(one.s or memoryview(b""))
        if kind == 4 and one.t is not None:
            values, narrow = host_array(one.t, self._external, where)
            return Narrow(values, narrow) if narrow else values
        if kind == 6:
            return [] if one.floats is None else [float(x) for x in one.floats]
        if kind == 7:
            return list(one.ints)
        if kind == 8:
            return [_text(x) for x in one.strings]
        if kind == 13:
            return None  # a type, which values show
        raise Unsupported("onnx.load", f"{where} has the attribute {one.name!r} of type {kind}.")

    def _call(
        self, function: messages.Function, message: messages.Node, name: str, prefix: str,
        level: int, given: Mapping[str, Any], where: str,
    ) -> Node:  # fmt: skip
        """Return a node that runs a function of the model."""
        options: dict[str, Any] = {}
        for one in function.attribute_proto:
            options[one.name] = self._value(one, where)
        for one in message.attribute:
            if one.ref_attr_name:
                if one.ref_attr_name in given:
                    options[one.name] = given[one.ref_attr_name]
            else:
                options[one.name] = self._value(one, where)
        opsets = {**self._opsets, **_opsets(function.opset_import)}
        body = messages.Graph(
            node=function.node,
            input=[messages.ValueInfo(one) for one in function.input],
            output=[messages.ValueInfo(one) for one in function.output],
        )
        plan = self._graph(body, (), opsets, f"{prefix}{name}.", level + 1, options)
        missing = len(function.input) - len(message.input)
        inputs = [*message.input, *[""] * missing]

        def run(*values: Any) -> tuple[Any, ...]:
            return plan.run(values, {})

        operator = Operator(function.name, function.domain, 1, 1 << 30, run, (), False, True)
        node = Node(operator, name, inputs, message.output, {}, self._context, 1)
        node.body = plan
        return node


#: The dtypes of Constant's values by the attribute.
_PYTHON: dict[str, Any] = {
    "value_float": np.float32, "value_floats": np.float32, "value_int": np.int64,
    "value_ints": np.int64,
}  # fmt: skip


def _text(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")


def _guessed(one: messages.Attribute) -> int:
    """Return the type of an attribute whose file does not state it."""
    if one.t is not None:
        return 4
    if one.s is not None:
        return 3
    if one.floats is not None:
        return 6
    if one.ints:
        return 7
    if one.strings:
        return 8
    return 1 if one.f else 2


def _refused(where: str, actual: str, expected: str) -> InvalidArgument:
    return InvalidArgument("onnx.load", where, Description(actual), expected)


def _opsets(imports: Sequence[messages.OperatorSet]) -> dict[str, int]:
    found = {}
    for one in imports:
        registry.check_opset(one.domain, one.version)
        found["" if one.domain == "ai.onnx" else one.domain] = one.version
    return found


def _captured(node: messages.Node) -> Iterable[str]:
    """Iterate over the names that a node's subgraphs use from the graph around."""
    for attribute in node.attribute:
        for graph in (*([attribute.g] if attribute.g else []), *attribute.graphs):
            own = {one.name for one in graph.input}
            own.update(one.name for one in graph.initializer)
            own.update(one.values.name for one in graph.sparse_initializer if one.values)
            own.update(name for inner in graph.node for name in inner.output)
            for inner in graph.node:
                for name in (*inner.input, *_captured(inner)):
                    if name not in own:
                        yield name
            for out in graph.output:
                if out.name not in own:
                    yield out.name


def _host_inputs(nodes: Sequence[messages.Node], opsets: Mapping[str, int]) -> set[str]:
    """Return the names of values that operators read on the host."""
    found: set[str] = set()
    for node in nodes:
        domain = "" if node.domain == "ai.onnx" else node.domain
        operator = registry.find(domain, node.op_type, opsets.get(domain, 1))
        if operator:
            found.update(node.input[at] for at in operator.host if at < len(node.input))
    found.discard("")
    return found
