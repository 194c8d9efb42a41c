"""Gradients that users say themselves, and those that are computed twice to keep less."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper, wraps
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from browsergpu.arrays.autograd.nodes import (
    AutogradNode,
    Leaf,
    Operand,
    Source,
    behind,
    next_number,
)
from browsergpu.arrays.autograd.precision import autocast, is_autocast_enabled
from browsergpu.arrays.autograd.rules import kept_of, likes_of, results_of, unpacked, values
from browsergpu.arrays.autograd.variable import Variable, like_of, require
from browsergpu.autograd import trees
from browsergpu.autograd.backward import swept
from browsergpu.autograd.transforms import same
from browsergpu.core.errors import InvalidArgument, InvalidType, NotDifferentiable
from browsergpu.core.showing import Description, Shown, shown
from browsergpu.functions.random import redraw


def _as_results(op: str, found: Any) -> tuple[Any, ...]:
    results = found if isinstance(found, tuple) else (found,)
    for x in results:
        if not isinstance(x, Array):
            raise InvalidType(op, "fun", x, "a function that gives an array, or a tuple of arrays")
    return results


class custom_vjp(Shown):
    """A function whose gradient its author says, as a decorator:

        @browsergpu.custom_vjp
        def f(x, y): ...                       # an array, or a tuple of arrays

        def forward(x, y):                     # f's value, and what backward needs
            return f(x, y), (x, y)

        def backward(kept, g):                 # a gradient for each argument, None for none
            x, y = kept
            return g * y, g * x

        f.defvjp(forward, backward)

    Arguments may be arrays, dicts, lists and tuples of them, and anything else. A second derivative
    goes through both functions. Raises NotDifferentiable, a RuntimeError, where ``defvjp`` was not
    called, InvalidArgument where backward gives another number of gradients."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self._forward: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        update_wrapper(self, fun)

    def _facts(self) -> str:
        return f"of {shown(self.fun)}"

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Says how the gradient is computed."""
        self._forward, self._backward = forward, backward

    def __call__(self, *args: Any) -> Any:
        """The function's value."""
        if not is_grad_enabled() or not any(type(x) is Variable for x in trees.leaves(list(args))):
            return self.fun(*trees.mapped(values, list(args)))
        name = getattr(self.fun, "__name__", "custom_vjp")
        if self._forward is None:
            raise NotDifferentiable(name, "its gradient was not said: call defvjp first")
        with no_grad():
            found, kept = self._forward(*trees.mapped(values, list(args)))
        given = trees.leaves(list(args))
        operands = tuple(
            [Operand("args", n, x.source, like_of(x))
             for n, x in enumerate(given) if type(x) is Variable]
        )  # fmt: skip
        saved = {"args": trees.mapped(kept_of, list(args)), "kept": kept}
        results = _as_results(name, found)
        step = AutogradNode(
            name, self, operands, likes_of(results), saved, has_several=isinstance(found, tuple)
        )
        return results_of(step, found)

    def gradients(
        self, step: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """What backward gives for operands of a step."""
        assert self._forward
        assert self._backward
        assert step.saved
        kept = step.saved["kept"]
        if (
            is_grad_enabled()
        ):  # the gradient is to have one: what is kept must say where it comes from
            _, kept = self._forward(*trees.mapped(unpacked, step.saved["args"]))
        found = self._backward(kept, tuple(given) if step.has_several else given[0])
        by_argument = trees.leaves(list(found) if isinstance(found, tuple | list) else [found])
        expected = len(trees.leaves(step.saved["args"]))
        if len(by_argument) != expected:
            shown = f"{len(by_argument)} gradients"
            raise InvalidArgument(
                step.name,
                "backward",
                Description(shown),
                f"a function that gives {expected} gradients, one for each argument",
            )
        return [by_argument[one.at or 0] for one in operands]


class _Again:
    """The rules of a part that is computed again when its gradient is wanted."""

    def __init__(self, fun: Callable[..., Any], draws: Iterable[redraw.Draws]) -> None:
        self.fun = fun
        self.draws = tuple(draws)

    def gradients(
        self, step: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Of the function's value, which is computed again, by its arguments and by others."""
        assert step.saved
        noted = is_grad_enabled()
        kept = step.saved["args"]
        leaves = [unpacked(x) for x in trees.leaves(kept)]
        with enable_grad():
            for one in operands:
                if one.at is not None:  # a source of its own, as it may come from beside, too
                    x = leaves[one.at]
                    leaves[one.at] = same(x) if noted else require(x.__copy__(), step.name)
            with redraw.again(self.draws):
                again = self.fun(*trees.filled(kept, leaves), **step.saved["options"])
        found = _as_results(step.name, again)
        sources = [leaves[one.at].source if one.at is not None else one.source for one in operands]
        roots = [
            (x.source, g) for x, g in zip(found, given, strict=True)
            if type(x) is Variable and g is not None
        ]  # fmt: skip
        return swept(
            roots, sources, accumulates=False, creates_graph=noted, keeps=noted,
            ends={source.node for source in sources},
        )  # fmt: skip


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function that keeps nothing of how it came to its value but its arguments, and is computed
    again when its gradient is wanted: less memory for more time. What it uses beside its arguments
    has its gradient, too. It gives an array or a tuple of arrays, and the same ones each time:
    random numbers are drawn again as they were, by layers such as Dropout and by all generators
    that were there before, also in replays of ``capture()``.

    Source: Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016."""

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        if not is_grad_enabled():
            return fun(*args, **options)
        since = next_number()
        with redraw.watched() as draws:
            found = fun(*args, **options)
        results = _as_results(getattr(fun, "__name__", "checkpoint"), found)
        roots = [x.source for x in results if type(x) is Variable]
        if not roots:
            return found
        operands = [
            Operand("args", n, x.source, like_of(x))
            for n, x in enumerate(trees.leaves(list(args))) if type(x) is Variable
        ]  # fmt: skip
        operands += [_from_beside(source) for source in _entered(roots, since)]
        again = autocast(enabled=is_autocast_enabled())(fun)
        saved = {"args": trees.mapped(kept_of, list(args)), "options": options}
        step = AutogradNode(
            getattr(fun, "__name__", "checkpoint"), _Again(again, draws.values()), tuple(operands),
            likes_of(results), saved, has_several=isinstance(found, tuple),
        )  # fmt: skip
        return results_of(step, trees.mapped(values, found))

    return call


def _from_beside(source: Source) -> Operand:
    like = source.node.results[source.at]
    assert like is not None
    return Operand("beside", None, source, like)


def _entered(roots: Sequence[Source], since: int) -> set[Source]:
    """Where what was noted since a number comes from: results of earlier steps, and leaves."""
    found = {source for source in roots if _is_before(source, since)}
    for step in behind(roots, since):
        if step.number >= since:
            found.update(one.source for one in step.operands if _is_before(one.source, since))
    return found


def _is_before(source: Source, since: int) -> bool:
    return source.node.number < since or isinstance(source.node, Leaf)
