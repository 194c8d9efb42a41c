"""What arrays themselves do of gradients, by PyTorch's names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from browsergpu.array.array import Array
from browsergpu.array.gradients.sweep import seed, swept
from browsergpu.array.tracking.steps import Leaf
from browsergpu.array.tracking.variable import Variable, plain, require
from browsergpu.core.errors import InvalidArgument, InvalidType, NotDifferentiable
from browsergpu.core.handles import Handle, added


def requires_grad(x: Array) -> bool:
    """Whether operations on it are noted."""
    return type(x) is Variable


def set_requires_grad(x: Array, wanted: bool) -> Array:
    """Makes it a leaf, or an array like others."""
    return require(x, "requires_grad", wanted)


def is_leaf(x: Array) -> bool:
    """Whether it is no result of an operation that was noted."""
    return type(x) is not Variable or isinstance(x.source.step, Leaf)


def grad(x: Array) -> Array | None:
    """What was added up for it."""
    if type(x) is not Variable:
        return None
    step, at = x.source
    return step.grad if isinstance(step, Leaf) else (step.retained or {}).get(at)


def set_grad(x: Array, value: Any) -> None:
    """Puts another gradient in its place, or none."""
    if type(x) is not Variable or not is_leaf(x):
        raise InvalidArgument("grad", "array", x.shape, "a leaf: an array with requires_grad set")
    if value is not None:
        if not isinstance(value, Array):
            raise InvalidType("grad", "value", value, "an array or None")
        if value.shape != x.shape:
            raise InvalidArgument("grad", "value", value.shape, f"shape {x.shape}")
        value = detach(value)
    x.source.step.grad = value


def backward(x: Array, gradient: Any, retain_graph: bool, create_graph: bool) -> None:
    """Adds the gradients of its leaves to their ``grad``."""
    if type(x) is not Variable:
        raise NotDifferentiable("backward", "nothing that it was computed from requires a gradient")
    swept(
        [(x.source, seed("backward", x, gradient))], (), accumulates=True,
        creates_graph=create_graph, keeps=retain_graph or create_graph,
    )  # fmt: skip


def retain_grad(x: Array) -> None:
    """Has the gradients of an operation's result added to its ``grad``, too."""
    _noted("retain_grad", x)
    step, at = x.source
    if not isinstance(step, Leaf):
        if step.retained is None:
            step.retained = {}
        step.retained.setdefault(at, None)


def retains_grad(x: Array) -> bool:
    """Whether it is an operation's result that keeps its gradient."""
    return type(x) is Variable and x.source.at in (x.source.step.retained or {})


def register_hook(x: Array, hook: Callable[[Array], Array | None]) -> Handle:
    """Has a function called with each gradient."""
    op = "register_hook"
    _noted(op, x)
    if not callable(hook):
        raise InvalidType(op, "hook", hook, "a function of the gradient")
    step, at = x.source
    if step.hooks is None:
        step.hooks = {}
    return added(step.hooks.setdefault(at, {}), hook)


def _noted(op: str, x: Array) -> None:
    if type(x) is not Variable:
        raise NotDifferentiable(op, "the array requires no gradient")


def detach(x: Array) -> Array:
    """Another array of its value. Of one that a graph changes it is a copy: it stays as it is."""
    found = plain(x)
    return found.like(found.node)


Array._gradients = sys.modules[__name__]
