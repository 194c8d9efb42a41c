"""Function transforms of JAX: results are JAX arrays, and complex gradients are conjugated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import values
from browsergpu.arrays.context import current
from browsergpu.arrays.traced_number import is_traced
from browsergpu.autograd import custom as own_custom
from browsergpu.autograd import jacobians, transforms, trees
from browsergpu.autograd.batching import vmap as batching
from browsergpu.compiled.jit import jit as compiled
from browsergpu.compiled.parameters import Parameters
from browsergpu.engine.core.element_types import DEFAULTS, FLOAT32, INT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation, elementwise
from browsergpu.jax import tree
from browsergpu.jax.arrays.array import JAX, as_jax
from browsergpu.jax.arrays.operands import array, of_number

_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)
#: Whether :func:`disable_jit` holds.
_disabled: list[bool] = []


def as_array(x: Any) -> Any:
    """Return a number or an array as a JAX array, and any other leaf as it is."""
    if type(x) in JAX:
        return x
    if is_traced(x):
        return _of_traced(x)
    if isinstance(x, (*_NUMBERS, Array)):
        return array("jax", x)
    return x


def _of_traced(x: Any) -> Any:
    """Return a number of a compiled function as an array that replays compute anew."""
    kind = FLOAT32 if isinstance(x.value, float) else INT32
    if isinstance(x.value, complex):
        kind = DEFAULTS[complex]
    like = creation.zeros((), dtype=kind.numpy, device=current().device)
    found = x.beside(like, kind)
    return as_jax(found) if isinstance(found, Array) else of_number(found)


def as_arrays(given: Any) -> Any:
    """Return a tree with JAX arrays in place of numbers and other arrays."""
    return trees.map_tree(as_array, given)


def _conjugated(x: Any) -> Any:
    is_complex = isinstance(x, Array) and x.dtype.kind == "c"
    return as_jax(elementwise.conj(x)) if is_complex else as_array(x)


def _conjugates(given: Any) -> Any:
    """Return gradients by JAX's convention, which conjugates those of complex numbers."""
    return trees.map_tree(_conjugated, given)


def _inputs(op: str, args: Sequence[Any], chosen: Iterable[int], allow_int: bool = False) -> Any:
    """Return arguments with the chosen ones as arrays of floats. Raises InvalidType for others."""
    own = list(args)
    for n in chosen:
        own[n] = as_arrays(own[n])
        for x in trees.leaves(own[n]):
            if isinstance(x, Array) and x.dtype.kind not in "fc" and not allow_int:
                expected = "real or complex floats, of a sub-dtype of np.inexact"
                advice = "Pass 3.0 in place of 3."
                raise InvalidType(op, "inputs", Description(x.dtype.name), expected, advice)
    return own


def _scalar(op: str, value: Any) -> Any:
    found = as_array(value)
    if not isinstance(found, Array):
        raise InvalidType(op, "fun", value, "a function that returns a scalar array")
    if found.shape:
        told = Description(f"a function that returns shape {tuple(found.shape)}")
        expected = "a scalar-output function (shape ())"
        raise InvalidType(op, "fun", told, expected)
    return found


def _positions(op: str, argnums: Any, args: Sequence[Any]) -> tuple[int, ...]:
    found = transforms.argument_numbers(op, argnums, len(args))
    if len(set(found)) < len(found):
        raise InvalidArgument(op, "argnums", argnums, "different positions")
    return found


