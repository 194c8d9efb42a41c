"""Function transforms for gradients, with JAX's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.grad_mode import DIFFERENTIATED, enable_grad, is_grad_enabled
from browsergpu.arrays.autograd.nodes import Leaf, Source, behind
from browsergpu.arrays.autograd.reads import differentiating
from browsergpu.arrays.autograd.rules import differentiable, values
from browsergpu.arrays.autograd.variable import require, source_of
from browsergpu.autograd import trees
from browsergpu.autograd.backward import run_backward, seed
from browsergpu.core.checks import integer
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description
from browsergpu.functions import creation


@differentiable(x=lambda g: g)
def identity(x: Array, /) -> Array:
    """Return the array as the result of a separate autograd node."""
    return x.__copy__()


class _TrackedInputs:
    """Arguments of a differentiated function, with their floats as tracked arrays."""

    def __init__(self, args: Sequence[Any]) -> None:
        self.given = trees.leaves(list(args))
        self.tracked = [_input(x) if _is_float(x) else None for x in self.given]
        own = [x if y is None else y for x, y in zip(self.given, self.tracked, strict=True)]
        self.args: list[Any] = trees.unflatten(list(args), own)
        self.sources = [x.source for x in self.tracked if x is not None]

    def gradients(self, tree: Sequence[Any], found: Sequence[Array | None]) -> list[Any]:
        """Return gradients with the structure of the arguments.

        They are zeros for inputs without influence, and None for inputs that are not floats.
        """
        remaining = iter(found)
        own = [None if x is None else _or_zeros(next(remaining), x) for x in self.tracked]
        return trees.unflatten(list(tree), own)  # type: ignore[no-any-return]


def _is_float(x: Any) -> bool:
    if isinstance(x, Array | np.ndarray | np.generic):
        return x.dtype.kind in "fc"
    return isinstance(x, float | complex)


def _input(x: Any) -> Any:
    if type(x) in TRACKED:
        return identity(x)
    return _leaf(x.__copy__() if isinstance(x, Array) else creation.asarray(x), "grad")


def _leaf(x: Array, op: str) -> Array:
    """Make an unshared array an input of the differentiated function."""
    require(x, op).source.node.is_input = True
    return x


def _or_zeros(gradient: Array | None, like: Array) -> Array:
    return creation.zeros_like(like) if gradient is None else gradient


def _argument_numbers(op: str, argnums: Any, count: int) -> tuple[int, ...]:
    given = argnums if isinstance(argnums, list | tuple) else (argnums,)
    found = [integer(op, "argnums", n, -count, count - 1) for n in given]
    if any(n >= count for n in found):
        raise InvalidArgument(op, "argnums", argnums, f"positions among {count} arguments")
    return tuple([n % count for n in found])


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the value and the gradient of ``fun``.

    Parameters
    ----------
    fun : callable
        Returns a float array of one element. With ``has_aux`` it returns a tuple of the array and
        any other object.
    argnums : int or sequence of int
        The positions of the arguments to differentiate.
    has_aux : bool
        Whether ``fun`` also returns auxiliary data.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. It returns the value and the gradient, or with ``has_aux``
        ``((value, aux), gradient)``. The gradient is a tuple if ``argnums`` is a sequence.

    Raises
    ------
    InvalidArgument
        If the value is not one real number, or ``argnums`` is out of range.
    InvalidType
        If ``fun`` does not return an array.
    NotDifferentiable
        If ``fun`` reads a value that depends on these arguments, with ``float(x)``, ``x.item()``,
        ``x.tolist()`` or ``np.asarray(x)``. The message names the line.

    Notes
    -----
    Arguments may be arrays, floats, and dicts, lists and tuples of these. The gradient has the same
    structure. It is zero for inputs without influence on the value, and None for integers.

    A value that is read has no gradient, so ``fun`` may only read values of ``x.detach()`` or
    values computed under ``no_grad()``. It may also use ``if x > 0:`` and ``int(x)``, because these
    are step functions with the gradient 0.
    """
    return _with_gradient("value_and_grad", fun, argnums, has_aux)


def _with_gradient(
    op: str, fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool
) -> Callable[..., Any]:
    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        chosen = _argument_numbers(op, argnums, len(args))
        grad_enabled = is_grad_enabled()
        with enable_grad():
            inputs = _TrackedInputs([args[n] for n in chosen])
            own = list(args)
            for n, given in zip(chosen, inputs.args, strict=True):
                own[n] = given
            with differentiating(op, inputs.sources):
                found = fun(*own, **options)
            value, aux = found if has_aux else (found, None)
            if not isinstance(value, Array):
                expected = "a function that returns an array of one number"
                raise InvalidType(op, "fun", value, expected)
            if value.dtype.kind != "f" or value.size != 1:
                shown = f"a function that returns shape {value.shape} and dtype {value.dtype}"
                raise InvalidArgument(
                    op, "fun", Description(shown), "a function that returns one real number"
                )
            create_graph = grad_enabled and _depends_on_others(value, inputs)
        gradients = _input_gradients(value, seed(op, value, None), inputs, create_graph)
        formed = inputs.gradients([args[n] for n in chosen], gradients)
        shown_value = value if create_graph else values(value)
        shown_aux = aux if create_graph else trees.map_tree(values, aux)
        result = tuple(formed) if isinstance(argnums, list | tuple) else formed[0]
        return ((shown_value, shown_aux) if has_aux else shown_value), result

    return call


