"""From a result back to what it was computed from: reverse accumulation.

Source: Griewank and Walther, Evaluating Derivatives, 2nd edition, 2008, chapter 3."""

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
from browsergpu.core.errors import InvalidArgument, InvalidType, NotDifferentiable
from browsergpu.core.turns import exclusive
from browsergpu.functions import creation, data_types, manipulation, statistics


def swept(
    roots: Sequence[tuple[Source, Array]],
    targets: Iterable[Source],
    *,
    accumulates: bool,
    creates_graph: bool = False,
    keeps: bool = False,
    ends: Collection[AutogradNode] = (),
) -> list[Array | None]:
    """The gradients of what the roots' gradients are those of, by the targets; None where nothing
    leads to one. ``accumulates`` adds to the ``grad`` of every leaf; ``creates_graph`` notes the
    sweep, too; ``keeps`` leaves what was kept for another sweep. It goes no further back than
    ``ends``."""
    asked = list(targets)
    found: dict[AutogradNode, list[Array | None]] = {}
    waiting: list[tuple[int, AutogradNode]] = []
    kept: dict[Source, Array | None] = dict.fromkeys(asked)
    wanted = {target.node for target in asked}
    needed = None if accumulates else _leading_to(wanted, [source for source, _ in roots])
    leaves: list[tuple[Leaf, Array]] = []
    before = is_grad_enabled()
    noted = enable_grad() if creates_graph and before else no_grad()
    with noted, autocast(enabled=False):
        for source, gradient in roots:
            _arrive(found, waiting, source, gradient)
        while waiting:
            _, step = heappop(waiting)
            gradients = found.pop(step)
            if step not in ends:  # whose hooks are for the sweep that goes on from there
                _hook(step, gradients)
            for at in range(len(gradients)):
                if (source := Source(step, at)) in kept:
                    kept[source] = gradients[at]
            if isinstance(step, Leaf):
                if accumulates and gradients[0] is not None:
                    leaves.append((step, gradients[0]))
                continue
            if step in ends:
                continue
            for operand, gradient in _of_operands(step, gradients, needed):
                _arrive(found, waiting, operand.source, gradient)
            if not keeps:
                step.release()
        for leaf, gradient in leaves:  # at the end: all of them, or none where a rule raises
            _add(leaf, gradient)
    return [kept[target] for target in asked]


@exclusive
def _add(leaf: Leaf, gradient: Array) -> None:
    """Adds to a leaf's gradient, which another thread may do as well."""
    leaf.grad = _added(leaf.grad, gradient)


def _added(before: Array | None, gradient: Any) -> Any:
    """What is kept of a gradient beside what was kept before."""
    if before is None:
        # Another array: what is done to one in place is not to be seen in the other.
        return gradient.__copy__()
    if block_of(gradient) is None:
        return before + gradient
    become(before, before + gradient)  # which each replay adds to
    return before


def _hook(step: AutogradNode, gradients: list[Array | None]) -> None:
    """Calls the hooks of a step's results, and keeps the gradients that are to be kept."""
    for at, hooks in tuple((step.hooks or {}).items()):
        for hook in tuple(hooks.values()):
            gradient = gradients[at]
            if gradient is not None:
                # Another array: rules may have given one and the same to several operands.
                own = gradient.__copy__()
                gradients[at] = _hooked(own, hook(own))
    if step.retained:
        for at, before in step.retained.items():
            gradient = gradients[at]
            if gradient is not None:
                step.retained[at] = _added(before, gradient)


def _hooked(gradient: Any, found: Any) -> Any:
    op = "register_hook"
    if found is None:
        return gradient
    if not isinstance(found, Array):
        raise InvalidType(op, "hook", found, "a function that gives an array or None")
    if found.shape != gradient.shape or found.dtype != gradient.dtype:
        expected = (
            f"a function that gives shape {gradient.shape} and dtype {gradient.dtype}, as it gets"
        )
        raise InvalidArgument(op, "hook", found, expected)
    return found


def _leading_to(wanted: set[AutogradNode], roots: Sequence[Source]) -> set[AutogradNode]:
    """The steps, from the roots back, on a way to one of those that are wanted."""
    leading = set(wanted)
    for step in sorted(behind(roots), key=lambda one: one.number):
        if any(operand.source.node in leading for operand in step.operands):
            leading.add(step)
    return leading


def _arrive(
    found: dict[AutogradNode, list[Array | None]],
    waiting: list[tuple[int, AutogradNode]],
    source: Source,
    gradient: Array,
) -> None:
    step = source.node
    known = found.get(step)
    if known is None:
        known = found[step] = [None] * len(step.results)
        heappush(waiting, (-step.number, step))
    own = known[source.at]
    known[source.at] = gradient if own is None else own + gradient


def _of_operands(
    step: AutogradNode, gradients: list[Array | None], needed: set[AutogradNode] | None
) -> Iterable[tuple[Operand, Array]]:
    rules = step.rules
    if rules is None:
        raise NotDifferentiable(
            step.name, "what its gradient needs was let go by an earlier backward(); "
            "retain_graph=True keeps it"
        )  # fmt: skip
    operands = [one for one in step.operands if needed is None or one.source.node in needed]
    if not operands:
        return
    given = [
        _zeros(like) if gradient is None and like is not None else gradient
        for gradient, like in zip(gradients, step.results, strict=True)
    ]
    for operand, gradient in zip(operands, rules.gradients(step, given, operands), strict=True):
        if gradient is not None:
            yield operand, _fitted(gradient, operand.like)


def _zeros(like: Like) -> Array:
    return creation.zeros(like.shape, dtype=like.dtype, device=like.device)


def _fitted(gradient: Any, like: Like) -> Any:
    """A gradient in the shape and dtype of what it is of."""
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
            gradient = statistics.sum(gradient, axis=axes, keepdims=True)
            gradient = manipulation.reshape(gradient, gradient.shape[max(ahead, 0) :])
        if gradient.shape != like.shape:
            gradient = manipulation.broadcast_to(gradient, like.shape)
    if gradient.dtype != like.dtype:
        if gradient.dtype.kind == "c" and like.dtype.kind == "f":
            gradient = gradient.real
        gradient = data_types.astype(gradient, like.dtype)
    return gradient


def seed(op: str, x: Array, gradient: Any) -> Any:
    """The gradient that a sweep begins with: ones for a number, else what was given."""
    if gradient is None:
        if x.size != 1:
            expected = "a gradient of its shape, as only a single number has one by itself"
            raise InvalidArgument(op, "gradient", None, expected)
        return creation.ones(x.shape, dtype=x.dtype, device=x.device)
    if not isinstance(gradient, Array):
        gradient = creation.asarray(gradient, dtype=x.dtype, device=x.device)
    if gradient.shape != x.shape:
        raise InvalidArgument(op, "gradient", gradient, f"have shape {x.shape}, as the array has")
    return gradient
