"""Functions with gradients of their own, as ``torch.autograd.function``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled, no_grad
from browsergpu.arrays.autograd.rules import keep
from browsergpu.arrays.autograd.variable import source_of
from browsergpu.arrays.value import NODE
from browsergpu.autograd.custom import custom_vjp
from browsergpu.engine.core.errors import InvalidArgument, NotDifferentiable
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.torch.tensors.tensor import Tensor, TrackedTensor, as_tensors

_WITH_NODES = Tensor, TrackedTensor


def _several(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


class FunctionCtx(Shown):
    """What the forward pass of a Function keeps for the backward pass."""

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self._constant: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._has_zeros = True
        self._constant_places: list[int] = []
        self._changes: list[tuple[int, Any, int | None]] = []
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for ``saved_tensors``."""
        self._saved = tensors

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were kept."""
        return self._saved

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say that results have no gradient. ``backward`` gets zeros for them."""
        self._constant = args

    def mark_dirty(self, *args: Any) -> None:
        """Say that arguments were changed in place. They must be results, too."""
        self._dirty = args

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether ``backward`` gets zeros for results without a gradient, or None."""
        self._has_zeros = bool(value)

    def _note(self, given: list[Any], nodes: list[Any], results: tuple[Any, ...]) -> None:
        """Note which arguments the forward pass changed, and which results have no gradient."""
        for at, (x, node) in enumerate(zip(given, nodes, strict=True)):
            is_dirty = any(x is one for one in self._dirty)
            if is_dirty or (node is not None and NODE.__get__(x) is not node):
                self._changes.append((at, x, _position(x, results) if is_dirty else None))
        places = [_position(one, results) for one in self._constant]
        self._constant_places = [at for at in places if at is not None]

    def _keep(self, results: tuple[Any, ...], tracked: tuple[Any, ...]) -> None:
        """Keep the values of saved tensors. Saved results become the same results, tracked."""
        places = [_position(x, results) for x in self._saved]
        own = [
            x if at is None else tracked[at] for x, at in zip(self._saved, places, strict=True)
        ]  # fmt: skip
        self._saved = tuple([_private(x) for x in own])


@exclusive
def _private(x: Any) -> Any:
    """Return a tensor of the same values, which stay when ``x`` is written to, and vice versa."""
    return as_tensors(keep(x, None).value) if type(x) is Tensor else x


def _position(x: Any, results: tuple[Any, ...]) -> int | None:
    return next((at for at, one in enumerate(results) if one is x), None)


class Function(Shown):
    """A function with a gradient of your own: ``forward(ctx, ...)`` and ``backward(ctx, g)``."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep what the backward pass needs, if ``forward`` takes no ``ctx``."""
        raise NotImplementedError("setup_context")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call the function."""
        needs = tuple([source_of(x) is not None for x in args])
        places = [at for at, x in enumerate(args) if isinstance(x, Array)]
        own: Any = cls
        last: list[FunctionCtx] = []

        def run(*arrays: Any) -> tuple[Any, FunctionCtx]:
            ctx = FunctionCtx()
            ctx.needs_input_grad = needs
            last[:] = [ctx]
            given = list(args)
            for at, x in zip(places, arrays, strict=True):
                given[at] = as_tensors(x if x is args[at] else _private(x))
            nodes = [NODE.__get__(x) if type(x) in _WITH_NODES else None for x in given]
            is_recorded = is_grad_enabled() and any(source_of(x) is not None for x in arrays)
            with no_grad():
                if own.setup_context is not Function.setup_context:
                    found = own.forward(*given)
                    own.setup_context(ctx, tuple(given), found)
                else:
                    found = own.forward(ctx, *given)
            results = _several(found)
            ctx._note(given, nodes, results)
            needs_results = any(_position(x, results) is not None for x in ctx._saved)
            tracked = results
            if is_recorded and needs_results:
                tracked = _several(as_tensors(function(*arrays)))
            ctx._keep(results, tracked)
            return found, ctx

        arrays = [args[at] for at in places]
        if not is_grad_enabled() or not any(needs):
            return as_tensors(run(*arrays)[0], args)

        def fun(*given: Any) -> Any:
            return run(*given)[0]

        fun.__name__ = own.__name__
        function = custom_vjp(fun)

        def backward(ctx: FunctionCtx, g: Any) -> Any:
            found = _several(own.backward(ctx, *as_tensors(_several(g))))
            return _checked(f"{own.__name__}.backward", found, args)

        function.defvjp(run, backward)
        found = as_tensors(function(*arrays), args)
        function.has_zeros = last[0]._has_zeros
        return _finished(last[0], args, found)


def _checked(op: str, found: tuple[Any, ...], args: tuple[Any, ...]) -> list[Any]:
    """Return the gradients of the tensors among the arguments."""
    own, rest = found[: len(args)], found[len(args) :]
    if len(own) < len(args) or any(g is not None for g in rest):
        expected = f"{len(args)} gradients, one for each argument of forward"
        raise InvalidArgument(op, "result", Description(f"{len(found)} gradients"), expected)
    for g, x in zip(own, args, strict=True):
        if g is not None and not isinstance(x, Array):
            expected = "None for an argument that is no tensor"
            raise InvalidArgument(op, "result", g, expected)
    return [g for g, x in zip(own, args, strict=True) if isinstance(x, Array)]


def _finished(ctx: FunctionCtx, args: tuple[Any, ...], found: Any) -> Any:
    """Change the arguments that the forward pass changed, and return the results."""
    results = list(_several(found))
    for at, value, place in ctx._changes:
        if place is None:
            with no_grad():
                args[at].copy_(value)
        else:
            args[at].copy_(results[place])
            results[place] = args[at]
    for place in ctx._constant_places:
        results[place] = results[place].detach()
    return tuple(results) if isinstance(found, tuple) else results[0]


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``backward`` to raise NotDifferentiable when it is differentiated."""

    @wraps(fn)
    def backward(ctx: Any, *g: Any) -> Any:
        with no_grad():
            found = fn(ctx, *g)
        places = [n for n, x in enumerate(_several(found)) if isinstance(x, Array)]
        if not is_grad_enabled() or not any(source_of(x) is not None for x in g):
            return found
        given = list(_several(found))

        def again(*_: Any) -> Any:
            raise NotDifferentiable(fn.__qualname__, "it is marked @once_differentiable.")

        function = custom_vjp(lambda *_: tuple([given[n] for n in places]))
        function.defvjp(lambda *_: (function.fun(), None), again)
        for n, x in zip(places, as_tensors(function(*g)), strict=True):
            given[n] = x
        return tuple(given)

    return backward
