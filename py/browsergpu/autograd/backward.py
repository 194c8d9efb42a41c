"""The backward pass: reverse-mode automatic differentiation.

Source: Griewank and Walther, Evaluating Derivatives, 2nd edition, 2008, chapter 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from browsergpu.arrays.autograd.nodes import AutogradNode, Leaf, Like, Operand, Source, behind
from browsergpu.arrays.autograd.precision import autocast
from browsergpu.arrays.graphs.hooks import block_of
from browsergpu.arrays.in_place import become
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, NotDifferentiable
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, data_types, manipulation, statistics
from browsergpu.functions.pieces import Pieces


def run_backward(
    roots: Sequence[tuple[Source, Array]],
    targets: Iterable[Source],
    *,
    accumulate: bool,
    create_graph: bool = False,
    retain_graph: bool = False,
    stop_at: Collection[AutogradNode] = (),
) -> list[Array | None]:
    """Run the backward pass.

    Parameters
    ----------
    roots
        Sources with their gradients.
    targets
        Sources whose gradients are returned.
    accumulate
        Add to the ``grad`` of every leaf.
    create_graph
        Record the backward pass, if gradients are enabled.
    retain_graph
        Keep the saved values for another backward pass.
    stop_at
        Nodes whose hooks and operands are skipped.

    Returns
    -------
    list
        A gradient for each target, or None if the roots do not depend on it.
    """
    asked = list(targets)
    found: dict[AutogradNode, list[Any]] = {}
    waiting: list[tuple[int, AutogradNode]] = []
    kept: dict[Source, Array | None] = dict.fromkeys(asked)
    wanted = {target.node for target in asked}
    needed = None if accumulate else _nodes_leading_to(wanted, [source for source, _ in roots])
    leaves: list[tuple[Leaf, Array]] = []
    before = is_grad_enabled()
    mode = enable_grad() if create_graph and before else no_grad()
    with mode, autocast(enabled=False):
        for source, gradient in roots:
            _add_gradient(found, waiting, source, gradient)
        while waiting:
            _, node = heappop(waiting)
            gradients = [one.array() if isinstance(one, Pieces) else one for one in found.pop(node)]
            if node not in stop_at:  # the enclosing backward pass runs the hooks of these nodes
                _run_hooks(node, gradients)
            for at in range(len(gradients)):
                if (source := Source(node, at)) in kept:
                    kept[source] = gradients[at]
            if isinstance(node, Leaf):
                if accumulate and gradients[0] is not None:
                    leaves.append((node, gradients[0]))
                continue
            if node in stop_at:
                continue
            for operand, gradient in _operand_gradients(node, gradients, needed):
                _add_gradient(found, waiting, operand.source, gradient)
            if not retain_graph:
                node.release()
        for leaf, gradient in leaves:  # last, so that an exception in a rule changes no leaf
            _accumulate(leaf, gradient)
    return [kept[target] for target in asked]


@exclusive
def _accumulate(leaf: Leaf, gradient: Array) -> None:
    """Add to the gradient of a leaf. Other threads may do so at the same time."""
    leaf.grad = _accumulated(leaf.grad, gradient)


def _accumulated(before: Array | None, gradient: Any) -> Any:
    """Return the sum of an accumulated gradient, if any, and a new one."""
    if before is None:
        # A separate array, because the user may change either array in place. Packed arrays share
        # the memory until then.
        node = NODE.__get__(gradient)
        is_packed = node.trace is not None or (node.strides is None and node.offset == 0)
        return gradient.same() if is_packed and not gradient.is_tracked else gradient.__copy__()
    if block_of(gradient) is None:
        return before + gradient
    become(before, before + gradient)  # each replay of the captured graph adds to this array
    return before


def _run_hooks(node: AutogradNode, gradients: list[Array | None]) -> None:
    """Call the hooks of a node's results, and accumulate the retained gradients."""
    for at, hooks in tuple((node.hooks or {}).items()):
        for hook in tuple(hooks.values()):
            gradient = gradients[at]
            if gradient is not None:
                # A copy, because a rule may return the same array for several operands.
                own = gradient.__copy__()
                gradients[at] = _checked(own, hook(own))
    if node.retained:
        for at, before in node.retained.items():
            gradient = gradients[at]
            if gradient is not None:
                node.retained[at] = _accumulated(before, gradient)