def _input_gradients(
    value: Array, gradient: Array, inputs: _TrackedInputs, create_graph: bool
) -> list[Array | None]:
    """Run the backward pass from a value to the inputs."""
    source = source_of(value)
    if source is None:
        return [None] * len(inputs.sources)
    return run_backward(
        [(source, gradient)], inputs.sources, accumulate=False,
        create_graph=create_graph, retain_graph=create_graph,
    )  # fmt: skip


def _depends_on_others(value: Any, inputs: _TrackedInputs) -> bool:
    """Return whether a value depends on leaves other than the inputs.

    These are arrays of the user that require gradients, and inputs of an enclosing transform.
    """
    roots = [x.source for x in trees.leaves(value) if type(x) in TRACKED]
    own = {source.node for source in inputs.sources}
    around = {node for _, nodes in DIFFERENTIATED.get() for node in nodes}
    return any(
        isinstance(node, Leaf) and node not in own and (node in around or not node.is_input)
        for node in behind(roots)
    )


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``fun``.

    Parameters
    ----------
    fun : callable
        Returns a float array of one element. With ``has_aux`` it returns a tuple of the array and
        any other object.
    argnums : int or sequence of int
        The positions of the arguments to differentiate.
    has_aux : bool
        Whether ``fun`` also returns auxiliary data.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. It returns the gradient, or with ``has_aux`` the tuple
        ``(gradient, aux)``. :func:`value_and_grad` describes the gradient and the exceptions.

    Notes
    -----
    ``grad(grad(f))`` is the second derivative.
    """
    both = _with_gradient("grad", fun, argnums, has_aux)

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        value, gradient = both(*args, **options)
        return (gradient, value[1]) if has_aux else gradient

    return call


def vjp(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return the value of ``fun`` and its vector-Jacobian product.

    Parameters
    ----------
    fun : callable
        Takes the primals. It returns an array, or a dict, list or tuple of arrays.
    *primals
        Arrays, floats, and dicts, lists and tuples of these.

    Returns
    -------
    value
        The value of ``fun`` at the primals.
    pullback : callable
        Takes a cotangent with the structure of the value. It returns a tuple with the products of
        the cotangent and the Jacobian, one for each primal. It can be called repeatedly.

    Raises
    ------
    NotDifferentiable
        If ``fun`` reads a value that depends on the primals, as in :func:`value_and_grad`.
    InvalidArgument
        If the cotangent has another number of arrays, or other shapes.
    """
    grad_enabled = is_grad_enabled()
    with enable_grad():
        inputs = _TrackedInputs(primals)
        with differentiating("vjp", inputs.sources):
            value = fun(*inputs.args)
        create_graph = grad_enabled and _depends_on_others(value, inputs)
    outputs = trees.leaves(value)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = trees.leaves(cotangent)
        if len(given) != len(outputs):
            expected = f"have {len(outputs)} arrays, as the value has"
            raise InvalidArgument("vjp", "cotangent", Description(f"{len(given)} arrays"), expected)
        roots = [
            (x.source, seed("vjp", x, g))
            for x, g in zip(outputs, given, strict=True)
            if type(x) in TRACKED
        ]
        is_tracked = any(type(g) in TRACKED for g in given)
        found = run_backward(
            roots, inputs.sources, accumulate=False,
            create_graph=create_graph or is_tracked, retain_graph=True,
        )  # fmt: skip
        return tuple(inputs.gradients(primals, found))

    return (value if create_graph else trees.map_tree(values, value)), pullback


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the value of ``fun`` and its Jacobian-vector product.

    Parameters
    ----------
    fun : callable
        Takes the primals. It returns an array, or a dict, list or tuple of arrays.
    primals : sequence
        Arrays, floats, and dicts, lists and tuples of these.
    tangents : sequence
        The vectors, with the structure of the primals.

    Returns
    -------
    value
        The value of ``fun`` at the primals.
    product
        The product of the Jacobian and the tangents, with the structure of the value.

    Raises
    ------
    NotDifferentiable
        If ``fun`` reads a value that depends on the primals, as in :func:`value_and_grad`.

    Notes
    -----
    The product is computed by two backward passes. The second one differentiates the
    vector-Jacobian product with respect to its cotangent.

    Source: Townsend, "A new trick for calculating Jacobian vector products", 2017.
    """
    grad_enabled = is_grad_enabled()
    with enable_grad():
        inputs = _TrackedInputs(primals)
        with differentiating("jvp", inputs.sources):
            value = fun(*inputs.args)
        is_tracked = any(type(t) in TRACKED for t in trees.leaves(list(tangents)))
        create_graph = grad_enabled and (is_tracked or _depends_on_others(value, inputs))
        outputs = trees.leaves(value)
        duals: list[tuple[Array, Source]] = []
        for x in outputs:
            if type(x) in TRACKED:
                duals.append((_leaf(creation.zeros_like(x), "jvp"), x.source))
        pulled = run_backward(
            [(source, dual) for dual, source in duals], inputs.sources,
            accumulate=False, create_graph=True, retain_graph=True,
        )  # fmt: skip
    given = [t for t, x in zip(trees.leaves(list(tangents)), inputs.tracked, strict=True)
             if x is not None]  # fmt: skip
    roots = [
        (x.source, seed("jvp", x, t))
        for x, t in zip(pulled, given, strict=True)
        if x is not None and type(x) in TRACKED
    ]
    wanted = [dual.source for dual, _ in duals]
    found = iter(run_backward(
        roots, wanted, accumulate=False, create_graph=create_graph, retain_graph=create_graph
    ))  # fmt: skip
    made = [
        _or_zeros(next(found) if type(x) in TRACKED else None, x)
        if isinstance(x, Array) else None
        for x in outputs
    ]  # fmt: skip
    return (value if create_graph else trees.map_tree(values, value)), trees.unflatten(value, made)
