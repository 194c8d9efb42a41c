"""Functions that give gradients of functions, by JAX's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import DIFFERENTIATED, enable_grad, is_grad_enabled
from browsergpu.arrays.autograd.nodes import Leaf, Source, behind
from browsergpu.arrays.autograd.reads import differentiating
from browsergpu.arrays.autograd.rules import differentiable, values
from browsergpu.arrays.autograd.variable import Variable, require, source_of
from browsergpu.autograd import trees
from browsergpu.autograd.backward import seed, swept
from browsergpu.core.checks import integer
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description
from browsergpu.functions import creation


@differentiable(x=lambda g: g)
def same(x: Array, /) -> Array:
    """The array, as the result of a step of its own."""
    return x.__copy__()


class _Inputs:
    """Arguments whose float arrays are noted from here on, beside what was noted before."""

    def __init__(self, args: Sequence[Any]) -> None:
        self.given = trees.leaves(list(args))
        self.noted = [_input(x) if _is_float(x) else None for x in self.given]
        own = [x if y is None else y for x, y in zip(self.given, self.noted, strict=True)]
        self.args: list[Any] = trees.filled(list(args), own)
        self.sources = [x.source for x in self.noted if x is not None]

    def gradients(self, tree: Sequence[Any], found: Sequence[Array | None]) -> list[Any]:
        """Gradients in the form of the arguments: zeros where nothing leads to one, None for
        what is no float."""
        those = iter(found)
        own = [None if x is None else _or_zeros(next(those), x) for x in self.noted]
        return trees.filled(list(tree), own)  # type: ignore[no-any-return]


def _is_float(x: Any) -> bool:
    if isinstance(x, Array | np.ndarray | np.generic):
        return x.dtype.kind in "fc"
    return isinstance(x, float | complex)


def _input(x: Any) -> Any:
    if type(x) is Variable:
        return same(x)
    return _leaf(x.__copy__() if isinstance(x, Array) else creation.asarray(x), "grad")


def _leaf(x: Array, op: str) -> Array:
    """An array that nobody else has as an input of what is differentiated."""
    require(x, op).source.node.is_input = True
    return x


def _or_zeros(gradient: Array | None, like: Array) -> Array:
    return creation.zeros_like(like) if gradient is None else gradient


def _numbers(op: str, argnums: Any, count: int) -> tuple[int, ...]:
    given = argnums if isinstance(argnums, list | tuple) else (argnums,)
    found = [integer(op, "argnums", n, -count, count - 1) for n in given]
    if any(n >= count for n in found):
        raise InvalidArgument(op, "argnums", argnums, f"numbers of the {count} arguments")
    return tuple([n % count for n in found])


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives ``fun``'s value, a number, and its gradient by one of its arguments, or
    a tuple of those by several. An argument may be an array, a float, or a dict, list or tuple of
    these; the gradient has its form, zeros where the value does not depend on it, None for whole
    numbers. With ``has_aux`` ``fun`` gives the value and something more, and so does this.

    Raises InvalidArgument, a ValueError, where the value is no single number. NotDifferentiable, a
    RuntimeError that names the line, where ``fun`` reads a value that depends on these arguments
    (``float(x)``, ``x.item()``, ``x.tolist()``, ``np.asarray(x)``): the gradient would lack what is
    computed from it. ``x.detach()`` and values computed under ``no_grad()`` can be read, and
    ``if x > 0:`` and ``int(x)`` are steps, whose gradient is 0."""
    return _with_gradient("value_and_grad", fun, argnums, has_aux)


def _with_gradient(
    op: str, fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool
) -> Callable[..., Any]:
    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        chosen = _numbers(op, argnums, len(args))
        outside = is_grad_enabled()
        with enable_grad():
            inputs = _Inputs([args[n] for n in chosen])
            own = list(args)
            for n, given in zip(chosen, inputs.args, strict=True):
                own[n] = given
            with differentiating(op, inputs.sources):
                found = fun(*own, **options)
            value, aux = found if has_aux else (found, None)
            if not isinstance(value, Array):
                raise InvalidType(op, "fun", value, "a function that gives an array of one number")
            if value.dtype.kind != "f" or value.size != 1:
                shown = f"a function that gives shape {value.shape} and dtype {value.dtype}"
                raise InvalidArgument(
                    op, "fun", Description(shown), "a function that gives one real number"
                )
            goes_on = outside and _depends_on_others(value, inputs)
        gradients = _swept(value, seed(op, value, None), inputs, goes_on)
        formed = inputs.gradients([args[n] for n in chosen], gradients)
        shown_value = value if goes_on else values(value)
        shown_aux = aux if goes_on else trees.mapped(values, aux)
        result = tuple(formed) if isinstance(argnums, list | tuple) else formed[0]
        return ((shown_value, shown_aux) if has_aux else shown_value), result

    return call


