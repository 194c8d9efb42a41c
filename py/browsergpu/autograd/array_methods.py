"""What arrays themselves do of gradients, by PyTorch's names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from browsergpu.arrays.apply import duplicate
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Leaf
from browsergpu.arrays.autograd.variable import Variable, plain, require
from browsergpu.arrays.handles import Handle, added
from browsergpu.arrays.views.aliases import alias
from browsergpu.autograd.backward import seed, swept
from browsergpu.core.above import ABOVE, register
from browsergpu.core.errors import InvalidArgument, InvalidType, NotDifferentiable
from browsergpu.core.turns import exclusive


def requires_grad(x: Array) -> bool:
    """Whether operations on it are noted."""
    return type(x) is Variable


def set_requires_grad(x: Array, wanted: bool) -> Array:
    """Makes it a leaf, or an array like others."""
    return require(x, "requires_grad", wanted)


def is_leaf(x: Array) -> bool:
    """Whether it is no result of an operation that was noted."""
    return type(x) is not Variable or isinstance(x.source.node, Leaf)


def grad(x: Array) -> Array | None:
    """What was added up for it."""
    if type(x) is not Variable:
        return None
    step, at = x.source
    return step.grad if isinstance(step, Leaf) else (step.retained or {}).get(at)


def set_grad(x: Array, value: Any) -> None:
    """Puts another gradient in its place, or none."""
    if type(x) is not Variable or not is_leaf(x):
        raise InvalidArgument("grad", "array", x, "a leaf: an array with requires_grad set")
    if value is not None:
        if not isinstance(value, Array):
            raise InvalidType("grad", "value", value, "an array or None")
        if value.shape != x.shape:
            raise InvalidArgument("grad", "value", value, f"have shape {x.shape}")
        value = detach(value)
    x.source.node.grad = value


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
    return type(x) is Variable and x.source.at in (x.source.node.retained or {})


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


#: What of an array that is more than an array, such as a parameter, makes another one: of a value
#: and of whether that requires a gradient. None for other arrays.
Maker = Callable[[Array, bool], Array]
MAKERS: list[Callable[[Array], Maker | None]] = []


def _maker(x: Array) -> Maker | None:
    return next((found for maker in MAKERS if (found := maker(x)) is not None), None)


def _leaf(op: str, x: Array) -> None:
    """Raises for an operation's result: what it was computed from would be lost."""
    if not is_leaf(x):
        given = "an operation's result, whose gradient would be lost"
        raise NotDifferentiable(op, f"array must be a leaf, got {given}. Use x.detach().")


@exclusive
def deep_copy(x: Array) -> Array:
    """Another leaf of the same values, with a copy of its gradient; a parameter's has none."""
    _leaf("deepcopy", x)
    own = duplicate(plain(x))
    maker = _maker(x)
    if maker is not None:
        return maker(own, requires_grad(x))
    if type(x) is Variable:
        require(own, "deepcopy")
        gradient = grad(x)
        own.source.node.grad = None if gradient is None else deep_copy(detach(gradient))
    return own


def pickled(x: Array) -> Any:
    """What makes an array again, and of what: it requires a gradient as before, and has none yet.
    Waits."""
    _leaf("pickle", x)
    maker, wanted = _maker(x), requires_grad(x)
    found = ABOVE.numpy_protocols.pickled(plain(x))
    if maker is None and not wanted:
        return found
    if wanted and x.source.node.hooks and any(x.source.node.hooks.values()):
        warnings.warn("pickle: the hooks of an array are not pickled with it", stacklevel=2)
    return remade, (maker or set_requires_grad, wanted, *found)


def remade(maker: Maker, wanted: bool, function: Callable[..., Array], args: Any) -> Array:
    """An array that was pickled."""
    return maker(function(*args), wanted)


@exclusive
def detach(x: Array) -> Array:
    """A view of the whole of it, whose operations are not noted."""
    return alias(x, plain(x), follows=False)


register("array_gradients", sys.modules[__name__])