def value_and_grad(
    fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that computes the value and the gradient of ``fun``.

    Parameters
    ----------
    fun : callable
        Returns an array of shape ``()``, with ``has_aux`` a tuple of it and any other object.
    argnums : int or sequence of int
        The positions of the arguments to differentiate.
    has_aux : bool
        Whether ``fun`` also returns auxiliary data.
    holomorphic : bool
        Whether ``fun`` is complex differentiable.
    allow_int : bool
        Must be False.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. It returns the value and the gradient.

    Raises
    ------
    InvalidType
        If an argument is an integer, or ``fun`` does not return a scalar. The class is a TypeError.

    Examples
    --------
    >>> bg.jax.value_and_grad(lambda x: x**2)(3.0)
    (Array(9., dtype=float32), Array(6., dtype=float32))
    """
    return _with_gradient("value_and_grad", fun, argnums, has_aux, holomorphic, allow_int)


def _with_gradient(
    op: str, fun: Callable[..., Any], argnums: Any, has_aux: bool, holomorphic: bool,
    allow_int: bool,
) -> Callable[..., Any]:  # fmt: skip
    if allow_int:
        raise Unsupported(op, "allow_int must be False. There is no dtype float0.")
    if holomorphic:
        return _holomorphic(op, fun, argnums, has_aux)

    def checked(*args: Any, **options: Any) -> Any:
        found = fun(*args, **options)
        if has_aux:
            return _scalar(op, found[0]), found[1]
        return _scalar(op, found)

    both = transforms.value_and_grad(checked, argnums, has_aux=has_aux)

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        value, gradient = both(*_inputs(op, args, _positions(op, argnums, args)), **options)
        return as_jax(value), _conjugates(gradient)

    return call


def _holomorphic(
    op: str, fun: Callable[..., Any], argnums: Any, has_aux: bool
) -> Callable[..., Any]:
    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        chosen = _positions(op, argnums, args)
        own = list(args)
        for n in chosen:
            for x in trees.leaves(as_arrays(args[n])):
                if isinstance(x, Array) and x.dtype.kind != "c":
                    expected = "complex for holomorphic=True"
                    raise InvalidType(op, "inputs", Description(x.dtype.name), expected)

        def part(*given: Any) -> Any:
            for n, x in zip(chosen, given, strict=True):
                own[n] = x
            return fun(*own, **options)

        found = vjp(part, *[args[n] for n in chosen], has_aux=has_aux)
        value, pullback = found[0], found[1]
        if _scalar(op, value).dtype.kind != "c":
            told = Description(f"a function that returns {value.dtype.name}")
            raise InvalidType(op, "fun", told, "complex for holomorphic=True")
        gradient = pullback(_scalar(op, value) * 0 + 1)
        result = gradient if isinstance(argnums, list | tuple) else gradient[0]
        return ((value, found[2]) if has_aux else value), result

    return call


def grad(
    fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that computes the gradient of ``fun``. See :func:`value_and_grad`.

    Examples
    --------
    >>> bg.jax.grad(bg.jax.grad(lambda x: x**3))(2.0)
    Array(12., dtype=float32)
    """
    both = _with_gradient("grad", fun, argnums, has_aux, holomorphic, allow_int)

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        value, gradient = both(*args, **options)
        return (gradient, value[1]) if has_aux else gradient

    return call


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of ``fun``, and the function from cotangents to vector-Jacobian products.

    With ``has_aux``, ``fun`` returns a tuple of its value and any other object, which is the third
    result.
    """
    own = _inputs("vjp", primals, range(len(primals)), allow_int=True)
    aux: list[Any] = []

    def part(*given: Any) -> Any:
        found = fun(*given)
        if has_aux:
            aux[:] = [found[1]]
            found = found[0]
        return as_arrays(found)

    value, pullback = transforms.vjp(part, *own)

    def conjugating(cotangent: Any) -> Any:
        return _conjugates(pullback(_conjugates(cotangent)))

    result = as_jax_tree(value), conjugating
    return (*result, _without_tracking(aux[0])) if has_aux else result


def _without_tracking(x: Any) -> Any:
    return as_jax_tree(trees.map_tree(values, x))


def as_jax_tree(x: Any) -> Any:
    """Return a tree with its arrays as JAX arrays."""
    return trees.map_tree(as_jax, x)


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """Return the value of ``fun`` and its Jacobian-vector product."""
    if len(primals) != len(tangents):
        raise InvalidArgument("jvp", "tangents", len(tangents), f"{len(primals)}, as the primals")
    own = _inputs("jvp", primals, range(len(primals)))
    directions = _inputs("jvp", tangents, range(len(tangents)))
    aux: list[Any] = []

    def part(*given: Any) -> Any:
        found = fun(*given)
        if has_aux:
            aux[:] = [found[1]]
            found = found[0]
        return as_arrays(found)

    value, product = transforms.jvp(part, own, directions)
    result = as_jax_tree(value), as_jax_tree(product)
    return (*result, _without_tracking(aux[0])) if has_aux else result


def linearize(fun: Callable[..., Any], *primals: Any) -> Any:
    """Return the value of ``fun`` and its Jacobian as a linear function."""
    own = _inputs("linearize", primals, range(len(primals)))
    value, product = transforms.linearize(lambda *given: as_arrays(fun(*given)), *own)
    return as_jax_tree(value), lambda *tangents: as_jax_tree(
        product(*[as_arrays(x) for x in tangents])
    )


def _jacobian(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    def transform(
        fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, holomorphic: bool = False,
        allow_int: bool = False,
    ) -> Callable[..., Any]:  # fmt: skip
        if holomorphic or allow_int:
            raise Unsupported(name, "holomorphic and allow_int must be False.")

        def own(*args: Any, **options: Any) -> Any:
            found = fun(*args, **options)
            return (as_arrays(found[0]), found[1]) if has_aux else as_arrays(found)

        made = make(own, argnums, has_aux=has_aux)

        @wraps(fun)
        def call(*args: Any, **options: Any) -> Any:
            given = _inputs(name, args, _positions(name, argnums, args))
            return as_jax_tree(made(*given, **options))

        return call

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"Return a function that computes the derivatives of ``jax.{name}``."
    return transform


jacfwd = _jacobian("jacfwd", jacobians.jacfwd)
jacrev = _jacobian("jacrev", jacobians.jacrev)
jacobian = jacrev


def hessian(
    fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the second derivatives of ``fun``."""
    inner = jacrev(fun, argnums, has_aux, holomorphic)
    found: Callable[..., Any] = jacfwd(inner, argnums, has_aux, holomorphic)
    return found


def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None,
    axis_size: int | None = None, spmd_axis_name: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that computes ``fun`` for all examples along an axis of its arguments.

    ``browsergpu.vmap`` describes the arguments. Axes have no names.

    Examples
    --------
    >>> bg.jax.vmap(lambda x: x.sum())(bg.jax.numpy.ones((2, 3)))
    Array([3., 3.], dtype=float32)
    """
    if axis_name is not None or spmd_axis_name is not None:
        raise Unsupported("vmap", "axis_name must be None. Sum along the axis of the result.")

    def own(*args: Any, **options: Any) -> Any:
        return as_arrays(fun(*args, **options))

    made = batching.vmap(wraps(fun)(own) if hasattr(fun, "__name__") else own, in_axes, out_axes,
                         axis_size=axis_size)  # fmt: skip

    def call(*args: Any, **options: Any) -> Any:
        return as_jax_tree(made(*as_arrays(list(args)), **as_arrays(options)))

    named: Callable[..., Any] = wraps(fun)(call) if hasattr(fun, "__name__") else call
    return named


def checkpoint(
    fun: Callable[..., Any], *, prevent_cse: bool = True, policy: Any = None,
    static_argnums: Any = (), concrete: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that the backward pass computes again: ``browsergpu.checkpoint``."""
    del prevent_cse, concrete  # each call runs in Python
    static = _several(static_argnums)
    if policy is not None:
        raise Unsupported("checkpoint", "policy must be None. All results are computed again.")

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        like: list[Any] = []
        kept = {at % len(args) for at in static if -len(args) <= at < len(args)}

        def flat(*given: Any) -> Any:
            others = iter(given)
            whole = [one if n in kept else next(others) for n, one in enumerate(args)]
            found = as_arrays(fun(*whole, **options))
            like[:] = [found]
            return tuple(trees.leaves(found))

        moving = [one for n, one in enumerate(args) if n not in kept]
        found = own_custom.checkpoint(flat)(*as_arrays(moving))
        return trees.unflatten(like[0], [as_jax(x) for x in found])

    return call


remat = checkpoint


def _several(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, int | str) else tuple(given)


def jit(
    fun: Callable[..., Any] | None = None, /, *, static_argnums: Any = None,
    static_argnames: Any = None, donate_argnums: Any = None, donate_argnames: Any = None,
    keep_unused: bool = False, inline: bool = False, device: Any = None, backend: Any = None,
    in_shardings: Any = None, out_shardings: Any = None,
) -> Any:  # fmt: skip
    """Compile a function as :func:`browsergpu.jit`, with JAX's arguments.

    Parameters
    ----------
    fun : callable
        The function. Without it, the result is a decorator.
    static_argnums, static_argnames
        The positions and names of arguments whose values the graph depends on.
    donate_argnums, donate_argnames
        The positions and names of arguments whose memory results may use.
    keep_unused, inline : bool
        Hints for JAX's compiler, without effect.
    device, backend, in_shardings, out_shardings
        Must be None.

    Returns
    -------
    callable
        The compiled function. Its arguments are arrays in ``fun``, except static ones.

    Raises
    ------
    InvalidArgument
        If the function has no such argument.

    Examples
    --------
    >>> power = bg.jax.jit(lambda x, n: x**n, static_argnums=1)
    >>> power(bg.jax.numpy.array([2.0, 3.0]), 2)
    Array([4., 9.], dtype=float32)
    """
    given = {"device": device, "backend": backend, "in_shardings": in_shardings,
             "out_shardings": out_shardings}  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise InvalidArgument("jit", name, value, "None, as there is one device")
    if fun is None:
        return lambda function: jit(
            function, static_argnums=static_argnums, static_argnames=static_argnames,
            donate_argnums=donate_argnums, donate_argnames=donate_argnames,
        )  # fmt: skip
    static = (*_several(static_argnums), *_several(static_argnames))
    return _compiled(fun, static, (*_several(donate_argnums), *_several(donate_argnames)))


def _compiled(fun: Callable[..., Any], static: Any, donate: Any) -> Callable[..., Any]:
    known = Parameters(fun)
    given = [known.position(n) for n in static]
    chosen = known.chosen("jit", "static", given)
    positions = frozenset([n for n in chosen if isinstance(n, int)])
    names = frozenset([n for n in chosen if isinstance(n, str)])

    def own(*args: Any, **options: Any) -> Any:
        own_args = [x if n in positions else as_arrays(x) for n, x in enumerate(args)]
        named = {name: x if name in names else as_arrays(x) for name, x in options.items()}
        return as_arrays(fun(*own_args, **named))

    wrapped = wraps(fun)(own) if hasattr(fun, "__name__") else own
    wrapped.__signature__ = signature(fun)  # type: ignore[attr-defined]
    made = compiled(wrapped, static=given, donate=[known.position(n) for n in donate])

    def call(*args: Any, **options: Any) -> Any:
        if _disabled:
            return own(*args, **options)
        if trees.REGISTERED and _has_registered((args, options)):
            return _flattened(fun, args, options, positions, names)
        found = made(*args, **options)
        return found if type(found) in JAX else as_jax_tree(found)

    call.explain = made.explain  # type: ignore[attr-defined]
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        if hasattr(fun, name):
            setattr(call, name, getattr(fun, name))
    call.__wrapped__ = fun  # type: ignore[attr-defined]
    return call


def _has_registered(x: Any) -> bool:
    if isinstance(x, dict):
        return any(map(_has_registered, x.values()))
    if isinstance(x, list | tuple):
        return any(map(_has_registered, x))
    return type(x) in trees.REGISTERED


#: Compiled functions of leaves, by the function and the structure of its arguments.
_by_structure: dict[Any, Any] = {}


def _flattened(
    fun: Callable[..., Any], args: Any, options: Any, static: frozenset[int], names: frozenset[str]
) -> Any:
    """Call a compiled function of the leaves of its arguments, which has registered containers."""
    fixed = tuple([(n, x) for n, x in enumerate(args) if n in static])
    fixed_names = tuple([(n, x) for n, x in sorted(options.items()) if n in names])
    dynamic = [None if n in static else x for n, x in enumerate(args)]
    leaves, treedef = tree.flatten((dynamic, {n: x for n, x in options.items() if n not in names}))
    key = (fun, treedef, fixed, fixed_names)
    entry = _by_structure.get(key)
    if entry is None:
        shape: list[Any] = []

        def of_leaves(*given: Any) -> Any:
            own, named = treedef.unflatten([as_array(x) for x in given])
            for n, x in fixed:
                own[n] = x
            found, structure = tree.flatten(as_arrays(fun(*own, **named, **dict(fixed_names))))
            shape[:] = [structure]
            return tuple(found)

        entry = _by_structure[key] = compiled(of_leaves), shape
        while len(_by_structure) > _MOST_STRUCTURES:
            del _by_structure[next(iter(_by_structure))]
    made, shape = entry
    found = made(*leaves)
    return shape[0].unflatten([as_jax(x) for x in found])


_MOST_STRUCTURES = 256


@contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Call compiled functions without their graphs, in a ``with`` block."""
    if disable:
        _disabled.append(True)
    try:
        yield
    finally:
        if disable:
            _disabled.pop()
