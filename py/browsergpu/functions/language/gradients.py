"""Errors for gradients of functions that only support inference."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.engine.core.errors import NotDifferentiable

F = TypeVar("F", bound=Callable[..., Any])


def refusing_gradients(instead: str) -> Callable[[F], F]:
    """Decorate a function that has no gradient and would lose it silently.

    It raises NotDifferentiable for arrays that require gradients, outside of ``no_grad()``.
    ``instead`` names the function to use instead.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            if is_grad_enabled() and any(type(x) in TRACKED for x in (*args, *options.values())):
                raise NotDifferentiable(
                    function.__name__, f"the kernel has no gradient. Use {instead}, or no_grad()."
                )
            return function(*args, **options)

        return call  # type: ignore[return-value]

    return decorate
