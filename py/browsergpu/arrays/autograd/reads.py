"""Checks of reads that would lose a gradient. The error names the line that reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from sys import _getframe
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import DIFFERENTIATED, is_grad_enabled
from browsergpu.arrays.autograd.nodes import Source, behind
from browsergpu.engine.core.errors import NotDifferentiable
from browsergpu.engine.core.places import is_own, users_place

#: Reads as a NumPy array or a buffer, which PyTorch refuses too.
_AS_ARRAYS = frozenset(("numpy", "numpy_async", "__array__", "__dlpack__", "to_device"))
#: Reads as integers and bools, whose gradient is 0.
_AS_STEPS = frozenset(("__int__", "__bool__", "__index__", "__contains__"))


@contextmanager
def differentiating(op: str, inputs: Iterable[Source]) -> Iterator[None]:
    """Mark the body as the function that ``op`` differentiates with respect to these inputs."""
    own = op, frozenset([source.node for source in inputs])
    token = DIFFERENTIATED.set((*DIFFERENTIATED.get(), own))
    try:
        yield
    finally:
        DIFFERENTIATED.reset(token)


def check_read(x: Any, name: str) -> None:
    """Raise if a read of a Variable loses its gradient.

    Parameters
    ----------
    x : Variable
        The array that is read.
    name : str
        The method that reads it.

    Raises
    ------
    NotDifferentiable
        - For a NumPy array or DLPack capsule of any Variable.
        - For a number from a value that ``grad`` and similar functions differentiate.
        - For a number that a function of this package reads.

    Notes
    -----
    Under ``no_grad()`` all reads are allowed. Reads as integers and bools always are.
    """
    if not is_grad_enabled() or name in _AS_STEPS:
        return
    by = _differentiated_by(x)
    if by is not None:
        is_what = f"an array that {by}() differentiates"
        then = "Use browsergpu's functions instead, or x.detach() for its values."
    elif name in _AS_ARRAYS or _is_read_here():
        is_what = "an array that requires a gradient"
        then = "Use x.detach(), or read it under no_grad()."
    else:
        return
    place = users_place()
    where = f" in {place}" if place else ""
    op = name.strip("_")
    raise NotDifferentiable(
        op, f"array must require no gradient, got {is_what}{where}. Its gradient would be lost. "
        f"{then}"
    )  # fmt: skip


def check_number(op: str, argument: str, x: Any) -> None:
    """Raise if an argument without a gradient rule requires a gradient."""
    if isinstance(x, Array) and x.is_tracked and is_grad_enabled():
        place = users_place()
        where = f" in {place}" if place else ""
        raise NotDifferentiable(
            op, f"{argument} must require no gradient, got an array that does{where}. "
            "Its gradient would be lost. Use detach() for its values."
        )  # fmt: skip


def _is_read_here() -> bool:
    """Return whether a function of this package reads, not its user."""
    return is_own(_getframe(3))


def _differentiated_by(x: Any) -> str | None:
    """Return the innermost function, such as grad, that differentiates an array's origin."""
    for op, inputs in reversed(DIFFERENTIATED.get()):
        if inputs and inputs & behind([x.source], min(node.number for node in inputs)):
            return str(op)
    return None
