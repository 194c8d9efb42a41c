"""The tables of PyTorch's functions and methods, and the decorator that fills them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from browsergpu.arrays.value import NODE
from browsergpu.engine.core.element_types import is_same_kind
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.torch.tensors.tensor import BatchedTensor, Tensor, TrackedTensor, as_tensors

#: ``torch.<name>``.
FUNCTIONS: dict[str, Callable[..., Any]] = {}
#: Names of arguments that PyTorch also accepts.
_ALSO = {"axis": "dim", "axes": "dims", "keepdims": "keepdim", "x": "input", "a": "input"}


def public(
    *names: str, function: bool = True, method: bool = True, out: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function of PyTorch: its results are tensors.

    Parameters
    ----------
    *names
        Its names, by default its own without a final underscore.
    function, method
        Whether it is in the namespace ``torch``, and a method of tensors.
    out
        Whether it has an argument ``out``, a tensor that gets the result.
    """

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        call = returning_tensors(f, out=out)
        for name in names or (f.__name__.removesuffix("_"),):
            if function:
                FUNCTIONS[name] = call
            if method:
                add_method(name, call)
        return call

    return decorate


def returning_tensors(f: Callable[..., Any], *, out: bool = False) -> Callable[..., Any]:
    """Return a function whose results are tensors, and that accepts PyTorch's other names."""
    known = frozenset(signature(f).parameters)
    also = {own: theirs for own, theirs in _ALSO.items() if own not in known and theirs in known}

    def call(*args: Any, **options: Any) -> Any:
        target = None
        if options:
            if out and "out" in options:
                target = options.pop("out")
            for name in also.keys() & options.keys():
                options[also[name]] = options.pop(name)
        found = f(*args, **options)
        kind = type(found)
        if kind is not Tensor and kind is not TrackedTensor:
            found = as_tensors(found, (*args, *options.values()))
        return found if target is None else _put(f.__name__, found, target)

    return wraps(f)(call)


def _put(op: str, found: Any, target: Any) -> Any:
    if isinstance(found, tuple):
        return found._make([_put(op, *pair) for pair in zip(found, target, strict=True)])  # type: ignore[attr-defined]
    if not isinstance(target, Tensor):
        raise InvalidType(op, "out", target, "a tensor")
    if tuple(found.shape) != tuple(target.shape):
        raise InvalidArgument(op, "out", target, f"have the shape {tuple(found.shape)}")
    if not is_same_kind(NODE.__get__(found).kind, NODE.__get__(target).kind):
        raise InvalidType(op, "out", target.dtype, f"a dtype that can hold {found.dtype}")
    target[...] = found
    return target


def add_method(name: str, method: Any) -> None:
    """Give all classes of tensors a method or property."""
    for kind in (Tensor, TrackedTensor, BatchedTensor):
        setattr(kind, name, method)
