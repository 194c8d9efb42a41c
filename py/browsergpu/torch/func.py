"""Transforms of functions, as ``torch.func``."""

from __future__ import annotations

from functools import wraps
from typing import Any

from browsergpu.arrays.autograd.batched import RANDOMNESS
from browsergpu.autograd import jacobians, transforms
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.torch.tensors.tensor import as_tensors


def _of_tensors(function: Any) -> Any:
    """Return a function whose results are tensors."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return as_tensors(function(*args, **options), args)

    return call


def grad(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes the gradient."""
    return _of_tensors(transforms.grad(func, argnums, has_aux=has_aux))


def grad_and_value(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes the gradient and the value."""
    both = transforms.value_and_grad(func, argnums, has_aux=has_aux)
    return _of_tensors(lambda *args, **options: both(*args, **options)[::-1])


def value_and_grad(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes the value and the gradient."""
    return _of_tensors(transforms.value_and_grad(func, argnums, has_aux=has_aux))


def vjp(func: Any, *primals: Any) -> Any:
    """Return the value, and a function of its cotangent."""
    value, pullback = transforms.vjp(func, *primals)
    return as_tensors(value, primals), _of_tensors(pullback)


def jvp(func: Any, primals: Any, tangents: Any) -> Any:
    """Return the value, and the product of the Jacobian and the tangents."""
    return as_tensors(transforms.jvp(func, primals, tangents))


def vmap(
    func: Any, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Any:  # fmt: skip
    """Return a function of tensors with one axis more.

    With ``randomness="error"``, random numbers in ``func`` raise an error. With "same", all
    examples get the same numbers.
    """
    if randomness not in ("error", "same"):
        advice = "Draw different numbers before the call, and pass them as an argument."
        raise InvalidArgument("vmap", "randomness", randomness, "'error' or 'same'", advice)
    if chunk_size is not None:
        raise InvalidArgument("vmap", "chunk_size", chunk_size, "None")

    def own(*args: Any, **options: Any) -> Any:
        block = object()
        RANDOMNESS.enter(block, randomness)
        try:
            return func(*args, **options)
        finally:
            RANDOMNESS.leave(block)

    return _of_tensors(ABOVE.namespace.vmap(wraps(func)(own), in_dims, out_dims))


def _places(module: Any) -> dict[str, tuple[Any, str]]:
    """Return where a module holds its parameters and buffers, by name."""
    return {
        f"{where}.{own}" if where else own: (place, own)
        for where, held in module.named_modules(remove_duplicate=False)
        for place in (held._parameters, held._buffers)
        for own, x in place.items() if x is not None
    }  # fmt: skip


def _replaced(
    module: Any, given: dict[str, Any], is_tied: bool, is_strict: bool
) -> list[tuple[Any, str, Any]]:
    """Return the places to replace with their values. Tied places get the value of either name."""
    op = "functional_call"
    places = _places(module)
    held = {name: place[own] for name, (place, own) in places.items()}
    for name in given:
        if name not in places:
            expected = "names of the module's parameters and buffers"
            raise InvalidArgument(op, "parameter_and_buffer_dicts", name, expected)
    tied: dict[int, Any] = {}
    for name, value in given.items():
        if is_tied and tied.setdefault(id(held[name]), value) is not value:
            expected = "one value for tied parameters"
            raise InvalidArgument(op, "parameter_and_buffer_dicts", name, expected)
    found = []
    for name, (place, own) in places.items():
        if name in given or id(held[name]) in tied:
            found.append((place, own, given[name] if name in given else tied[id(held[name])]))
        elif is_strict:
            raise InvalidArgument(op, "strict", name, "a name that was given a value")
    return found


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = (), kwargs: Any = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other parameters and buffers, also where weights are tied."""
    given: dict[str, Any] = {}
    several = isinstance(parameter_and_buffer_dicts, list | tuple)
    for one in parameter_and_buffer_dicts if several else [parameter_and_buffer_dicts]:
        given.update(one)
    kept = []
    try:
        for place, own, value in _replaced(module, given, tie_weights, strict):
            kept.append((place, own, place[own]))
            place[own] = value
        args = args if isinstance(args, tuple) else (args,)
        return module(*args, **(kwargs or {}))
    finally:
        for place, own, value in kept:
            place[own] = value


def jacrev(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes the Jacobian by backward passes."""
    return _of_tensors(jacobians.jacrev(func, argnums, has_aux=has_aux))


def jacfwd(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes the Jacobian by forward products."""
    return _of_tensors(jacobians.jacfwd(func, argnums, has_aux=has_aux))


def hessian(func: Any, argnums: Any = 0) -> Any:
    """Return a function that computes the second derivatives."""
    return _of_tensors(jacobians.hessian(func, argnums))
