"""``custom_jvp`` and ``custom_vjp`` with JAX's arguments and trees of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from inspect import signature
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.autograd import custom, trees
from browsergpu.engine.core.errors import InvalidArgument, NotDifferentiable, Unsupported
from browsergpu.engine.core.showing import Description, Shown, shown
from browsergpu.functions import creation
from browsergpu.jax.arrays.array import as_jax
from browsergpu.jax.transforms import as_arrays, as_jax_tree, vjp


class _Custom(Shown):
    """A function with derivatives of the user."""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        named: Any = self
        update_wrapper(named, fun)  # first: a function around another of these has its attributes
        self.fun = fun
        self._fixed = tuple([int(n) for n in nondiff_argnums])

    def _facts(self) -> str:
        return f"of {shown(self.fun)}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        call: Any = self
        return lambda *args, **options: call(instance, *args, **options)

    def _parted(self, args: Any, options: Any) -> tuple[list[Any], list[Any]]:
        """Return the arguments that are not differentiated, and the others as arrays."""
        if options:
            bound = signature(self.fun).bind(*args, **options)
            bound.apply_defaults()
            args = bound.args
        fixed = [args[n] for n in self._fixed]
        rest = [as_arrays(x) for n, x in enumerate(args) if n not in self._fixed]
        return fixed, rest

    def _joined(self, fixed: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
        own, others = dict(zip(self._fixed, fixed, strict=True)), iter(rest)
        return [own[n] if n in own else next(others) for n in range(len(fixed) + len(rest))]


class custom_vjp(_Custom):
    """Decorate a function with a backward pass that you define.

    Parameters
    ----------
    fun : callable
        Returns an array, or a tree of arrays.
    nondiff_argnums : sequence of int
        The positions of arguments that are not differentiated. ``bwd`` gets them first.

    Examples
    --------
    >>> @bg.jax.custom_vjp
    ... def double(x):
    ...     return x * 2
    >>> double.defvjp(lambda x: (x * 2, None), lambda saved, g: (g * 10,))
    >>> bg.jax.grad(double)(1.0)
    Array(10., dtype=float32)
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums)
        self._forward: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None

    def defvjp(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:  # fmt: skip
        """Define the forward pass, which returns the value and saved data, and the backward pass.

        ``bwd`` takes the saved data and the cotangent of the value. It returns a tuple with a
        cotangent for each argument, or None for zeros.
        """
        if symbolic_zeros:
            raise Unsupported("defvjp", "symbolic_zeros must be False.")
        del optimize_remat  # an optimization of JAX's compiler
        self._forward, self._backward = fwd, bwd

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function. The call is recorded if an argument is differentiated."""
        forward, backward = self._forward, self._backward
        if forward is None or backward is None:
            name = getattr(self.fun, "__name__", "custom_vjp")
            message = f"No VJP defined for custom_vjp function {name} using defvjp."
            raise AttributeError(message)
        fixed, rest = self._parted(args, options)
        like: list[Any] = []

        def flat(found: Any) -> tuple[Any, ...]:
            found = as_arrays(found)
            like[:] = [found]
            return tuple(trees.leaves(found))

        def run(*given: Any) -> Any:
            return flat(self.fun(*self._joined(fixed, given)))

        def ahead(*given: Any) -> Any:
            found, kept = forward(*self._joined(fixed, as_jax_tree(list(given))))
            return flat(found), kept

        def back(kept: Any, g: Any) -> Any:
            cotangent = trees.unflatten(
                like[0], [_or_zeros(x, y) for x, y in zip(g, trees.leaves(like[0]), strict=True)]
            )
            found = backward(*fixed, kept, cotangent)
            return _for_arguments(found, rest)

        own = custom.custom_vjp(run)
        own.defvjp(ahead, back)
        results = own(*rest)
        return trees.unflatten(like[0], [as_jax(x) for x in results])


def _or_zeros(g: Any, like: Any) -> Any:
    return as_jax(creation.zeros_like(like)) if g is None else as_jax(g)


def _for_arguments(found: Any, args: Sequence[Any]) -> list[Any]:
    """Return a cotangent for each leaf of the arguments. None stands for a whole argument."""
    given = list(found) if isinstance(found, tuple | list) else [found]
    if len(given) != len(args):
        expected = f"a function that returns a tuple of {len(args)} cotangents"
        raise InvalidArgument(
            "custom_vjp", "bwd", Description(f"{len(given)} cotangents"), expected
        )
    made = []
    for g, x in zip(given, args, strict=True):
        leaves = trees.leaves(x)
        own = [None] * len(leaves) if g is None else trees.leaves(as_arrays(g))
        made.append(trees.unflatten(x, own))
    return made


class custom_jvp(_Custom):
    """Decorate a function with a forward-mode rule that you define.

    Parameters
    ----------
    fun : callable
        Returns an array, or a tree of arrays.
    nondiff_argnums : sequence of int
        The positions of arguments that are not differentiated. The rule gets them first.

    Notes
    -----
    The rule must be linear in the tangents. The backward pass transposes it.

    Examples
    --------
    >>> @bg.jax.custom_jvp
    ... def double(x):
    ...     return x * 2
    >>> @double.defjvp
    ... def rule(primals, tangents):
    ...     return double(*primals), tangents[0] * 10
    >>> bg.jax.grad(double)(1.0)
    Array(10., dtype=float32)
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums)
        self._rule: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Define the rule: it takes primals and tangents, and returns a value and a tangent."""
        if symbolic_zeros:
            raise Unsupported("defjvp", "symbolic_zeros must be False.")
        self._rule = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Define a rule for each argument: ``jvp(tangent, value, *primals)``, None for zero."""

        def rule(*given: Any) -> Any:
            primals, tangents = given[-2:]
            value = self(*self._joined(given[:-2], primals))
            parts = [
                one(t, value, *primals)
                for one, t in zip(jvps, tangents, strict=True) if one is not None
            ]  # fmt: skip
            if not parts:
                return value, trees.map_tree(creation.zeros_like, value)
            total = parts[0]
            for part in parts[1:]:
                total = trees.unflatten(total, [
                    x + y for x, y in zip(trees.leaves(total), trees.leaves(part), strict=True)
                ])  # fmt: skip
            return value, total

        self._rule = rule

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function. The call is recorded if an argument is differentiated."""
        rule = self._rule
        if rule is None:
            name = getattr(self.fun, "__name__", "custom_jvp")
            raise AttributeError(f"No JVP defined for custom_jvp function {name} using defjvp.")
        fixed, rest = self._parted(args, options)
        like: list[Any] = []

        def run(*given: Any) -> Any:
            found = as_arrays(self.fun(*self._joined(fixed, given)))
            like[:] = [found]
            return tuple(trees.leaves(found))

        def ahead(*given: Any) -> Any:
            return run(*as_jax_tree(list(given))), as_jax_tree(given)

        def back(primals: Any, g: Any) -> Any:
            floats = [n for n, x in enumerate(primals) if _is_of_floats(x)]
            zeros = [trees.map_tree(creation.zeros_like, primals[n]) for n in floats]

            def linear(*tangents: Any) -> Any:
                own = [trees.map_tree(_no_tangent, x) for x in primals]
                for n, t in zip(floats, tangents, strict=True):
                    own[n] = t
                return rule(*fixed, tuple(primals), tuple(own))[1]

            value, pullback = vjp(linear, *as_jax_tree(zeros))
            cotangent = trees.unflatten(value, [
                _or_zeros(x, y) for x, y in zip(g, trees.leaves(value), strict=True)
            ])  # fmt: skip
            found = iter(pullback(cotangent))
            return [next(found) if n in floats else trees.map_tree(lambda _: None, x)
                    for n, x in enumerate(primals)]  # fmt: skip

        own = custom.custom_vjp(run)
        own.defvjp(ahead, back)
        try:
            results = own(*rest)
        except NotDifferentiable as error:
            raise NotDifferentiable(getattr(self.fun, "__name__", "custom_jvp"),
                                    str(error)) from error  # fmt: skip
        return trees.unflatten(like[0], [as_jax(x) for x in results])


def _is_of_floats(x: Any) -> bool:
    return all(isinstance(y, Array) and y.dtype.kind in "fc" for y in trees.leaves(x))


def _no_tangent(x: Any) -> Any:
    is_float = isinstance(x, Array) and x.dtype.kind in "fc"
    return creation.zeros_like(x) if is_float else None