def _checked(gradient: Any, found: Any) -> Any:
    """Return a hook's result, or the gradient if that is None. Raise for an invalid result."""
    op = "register_hook"
    if found is None:
        return gradient
    if not isinstance(found, Array):
        raise InvalidType(op, "hook", found, "a function that returns an array or None")
    if found.shape != gradient.shape or found.dtype != gradient.dtype:
        expected = f"a function that returns shape {gradient.shape} and dtype {gradient.dtype}"
        raise InvalidArgument(op, "hook", found, expected)
    return found


def _nodes_leading_to(wanted: set[AutogradNode], roots: Sequence[Source]) -> set[AutogradNode]:
    """Return the nodes between the roots and the wanted nodes."""
    leading = set(wanted)
    for node in sorted(behind(roots), key=lambda one: one.number):
        if any(operand.source.node in leading for operand in node.operands):
            leading.add(node)
    return leading


def _add_gradient(
    found: dict[AutogradNode, list[Any]],
    waiting: list[tuple[int, AutogradNode]],
    source: Source,
    gradient: Array | Pieces,
) -> None:
    """Add to the gradient of a source, and queue its node."""
    node = source.node
    known = found.get(node)
    if known is None:
        known = found[node] = [None] * len(node.results)
        heappush(waiting, (-node.number, node))
    own = known[source.at]
    if own is None:
        known[source.at] = gradient
    elif isinstance(own, Pieces) and isinstance(gradient, Pieces):
        known[source.at] = own.and_of(gradient)
    else:
        first, second = (x.array() if isinstance(x, Pieces) else x for x in (own, gradient))
        known[source.at] = first + second


def _operand_gradients(
    node: AutogradNode, gradients: list[Array | None], needed: set[AutogradNode] | None
) -> Iterable[tuple[Operand, Array]]:
    """Yield the gradients of a node's operands, from those of its results."""
    rules = node.rules
    if rules is None:
        raise NotDifferentiable(
            node.name, "an earlier backward() freed the graph. Pass retain_graph=True to that call."
        )  # fmt: skip
    operands = [one for one in node.operands if needed is None or one.source.node in needed]
    if not operands:
        return
    given = gradients
    if getattr(rules, "has_zeros", True):
        given = [
            _zeros(like) if gradient is None and like is not None else gradient
            for gradient, like in zip(gradients, node.results, strict=True)
        ]
    for operand, gradient in zip(operands, rules.gradients(node, given, operands), strict=True):
        if gradient is not None:
            yield operand, _as_like(gradient, operand.like)


def _zeros(like: Like) -> Array:
    return creation.zeros(like.shape, dtype=like.dtype, device=like.device)


def _as_like(gradient: Any, like: Like) -> Any:
    """Sum, broadcast and cast a gradient to the shape and dtype of its operand."""
    if isinstance(gradient, Pieces):
        return gradient
    if not isinstance(gradient, Array):
        gradient = creation.full(like.shape, gradient, dtype=like.dtype, device=like.device)
    if gradient.shape != like.shape:
        ahead = gradient.ndim - len(like.shape)
        spread = tuple(
            [ahead + n for n, extent in enumerate(like.shape)
             if extent == 1 and ahead + n >= 0 and gradient.shape[ahead + n] != 1]
        )  # fmt: skip
        if ahead > 0 or spread:
            axes = (*range(max(ahead, 0)), *spread)
            gradient = statistics.sum(gradient, axis=axes, keepdims=bool(spread))
            if spread and ahead > 0:
                gradient = manipulation.reshape(gradient, gradient.shape[ahead:])
        if gradient.shape != like.shape:
            gradient = manipulation.broadcast_to(gradient, like.shape)
    if gradient.dtype != like.dtype:
        if gradient.dtype.kind == "c" and like.dtype.kind == "f":
            gradient = gradient.real
        gradient = data_types.astype(gradient, like.dtype)
    return gradient


def seed(op: str, x: Array, gradient: Any) -> Any:
    """Return the initial gradient of a backward pass, by default 1 for an array of one element."""
    if gradient is None:
        if x.size != 1:
            expected = f"a gradient of shape {x.shape}, as the array has {x.size} elements"
            raise InvalidArgument(op, "gradient", None, expected)
        return creation.ones(x.shape, dtype=x.dtype, device=x.device)
    if not isinstance(gradient, Array):
        gradient = creation.asarray(gradient, dtype=x.dtype, device=x.device)
    if gradient.shape != x.shape:
        raise InvalidArgument(op, "gradient", gradient, f"have shape {x.shape}, as the array has")
    return gradient
