"""Gradients, as ``torch.autograd``."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.autograd.grad_mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_mode,
)
from browsergpu.arrays.autograd.variable import source_of
from browsergpu.autograd.backward import run_backward, seed
from browsergpu.engine.core.errors import InvalidArgument, NotDifferentiable
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation
from browsergpu.torch.autograd import function, functional
from browsergpu.torch.autograd.function import Function
from browsergpu.torch.tensors.devices import notice
from browsergpu.torch.tensors.public import returning_tensors


class set_grad_enabled(Shown):
    """Enable or disable gradients: from now on, in a ``with`` block, or in a decorated function.

    The mode belongs to a context of contextvars. Threads and tasks that have begun keep theirs.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before = is_grad_enabled()
        set_grad_mode(self.mode)

    def __enter__(self) -> None:
        set_grad_mode(self.mode)

    def __exit__(self, *_: object) -> None:
        set_grad_mode(self._before)

    def __call__(self, function: Any) -> Any:
        """Return the function with this mode. The mode outside of its calls stays."""
        set_grad_mode(self._before)
        return (enable_grad() if self.mode else no_grad())(function)


def inference_mode(mode: Any = True) -> Any:
    """Disable gradients, in a ``with`` block or for a function."""
    if callable(mode):
        return no_grad()(mode)
    return no_grad() if mode else enable_grad()


def _several(x: Any) -> list[Any]:
    return list(x) if isinstance(x, list | tuple) else [x]


@returning_tensors
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: Any = None,
    create_graph: bool = False, allow_unused: Any = None, is_grads_batched: bool = False,
    materialize_grads: bool = False, only_inputs: bool = True,
) -> Any:  # fmt: skip
    """Return the gradients of outputs with respect to inputs."""
    if is_grads_batched:
        raise InvalidArgument("grad", "is_grads_batched", is_grads_batched, "False")
    del only_inputs
    roots, targets = _several(outputs), _several(inputs)
    given = [None] * len(roots) if grad_outputs is None else _several(grad_outputs)
    for x in targets:
        if source_of(x) is None:
            raise NotDifferentiable("grad", "one of the inputs does not require a gradient.")
    found = run_backward(
        [(x.source, seed("grad", x, g)) for x, g in zip(roots, given, strict=True)
         if source_of(x) is not None],
        [x.source for x in targets], accumulate=False, create_graph=create_graph,
        retain_graph=create_graph if retain_graph is None else retain_graph,
    )  # fmt: skip
    if materialize_grads:
        found = [
            creation.zeros_like(x) if g is None else g for x, g in zip(targets, found, strict=True)
        ]
    elif not allow_unused and any(g is None for g in found):
        raise NotDifferentiable("grad", "an input was not used. Pass allow_unused=True.")
    return tuple(found)


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False
) -> None:
    """Add the gradients of tensors to the ``grad`` of leaves."""
    roots = _several(tensors)
    given = [None] * len(roots) if grad_tensors is None else _several(grad_tensors)
    run_backward(
        [(x.source, seed("backward", x, g)) for x, g in zip(roots, given, strict=True)], (),
        accumulate=True, create_graph=create_graph,
        retain_graph=bool(retain_graph) or create_graph,
    )  # fmt: skip


Variable = returning_tensors(
    lambda data, requires_grad=False: data.requires_grad_() if requires_grad else data
)


class set_detect_anomaly(Shown):
    """Accept PyTorch's setting. Errors here name the user's line anyway.

    Gradients are not searched for NaN, which a notice says.
    """

    def __init__(self, mode: bool = True, check_nan: bool = True) -> None:
        if mode and check_nan:
            notice("anomaly", "detect_anomaly: gradients are not searched for NaN.")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


detect_anomaly = set_detect_anomaly
__all__ = ["Function", "Variable", "backward", "detect_anomaly", "function", "functional", "grad"]
