"""Hooks that a module's gradients pass, as ``register_full_backward_hook``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.autograd.array_methods import detach
from browsergpu.autograd.custom import custom_vjp
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.torch.tensors.tensor import as_tensors

_Gradients = tuple[Any, ...]


def _watched(xs: Sequence[Any], hook: Callable[[_Gradients], _Gradients]) -> list[Any]:
    """Return arrays whose gradients pass a hook."""

    def forward(*given: Array) -> tuple[tuple[Array, ...], None]:
        return tuple([detach(x) for x in given]), None

    same = custom_vjp(lambda *given: forward(*given)[0])
    same.defvjp(forward, lambda _, g: hook(as_tensors(g)))
    return list(as_tensors(same(*xs)))


def _replaced(op: str, given: _Gradients, found: Any) -> _Gradients:
    if found is None:
        return given
    own = found if isinstance(found, tuple) else (found,)
    if len(own) != len(given):
        raise InvalidType(op, "result", found, f"None or {len(given)} gradients")
    return own


class BackwardHooks(Shown):
    """The hooks of one call of a module."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self._before = list(module.__dict__.get("_backward_pre_hooks", {}).values())
        self._after = list(module.__dict__.get("_backward_hooks", {}).values())
        self._of_outputs: _Gradients = ()
        self._count = 0
        self._places: list[int] = []

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of ``forward``, whose gradients call the hooks."""
        self._count = len(args)
        self._places = [n for n, x in enumerate(args) if isinstance(x, Array)]
        own = [args[n] for n in self._places]
        if not self._after or not is_grad_enabled() or not any(x.requires_grad for x in own):
            self._places = []
            return args
        found = list(args)
        for n, x in zip(self._places, _watched(own, self._call), strict=True):
            found[n] = x
        return tuple(found)

    def outputs(self, result: Any) -> Any:
        """Return the results of ``forward``, whose gradients call the hooks."""
        several = list(result) if isinstance(result, tuple) else [result]
        places = [n for n, x in enumerate(several) if isinstance(x, Array)]
        own = [several[n] for n in places]
        if not is_grad_enabled() or not any(x.requires_grad for x in own):
            return result

        def hook(given: _Gradients) -> _Gradients:
            found: list[Any] = [None] * len(several)
            for n, g in zip(places, given, strict=True):
                found[n] = g
            self._of_outputs = tuple(found)
            for one in self._before:
                op = "full_backward_pre_hook"
                changed = one(self.module, self._of_outputs)
                self._of_outputs = _replaced(op, self._of_outputs, changed)
            if not self._places:  # no input requires a gradient
                for one in self._after:
                    one(self.module, (None,) * self._count, self._of_outputs)
            return tuple([self._of_outputs[n] for n in places])

        for n, x in zip(places, _watched(own, hook), strict=True):
            several[n] = x
        return tuple(several) if isinstance(result, tuple) else several[0]

    def _call(self, given: _Gradients) -> _Gradients:
        found: list[Any] = [None] * self._count
        for n, g in zip(self._places, given, strict=True):
            found[n] = g
        now = tuple(found)
        for one in self._after:
            changed = one(self.module, now, self._of_outputs)
            now = _replaced("full_backward_hook", now, changed)
        return tuple([now[n] for n in self._places])
