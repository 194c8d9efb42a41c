"""A graph as a list of nodes in order, and its run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.onnx.graph.node import Node


class Plan(Shown):
    """A graph, ready to run.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names.
    nodes : list of Node
        In the order of their computation.
    constants : dict
        Arrays on the host, by name.
    weights : dict
        Names of the model's parameters and buffers, by the name of the value.
    arrays : mapping
        The model's parameters and buffers by name.
    captured : frozenset of str
        Names of an outer graph's values.
    types : tuple
        The declared dtype and shape of each output, or None. Unknown extents are 0.
    """

    def __init__(
        self, inputs: Sequence[str], outputs: Sequence[str], nodes: Sequence[Node],
        constants: dict[str, Any], weights: dict[str, str], arrays: Any,
        types: Sequence[tuple[Any, tuple[int, ...]] | None] = (),
    ) -> None:  # fmt: skip
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.nodes, self.types = list(nodes), tuple(types)
        self.constants, self.weights, self.arrays = constants, weights, arrays
        #: Names of the outer graph's values that this graph uses.
        self.captured: frozenset[str] = frozenset()
        own = {*inputs, *constants, *weights}
        own.update(name for node in self.nodes for name in node.outputs)
        needed = set(self.outputs)
        for node in self.nodes:
            needed.update(node.inputs)
            needed.update(name for plan in plans_of(node) for name in plan.captured)
        self.captured = frozenset(needed - own - {""})
        self._mark_dead()

    def _facts(self) -> str:
        return f"of {len(self.nodes)} nodes"

    def _mark_dead(self) -> None:
        """Let each node drop the values that no later node needs, to free their memory."""
        needed = {*self.outputs, *self.constants, *self.weights}
        for node in reversed(self.nodes):
            used = {*node.inputs, *node.outputs}
            used.update(name for plan in plans_of(node) for name in plan.captured)
            node.dead = tuple(used - needed - self.captured - {""})
            needed |= used

    def run(self, values: Sequence[Any], outer: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the outputs for the inputs. ``outer`` has the values of the graph around."""
        known: dict[str, Any] = {name: outer[name] for name in self.captured}
        known.update(self.constants)
        for name, whole in self.weights.items():
            known[name] = self.arrays[whole]
        known.update(zip(self.inputs, values, strict=True))
        known[""] = None
        for node in self.nodes:
            try:
                found = node.compute([known[name] for name in node.inputs], known)
            except Exception as error:
                _describe(error, node, known)
                raise
            for name, value in zip(node.outputs, found, strict=False):
                if name:
                    known[name] = value
            for name in node.dead:
                known.pop(name, None)
        return tuple(known[name] for name in self.outputs)


def plans_of(node: Node) -> Iterable[Plan]:
    """Iterate over the subgraphs of a node."""
    for plan in node.plans.values():
        yield from plan if isinstance(plan, list) else (plan,)


def all_nodes(plan: Plan) -> Iterable[Node]:
    """Iterate over the nodes of a graph and of its subgraphs."""
    for node in plan.nodes:
        yield node
        for inner in (*plans_of(node), *([node.body] if node.body else [])):
            yield from all_nodes(inner)


def _describe(error: Exception, node: Node, known: Mapping[str, Any]) -> None:
    given = ", ".join(f"{name} {_short(known.get(name))}" for name in node.inputs if name)
    note = f"In the node {node.name!r} ({node.operator.name}) of the model, with inputs {given}."
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _short(x: Any) -> str:
    shape = getattr(x, "shape", None)
    if shape is None:
        return f"({type(x).__name__})"
    dtype = getattr(x, "dtype", None) or x.type.name
    return f"{tuple(shape)} {dtype}"


def sorted_nodes(nodes: Sequence[Any], known: Iterable[str], where: str) -> list[Any]:
    """Return messages of nodes so that each follows those that compute its inputs.

    ``needs`` of each node are its inputs. Raises InvalidArgument if they form a cycle, or an input
    comes from nowhere.
    """
    ready = set(known) | {""}
    makers: dict[str, int] = {}
    for at, (node, _) in enumerate(nodes):
        for name in node.output:
            if name and (name in makers or name in ready):
                actual = f"two values with the name {name!r}"
                raise _refused(where, actual, "have one node for each value")
            if name:
                makers[name] = at
    waits = [0] * len(nodes)
    users: list[list[int]] = [[] for _ in nodes]
    for at, (node, needs) in enumerate(nodes):
        for name in set(needs) - ready:
            if name not in makers:
                actual = f"the input {name!r} of {_name(node, at)}, which no node computes"
                raise _refused(where, actual, "have a source for each value")
            users[makers[name]].append(at)
            waits[at] += 1
    # The file's order is kept where it is right.
    if all(makers.get(name, -1) < at for at, (_, needs) in enumerate(nodes) for name in needs):
        return [node for node, _ in nodes]
    free = [at for at, count in enumerate(waits) if not count]
    order = []
    while free:
        at = free.pop(0)
        order.append(nodes[at][0])
        for user in users[at]:
            waits[user] -= 1
            if not waits[user]:
                free.append(user)
    if len(order) < len(nodes):
        stuck = next(at for at, count in enumerate(waits) if count)
        actual = f"a cycle, with {_name(nodes[stuck][0], stuck)}"
        raise _refused(where, actual, "have no cycle")
    return order


def _name(node: Any, at: int) -> str:
    return f"node {node.name or at!r} ({node.op_type})"


def _refused(where: str, actual: str, expected: str) -> InvalidArgument:
    return InvalidArgument("onnx.load", where, Description(actual), expected)
