"""Jacobians and Hessians, as ``torch.autograd.functional``."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.autograd.grad_mode import enable_grad
from browsergpu.autograd import jacobians
from browsergpu.engine.core.errors import InvalidArgument, UnknownName
from browsergpu.torch.tensors.tensor import as_tensors


def _checked(op: str, strict: bool, vectorize: bool, **strategies: str) -> None:
    """Raise for options that are not available. Jacobians are vectorized in any case."""
    del vectorize
    if strict:
        raise InvalidArgument(op, "strict", strict, "False")
    for name, value in strategies.items():
        if value not in ("reverse-mode", "forward-mode"):
            raise InvalidArgument(op, name, value, "'reverse-mode' or 'forward-mode'")


def _derivative(transform: Any, func: Any, inputs: Any, create_graph: bool) -> Any:
    """Return a Jacobian or Hessian for one tensor, or for a tuple of tensors."""
    is_tuple = isinstance(inputs, list | tuple)
    given = tuple(inputs) if is_tuple else (inputs,)
    if not create_graph:
        given = tuple([x.detach() for x in given])
    numbers = tuple(range(len(given))) if is_tuple else 0
    with enable_grad():
        return as_tensors(transform(func, numbers)(*given), given)


def jacobian(
    func: Any, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Return the Jacobian of a function of one tensor, or of a tuple of tensors."""
    _checked("jacobian", strict, vectorize, strategy=strategy)
    own = jacobians.jacfwd if strategy == "forward-mode" else jacobians.jacrev
    return _derivative(own, func, inputs, create_graph)


def hessian(
    func: Any, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Return the second derivatives of a function of one tensor, or of a tuple of tensors."""
    _checked("hessian", strict, vectorize, outer_jacobian_strategy=outer_jacobian_strategy)
    return _derivative(jacobians.hessian, func, inputs, create_graph)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.autograd.functional.{name}", "use torch.func.")
