"""User-defined gradients, and gradient checkpointing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import update_wrapper, wraps
from itertools import chain
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import Frame, opened
from browsergpu.arrays.autograd.families import TRACKED
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
from browsergpu.arrays.autograd.variable import like_of, require
from browsergpu.autograd import trees
from browsergpu.autograd.backward import run_backward
from browsergpu.autograd.batching.levels import base, frames_in, is_tracked, like_base, wrapped
from browsergpu.autograd.transforms import identity
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, NotDifferentiable
from browsergpu.engine.core.showing import Description, Shown, shown
from browsergpu.functions.random import redraw


def _kept(x: Any) -> _KeptArgument:
    return _KeptArgument(kept_of(base(x)), frames_in(x))


def _as_results(op: str, found: Any) -> tuple[Any, ...]:
    """Return a function's result, or its several results, as a tuple of arrays."""
    results = found if isinstance(found, tuple) else (found,)
    for x in results:
        if not isinstance(x, Array):
            expected = "a function that returns an array or a tuple of arrays"
            raise InvalidType(op, "fun", x, expected)
    return results


class custom_vjp(Shown):
    """Decorate a function with a gradient that you define.

    Parameters
    ----------
    fun : callable
        Returns an array or a tuple of arrays. Its arguments may be arrays, dicts, lists and tuples
        of arrays, and any other objects.

    Raises
    ------
    NotDifferentiable
        When it is called with an array that requires a gradient before :meth:`defvjp`.
    InvalidType
        If the function returns something else.
    InvalidArgument
        If ``backward`` returns another number of gradients than there are arguments.

    Notes
    -----
    A second derivative differentiates ``forward`` and ``backward``::

        @browsergpu.custom_vjp
        def f(x, y):
            return x * y

        def forward(x, y):
            return f(x, y), (x, y)

        def backward(saved, g):
            x, y = saved
            return g * y, g * x

        f.defvjp(forward, backward)
    """

    #: Whether ``backward`` gets zeros for results without a gradient, and not None.
    has_zeros = True

    def __init__(self, fun: Callable[..., Any]) -> None:
        update_wrapper(self, fun)  # first, since it copies the attributes of a custom_vjp in fun
        self.fun = fun
        self._forward: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None

    def _facts(self) -> str:
        return f"of {shown(self.fun)}"

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Define the gradient.

        Parameters
        ----------
        forward : callable
            Takes the function's arguments. It returns the function's value, and an object for
            ``backward``, such as a tuple of saved arrays.
        backward : callable
            Takes that object and the gradient of the value, a tuple of gradients if the value is a
            tuple. It returns a gradient for each argument, or None for arguments without one.
        """
        self._forward, self._backward = forward, backward

    def __call__(self, *args: Any) -> Any:
        """Call the function. The call is recorded if an argument requires a gradient."""
        if not is_grad_enabled() or not any(map(is_tracked, trees.leaves(list(args)))):
            return self.fun(*trees.map_tree(values, list(args)))
        name = getattr(self.fun, "__name__", "custom_vjp")
        if self._forward is None:
            raise NotDifferentiable(name, "the function has no gradient yet. Call defvjp() first.")
        with no_grad():
            found, kept = self._forward(*trees.map_tree(values, list(args)))
        given = trees.leaves(list(args))
        operands = tuple(
            [Operand("args", n, base(x).source, like_of(base(x)))
             for n, x in enumerate(given) if is_tracked(x)]
        )  # fmt: skip
        results = _as_results(name, found)
        saved = {
            "args": trees.map_tree(_kept, list(args)), "kept": kept,
            "frames": [frames_in(x) for x in results], "has_several": isinstance(found, tuple),
        }  # fmt: skip
        own = [base(x) for x in results]
        node = AutogradNode(name, self, operands, likes_of(own), saved, has_several=True)
        made = [wrapped(x, frames) for x, frames in
                zip(results_of(node, tuple(own)), saved["frames"], strict=True)]  # fmt: skip
        return trees.unflatten(found, made)

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradients of a node's operands, computed by ``backward``."""
        assert self._forward
        assert self._backward
        assert node.saved
        frames = node.saved["frames"]
        with opened(chain(*frames, *[one.frames for one in trees.leaves(node.saved["args"])])):
            return self._of_examples(node, given, operands, frames)

    def _of_examples(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand],
        frames: Sequence[tuple[Frame, ...]],
    ) -> list[Any]:  # fmt: skip
        assert self._forward
        assert self._backward
        assert node.saved
        kept = node.saved["kept"]
        args = trees.map_tree(_KeptArgument.unpacked, node.saved["args"])
        if is_grad_enabled():
            # The backward pass is recorded, so the saved arrays must be tracked.
            _, kept = self._forward(*args)
        g = [None if x is None else wrapped(x, own) for x, own in zip(given, frames, strict=True)]
        found = self._backward(kept, tuple(g) if node.saved["has_several"] else g[0])
        by_argument = trees.leaves(list(found) if isinstance(found, tuple | list) else [found])
        expected = len(trees.leaves(node.saved["args"]))
        if len(by_argument) != expected:
            shown = f"{len(by_argument)} gradients"
            raise InvalidArgument(
                node.name,
                "backward",
                Description(shown),
                f"a function that returns {expected} gradients, one for each argument",
            )
        of = trees.leaves(args)
        return [
            like_base(g, of[at]) if isinstance(g := by_argument[at], Array) else g
            for one in operands for at in [one.at or 0]
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _KeptArgument:
    """An argument to save, and the frames of ``vmap`` that it is batched in."""

    value: Any
    frames: tuple[Frame, ...]

    def unpacked(self) -> Any:
        """Return the argument. It is tracked if the backward pass is recorded."""
        found = unpacked(self.value)
        return wrapped(found, self.frames) if self.frames else found


class _Recomputation:
    """Rules of a checkpointed call, which the backward pass computes again."""

    def __init__(self, fun: Callable[..., Any], draws: Iterable[redraw.Draws]) -> None:
        self.fun = fun
        self.draws = tuple(draws)

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradients of arguments and captured arrays, by a call of the function."""
        assert node.saved
        create_graph = is_grad_enabled()
        kept = node.saved["args"]
        leaves = [unpacked(x) for x in trees.leaves(kept)]
        with enable_grad():
            for one in operands:
                if one.at is not None:  # the function may also capture the argument
                    x = leaves[one.at]
                    leaves[one.at] = (
                        identity(x) if create_graph else require(x.__copy__(), node.name)
                    )
            with redraw.again(self.draws):
                again = self.fun(*trees.unflatten(kept, leaves), **node.saved["options"])
        found = _as_results(node.name, again)
        sources = [leaves[one.at].source if one.at is not None else one.source for one in operands]
        roots = [
            (x.source, g) for x, g in zip(found, given, strict=True)
            if type(x) in TRACKED and g is not None
        ]  # fmt: skip
        return run_backward(
            roots, sources, accumulate=False, create_graph=create_graph, retain_graph=create_graph,
            stop_at={source.node for source in sources},
        )  # fmt: skip


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that saves only its arguments, and is recomputed in the backward pass.

    It needs less memory and more time.

    Parameters
    ----------
    fun : callable
        Returns an array or a tuple of arrays, and the same values in each call with the same
        arguments.

    Returns
    -------
    callable
        Takes the same arguments and returns the same values.

    Raises
    ------
    InvalidType
        If ``fun`` returns something else.

    Notes
    -----
    Arrays that the function captures, such as parameters of a layer, have gradients too.

    The second call draws the same random numbers, for layers such as Dropout and for all generators
    that existed before the call. This includes replays of ``capture()``.

    Source: Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016.
    """

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        if not is_grad_enabled():
            return fun(*args, **options)
        since = next_number()
        with redraw.watched() as draws:
            found = fun(*args, **options)
        results = _as_results(getattr(fun, "__name__", "checkpoint"), found)
        roots = [x.source for x in results if type(x) in TRACKED]
        if not roots:
            return found
        operands = [
            Operand("args", n, x.source, like_of(x))
            for n, x in enumerate(trees.leaves(list(args))) if type(x) in TRACKED
        ]  # fmt: skip
        operands += [captured_operand(source) for source in captured_sources(roots, since)]
        again = autocast(enabled=is_autocast_enabled())(fun)
        saved = {"args": trees.map_tree(kept_of, list(args)), "options": options}
        node = AutogradNode(
            getattr(fun, "__name__", "checkpoint"), _Recomputation(again, draws.values()),
            tuple(operands), likes_of(results), saved, has_several=isinstance(found, tuple),
        )  # fmt: skip
        return results_of(node, trees.map_tree(values, found))

    return call


def captured_operand(source: Source) -> Operand:
    """Return the operand for an array that a function reads and does not get as an argument."""
    like = source.node.results[source.at]
    assert like is not None
    return Operand("captured", None, source, like)


def captured_sources(roots: Sequence[Source], since: int) -> set[Source]:
    """Return the sources that the nodes since a number depend on: earlier results, and leaves."""
    found = {source for source in roots if _precedes(source, since)}
    for node in behind(roots, since):
        if node.number >= since:
            found.update(one.source for one in node.operands if _precedes(one.source, since))
    return found


def _precedes(source: Source, since: int) -> bool:
    return source.node.number < since or isinstance(source.node, Leaf)
