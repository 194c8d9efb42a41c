"""Gradient methods and attributes of arrays, with PyTorch's names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from browsergpu.arrays.apply import duplicate
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.nodes import Leaf
from browsergpu.arrays.autograd.variable import plain, require
from browsergpu.arrays.handles import Handle, added
from browsergpu.arrays.views.aliases import alias
from browsergpu.autograd.backward import run_backward, seed
from browsergpu.engine.core.above import ABOVE, register
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, NotDifferentiable
from browsergpu.engine.core.turns import exclusive


def requires_grad(x: Array) -> bool:
    """Return whether operations on an array are recorded."""
    return type(x) in TRACKED


def set_requires_grad(x: Array, wanted: bool) -> Array:
    """Make an array a leaf, or make a leaf untracked."""
    return require(x, "requires_grad", wanted)


def is_leaf(x: Array) -> bool:
    """Return whether an array is not the result of a recorded operation."""
    return type(x) not in TRACKED or isinstance(x.source.node, Leaf)


def grad(x: Array) -> Array | None:
    """Return the accumulated gradient of an array, or None."""
    if type(x) not in TRACKED:
        return None
    node, at = x.source
    return node.grad if isinstance(node, Leaf) else (node.retained or {}).get(at)


def set_grad(x: Array, value: Any) -> None:
    """Replace the gradient of a leaf, or remove it with None."""
    if type(x) not in TRACKED or not is_leaf(x):
        raise InvalidArgument("grad", "array", x, "a leaf: an array with requires_grad set")
    if value is not None:
        if not isinstance(value, Array):
            raise InvalidType("grad", "value", value, "an array or None")
        if value.shape != x.shape:
            raise InvalidArgument("grad", "value", value, f"have shape {x.shape}")
        value = detach(value)
    x.source.node.grad = value


def backward(x: Array, gradient: Any, retain_graph: bool, create_graph: bool) -> None:
    """Add the gradients of the leaves that an array depends on to their ``grad``."""
    if type(x) not in TRACKED:
        raise NotDifferentiable(
            "backward",
            "the array was computed from no array that requires a gradient. Call "
            "requires_grad_() on the inputs first.",
        )
    run_backward(
        [(x.source, seed("backward", x, gradient))], (), accumulate=True,
        create_graph=create_graph, retain_graph=retain_graph or create_graph,
    )  # fmt: skip


def retain_grad(x: Array) -> None:
    """Make ``backward`` accumulate ``grad`` for the result of an operation too."""
    _noted("retain_grad", x)
    node, at = x.source
    if not isinstance(node, Leaf):
        if node.retained is None:
            node.retained = {}
        node.retained.setdefault(at, None)


def retains_grad(x: Array) -> bool:
    """Return whether an array is the result of an operation and retains its gradient."""
    return type(x) in TRACKED and x.source.at in (x.source.node.retained or {})


def register_hook(x: Array, hook: Callable[[Array], Array | None]) -> Handle:
    """Register a function that is called with each gradient of an array."""
    op = "register_hook"
    _noted(op, x)
    if not callable(hook):
        raise InvalidType(op, "hook", hook, "a function of the gradient")
    node, at = x.source
    if node.hooks is None:
        node.hooks = {}
    return added(node.hooks.setdefault(at, {}), hook)


def _noted(op: str, x: Array) -> None:
    if type(x) not in TRACKED:
        raise NotDifferentiable(op, "the array requires no gradient")


#: Creates an array of a special class, such as a parameter, from its value and ``requires_grad``.
Constructor = Callable[[Array, bool], Array]
#: Functions that return the constructor for an array's special class, or None for other arrays.
CONSTRUCTORS: list[Callable[[Array], Constructor | None]] = []


def _constructor(x: Array) -> Constructor | None:
    return next((found for of in CONSTRUCTORS if (found := of(x)) is not None), None)


def _leaf(op: str, x: Array) -> None:
    """Raise if an array is an operation's result. A copy would lose its autograd graph."""
    if not is_leaf(x):
        given = "an operation's result, whose gradient would be lost"
        raise NotDifferentiable(op, f"array must be a leaf, got {given}. Use x.detach().")


@exclusive
def deep_copy(x: Array) -> Array:
    """Return a leaf with a copy of the values and of the gradient.

    A copied parameter has no gradient.
    """
    _leaf("deepcopy", x)
    own = duplicate(plain(x))
    constructor = _constructor(x)
    if constructor is not None:
        return constructor(own, requires_grad(x))
    if type(x) in TRACKED:
        require(own, "deepcopy")
        gradient = grad(x)
        own.source.node.grad = None if gradient is None else deep_copy(detach(gradient))
    return own


def pickled(x: Array) -> Any:
    """Return a function that rebuilds an array, and its arguments. Waits for the GPU.

    The rebuilt array keeps ``requires_grad`` and has no gradient.
    """
    _leaf("pickle", x)
    constructor, wanted = _constructor(x), requires_grad(x)
    found = ABOVE.numpy_protocols.pickled(plain(x))
    if constructor is None and not wanted:
        return found
    if wanted and x.source.node.hooks and any(x.source.node.hooks.values()):
        warnings.warn("pickle: the hooks of an array are not pickled with it", stacklevel=2)
    return remade, (constructor or set_requires_grad, wanted, *found)


def remade(
    constructor: Constructor, wanted: bool, function: Callable[..., Array], args: Any
) -> Array:
    """Rebuild a pickled array. Pickles refer to this function by its name."""
    return constructor(function(*args), wanted)


@exclusive
def detach(x: Array) -> Array:
    """Return a view of an array whose operations are not recorded."""
    return alias(x, plain(x), follows=False)


register("array_gradients", sys.modules[__name__])