def _swept(
    value: Array, gradient: Array, inputs: _Inputs, goes_on: bool, *, keeps: bool = False
) -> list[Array | None]:
    source = source_of(value)
    if source is None:
        return [None] * len(inputs.sources)
    return swept(
        [(source, gradient)], inputs.sources, accumulates=False,
        creates_graph=goes_on, keeps=goes_on or keeps,
    )  # fmt: skip


def _depends_on_others(value: Any, inputs: _Inputs) -> bool:
    """Whether something else led to it that requires a gradient: a leaf of the user's, or an input
    of a function that is differentiated around this one."""
    roots = [x.source for x in trees.leaves(value) if type(x) is Variable]
    own = {source.node for source in inputs.sources}
    around = {step for _, steps in DIFFERENTIATED.get() for step in steps}
    return any(
        isinstance(step, Leaf) and step not in own and (step in around or not step.is_input)
        for step in behind(roots)
    )


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient alone of what :func:`value_and_grad` gives, with
    ``has_aux`` and what ``fun`` gives more. ``grad(grad(f))`` is the second derivative."""
    both = _with_gradient("grad", fun, argnums, has_aux)

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        value, gradient = both(*args, **options)
        return (gradient, value[1]) if has_aux else gradient

    return call


def vjp(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """``fun``'s value at the primals, and a function from a cotangent, of the value's form, to its
    products with the Jacobian: a tuple, one for each primal. ``fun`` cannot read what depends on
    the primals, as in :func:`value_and_grad`."""
    outside = is_grad_enabled()
    with enable_grad():
        inputs = _Inputs(primals)
        with differentiating("vjp", inputs.sources):
            value = fun(*inputs.args)
        goes_on = outside and _depends_on_others(value, inputs)
    outputs = trees.leaves(value)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = trees.leaves(cotangent)
        if len(given) != len(outputs):
            expected = f"have {len(outputs)} arrays, as the value has"
            raise InvalidArgument("vjp", "cotangent", Description(f"{len(given)} arrays"), expected)
        roots = [
            (x.source, seed("vjp", x, g))
            for x, g in zip(outputs, given, strict=True)
            if type(x) is Variable
        ]
        tracked = any(type(g) is Variable for g in given)
        found = swept(
            roots, inputs.sources, accumulates=False, creates_graph=goes_on or tracked, keeps=True
        )
        return tuple(inputs.gradients(primals, found))

    return (value if goes_on else trees.mapped(values, value)), pullback


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """``fun``'s value at the primals, and the product of its Jacobian with the tangents, in the
    value's form; the tangents have the primals'. It is the gradient of a gradient, by what that is
    multiplied with. ``fun`` cannot read what depends on the primals, as in :func:`value_and_grad`.

    Source: Townsend, "A new trick for calculating Jacobian vector products", 2017."""
    outside = is_grad_enabled()
    with enable_grad():
        inputs = _Inputs(primals)
        with differentiating("jvp", inputs.sources):
            value = fun(*inputs.args)
        is_along = any(type(t) is Variable for t in trees.leaves(list(tangents)))
        goes_on = outside and (is_along or _depends_on_others(value, inputs))
        outputs = trees.leaves(value)
        duals: list[tuple[Array, Source]] = []
        for x in outputs:
            if type(x) is Variable:
                duals.append((_leaf(creation.zeros_like(x), "jvp"), x.source))
        pulled = swept(
            [(source, dual) for dual, source in duals], inputs.sources,
            accumulates=False, creates_graph=True, keeps=True,
        )  # fmt: skip
    given = [t for t, x in zip(trees.leaves(list(tangents)), inputs.noted, strict=True)
             if x is not None]  # fmt: skip
    roots = [
        (x.source, seed("jvp", x, t))
        for x, t in zip(pulled, given, strict=True)
        if type(x) is Variable
    ]
    wanted = [dual.source for dual, _ in duals]
    found = iter(swept(
        roots, wanted, accumulates=False, creates_graph=goes_on, keeps=goes_on
    ))  # fmt: skip
    made = [
        _or_zeros(next(found) if type(x) is Variable else None, x)
        if isinstance(x, Array) else None
        for x in outputs
    ]  # fmt: skip
    return (value if goes_on else trees.mapped(values, value)), trees.filled(value, made)
