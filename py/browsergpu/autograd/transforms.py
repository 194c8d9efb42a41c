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
from browsergpu.autograd.batching.levels import (
    base,
    is_tracked,
    open_frames,
    physical,
    wrapped,
)
from browsergpu.engine.core.checks import integer
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
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
        self.sources = [base(x).source for x in self.tracked if x is not None]
        self.frames = open_frames()

    def gradients(self, tree: Sequence[Any], found: Sequence[Array | None]) -> list[Any]:
        """Return gradients with the structure of the arguments.

        They are zeros for inputs that do not affect the value, and None for inputs that are not
        floats.
        """
        remaining = iter(found)
        own = [
            None if x is None else _or_zeros(self._of_example(next(remaining)), x)
            for x in self.tracked
        ]
        return trees.unflatten(list(tree), own)  # type: ignore[no-any-return]

    def _of_example(self, gradient: Array | None) -> Array | None:
        return None if gradient is None else wrapped(gradient, self.frames)

    def outputs(self, value: Any) -> list[Any]:
        """Return the results of the function, with the axes of the examples."""
        return [physical(x, self.frames) if isinstance(x, Array) else x
                for x in trees.leaves(value)]  # fmt: skip


def _is_float(x: Any) -> bool:
    if isinstance(x, Array | np.ndarray | np.generic):
        return x.dtype.kind in "fc"
    return isinstance(x, float | complex)


def _input(x: Any) -> Any:
    frames = open_frames()
    if frames:  # each example has its own gradient, even if the values are equal
        own = physical(x if isinstance(x, Array) else creation.asarray(x), frames)
        made = identity(own) if type(own) in TRACKED else _leaf(own.__copy__(), "grad")
        return wrapped(made, frames)
    if type(x) in TRACKED:
        return identity(x)
    return _leaf(x.__copy__() if isinstance(x, Array) else creation.asarray(x), "grad")


def _leaf(x: Array, op: str) -> Array:
    """Make an unshared array an input of the differentiated function."""
    require(x, op).source.node.is_input = True
    return x


def _or_zeros(gradient: Array | None, like: Array) -> Array:
    return creation.zeros_like(like) if gradient is None else gradient


def argument_numbers(op: str, argnums: Any, count: int) -> tuple[int, ...]:
    """Return the chosen positions among ``count`` arguments."""
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
    structure. It is zero for inputs that do not affect the value, and None for integers.

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
        chosen = argument_numbers(op, argnums, len(args))
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
        root = physical(value, inputs.frames)
        gradients = _input_gradients(root, creation.ones_like(root), inputs, create_graph)
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
    roots = [base(x).source for x in trees.leaves(value) if is_tracked(x)]
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
    own_outputs = inputs.outputs(value)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = trees.leaves(cotangent)
        if len(given) != len(outputs):
            expected = f"have {len(outputs)} arrays, as the value has"
            raise InvalidArgument("vjp", "cotangent", Description(f"{len(given)} arrays"), expected)
        seeds = [physical(seed("vjp", x, g), inputs.frames) if isinstance(x, Array) else None
                 for x, g in zip(outputs, given, strict=True)]  # fmt: skip
        roots = [
            (x.source, g)
            for x, g in zip(own_outputs, seeds, strict=True)
            if type(x) in TRACKED and g is not None
        ]
        found = run_backward(
            roots, inputs.sources, accumulate=False,
            create_graph=create_graph or any(map(is_tracked, seeds)), retain_graph=True,
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
    value, product = _linearized("jvp", fun, primals, keep_graph=False)
    return value, product(tangents)


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the value of ``fun`` and its Jacobian as a linear function.

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
    product : callable
        Takes tangents with the structure of the primals. It returns the product of the Jacobian and
        the tangents, as :func:`jvp`, and does not call ``fun`` again.

    Raises
    ------
    NotDifferentiable
        If ``fun`` reads a value that depends on the primals, as in :func:`value_and_grad`.

    Examples
    --------
    >>> value, product = bg.linearize(bg.square, bg.asarray(3.0))
    >>> product(bg.asarray(2.0)).item()
    12.0
    """
    value, product = _linearized("linearize", fun, primals, keep_graph=True)
    return value, lambda *tangents: product(tangents)


def _linearized(
    op: str, fun: Callable[..., Any], primals: Sequence[Any], *, keep_graph: bool
) -> tuple[Any, Callable[[Sequence[Any]], Any]]:
    """Return the value of a function, and a function from tangents to their product."""
    grad_enabled = is_grad_enabled()
    with enable_grad():
        inputs = _TrackedInputs(primals)
        with differentiating(op, inputs.sources):
            value = fun(*inputs.args)
        depends_on_others = grad_enabled and _depends_on_others(value, inputs)
        outputs = inputs.outputs(value)
        duals: list[tuple[Array, Source]] = []
        for x in outputs:
            if type(x) in TRACKED:
                duals.append((_leaf(creation.zeros_like(x), op), x.source))
        pulled = run_backward(
            [(source, dual) for dual, source in duals], inputs.sources,
            accumulate=False, create_graph=True, retain_graph=True,
        )  # fmt: skip
    wanted = [dual.source for dual, _ in duals]
    frames = inputs.frames

    def product(tangents: Sequence[Any]) -> Any:
        given = trees.leaves(list(tangents))
        if len(given) != len(inputs.tracked):
            told = Description(f"{len(given)} arrays")
            expected = f"have {len(inputs.tracked)} arrays, as the primals have"
            raise InvalidArgument(op, "tangents", told, expected)
        seeds = [
            physical(seed(op, x, t), frames)
            for t, x in zip(given, inputs.tracked, strict=True) if x is not None
        ]  # fmt: skip
        roots = [
            (x.source, t)
            for x, t in zip(pulled, seeds, strict=True)
            if x is not None and type(x) in TRACKED
        ]
        create_graph = grad_enabled and (depends_on_others or any(map(is_tracked, given)))
        found = iter(run_backward(
            roots, wanted, accumulate=False, create_graph=create_graph,
            retain_graph=keep_graph or create_graph,
        ))  # fmt: skip
        made = []
        for x in outputs:
            own = next(found) if type(x) in TRACKED else None
            made.append(wrapped(_or_zeros(own, x), frames) if isinstance(x, Array) else None)
        return trees.unflatten(value, made)

    return (value if depends_on_others else trees.map_tree(values, value)), product
