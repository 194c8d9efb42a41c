"""Jacobians and Hessians, with JAX's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.autograd import trees
from browsergpu.autograd.batching.vmap import vmap
from browsergpu.autograd.transforms import argument_numbers, linearize, vjp
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions import creation, manipulation


def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``fun`` by reverse mode.

    Parameters
    ----------
    fun : callable
        Returns an array or a tree of arrays. With ``has_aux`` it returns a tuple of these and any
        other object.
    argnums : int or sequence of int
        The positions of the arguments to differentiate.
    has_aux : bool
        Whether ``fun`` also returns auxiliary data.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. It returns the tree of results, with the tree of arguments
        in place of each result. The Jacobian of a result of shape [S] for an argument of shape [T]
        has shape [S, T]. It is a tuple if ``argnums`` is a sequence. With ``has_aux`` the function
        returns the tuple ``(jacobian, aux)``.

    Raises
    ------
    InvalidArgument
        If ``argnums`` is out of range.
    InvalidType
        If a chosen argument is not a float.

    Notes
    -----
    It is faster than :func:`jacfwd` if ``fun`` has fewer results than arguments.

    Examples
    --------
    >>> bg.jacrev(lambda x: x * x)(bg.asarray([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        of_chosen, chosen, aux = _of_chosen("jacrev", fun, argnums, args, options, has_aux)
        value, pullback = vjp(of_chosen, *chosen)
        outputs = trees.leaves(value)
        found = vmap(pullback)(trees.unflatten(value, _basis(outputs)))
        parts = [_parts(one, outputs) for one in trees.leaves(list(found))]
        by_output = [
            trees.unflatten(list(chosen), [part[n] for part in parts]) for n in range(len(outputs))
        ]
        is_tuple = isinstance(argnums, list | tuple)
        made = trees.unflatten(value, [tuple(x) if is_tuple else x[0] for x in by_output])
        return (made, aux[0]) if has_aux else made

    return call


def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``fun`` by forward mode.

    Parameters
    ----------
    fun : callable
        Returns an array or a tree of arrays. With ``has_aux`` it returns a tuple of these and any
        other object.
    argnums : int or sequence of int
        The positions of the arguments to differentiate.
    has_aux : bool
        Whether ``fun`` also returns auxiliary data.

    Returns
    -------
    callable
        As the function that :func:`jacrev` returns.

    Raises
    ------
    InvalidArgument
        If ``argnums`` is out of range.
    InvalidType
        If a chosen argument is not a float.

    Notes
    -----
    It is faster than :func:`jacrev` if ``fun`` has fewer arguments than results.

    Examples
    --------
    >>> bg.jacfwd(lambda x: x * x)(bg.asarray([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        of_chosen, chosen, aux = _of_chosen("jacfwd", fun, argnums, args, options, has_aux)
        value, product = linearize(of_chosen, *chosen)
        inputs = trees.leaves(list(chosen))
        basis = trees.unflatten(list(chosen), _basis(inputs))
        found = vmap(product)(*basis)
        is_tuple = isinstance(argnums, list | tuple)
        made = []
        for column in trees.leaves(found):
            parts = [
                manipulation.moveaxis(
                    part, tuple(range(x.ndim)), tuple(range(part.ndim - x.ndim, part.ndim))
                ) if x.ndim and part.ndim > x.ndim else part
                for part, x in zip(_parts(column, inputs), inputs, strict=True)
            ]  # fmt: skip
            own = trees.unflatten(list(chosen), parts)
            made.append(tuple(own) if is_tuple else own[0])
        whole = trees.unflatten(value, made)
        return (whole, aux[0]) if has_aux else whole

    return call


def hessian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of ``fun``: ``jacfwd(jacrev(fun))``.

    Parameters
    ----------
    fun : callable
        Returns a float array. With ``has_aux`` it returns a tuple of the array and any other
        object.
    argnums : int or sequence of int
        The positions of the arguments to differentiate.
    has_aux : bool
        Whether ``fun`` also returns auxiliary data.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. The Hessian of a result of shape [S] for an argument of
        shape [T] has shape [S, T, T]. With ``has_aux`` the function returns ``(hessian, aux)``.

    Raises
    ------
    InvalidArgument
        If ``argnums`` is out of range.

    Examples
    --------
    >>> bg.hessian(lambda x: (x**3).sum())(bg.asarray([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    return jacfwd(jacrev(fun, argnums, has_aux=has_aux), argnums, has_aux=has_aux)


def _of_chosen(
    op: str, fun: Callable[..., Any], argnums: Any, args: Sequence[Any], options: dict[str, Any],
    has_aux: bool,
) -> tuple[Callable[..., Any], list[Any], list[Any]]:  # fmt: skip
    """Return a function of the chosen arguments, these arguments, and a list for the aux data."""
    places = argument_numbers(op, argnums, len(args))
    chosen = [trees.map_tree(lambda x: _as_float(op, x), args[n]) for n in places]
    aux: list[Any] = []

    def of_chosen(*given: Any) -> Any:
        own = list(args)
        for n, x in zip(places, given, strict=True):
            own[n] = x
        found = fun(*own, **options)
        if has_aux:
            found, other = found
            aux[:] = [other]
        return found

    return of_chosen, chosen, aux


def _as_float(op: str, x: Any) -> Any:
    own = x if isinstance(x, Array) else creation.asarray(x)
    if own.dtype.kind not in "fc":
        raise InvalidType(op, "argument", x, "floats, for which there is a Jacobian")
    return own


def _basis(arrays: Sequence[Any]) -> list[Array]:
    """Return the unit vectors of all elements of several arrays, along a new first axis."""
    sizes = [x.size for x in arrays]
    count, begin, found = sum(sizes), 0, []
    for x, size in zip(arrays, sizes, strict=True):
        columns = creation.eye(count, size, k=-begin, dtype=x.dtype, device=x.device)
        found.append(manipulation.reshape(columns, (count, *x.shape)))
        begin += size
    return found


def _parts(x: Array, arrays: Sequence[Any]) -> list[Array]:
    """Split the first axis of an array into the axes of several arrays."""
    begin, found = 0, []
    for one in arrays:
        rows = x[begin : begin + one.size]
        found.append(manipulation.reshape(rows, (*one.shape, *x.shape[1:])))
        begin += one.size
    return found
