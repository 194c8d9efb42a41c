"""Scattering: values assigned, added or reduced at indices."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, parts
from browsergpu.functions.ordering.combinations import combined_at, extreme_at
from browsergpu.torch.tensors.indexing import added, in_place, of_one_dtype
from browsergpu.torch.tensors.public import public
from browsergpu.torch.tensors.shapes import axis_of


def _grid(index: Any, dim: int) -> tuple[Any, ...]:
    """Return a key for ``x[i, index, k]``, for all i and k."""
    rank = len(index.shape)
    key = []
    for n in range(rank):
        if n == dim % rank:
            key.append(index)
        else:
            shape = [1] * rank
            shape[n] = index.shape[n]
            steps = ABOVE.namespace.arange(index.shape[n], device=index.device)
            key.append(manipulation.reshape(steps, shape))
    return tuple(manipulation.broadcast_arrays(*key)) if rank else (index,)


def _source(op: str, input: Any, dim: int, index: Any, src: Any) -> Any:
    """Return the part of a source, or a number, in the shape of the indices."""
    shape, rank = tuple(index.shape), len(input.shape)
    axis_of(op, dim, rank)
    if len(shape) != rank:
        raise InvalidArgument(op, "index", index, f"have {rank} axes, as input has")
    limits = zip(_others(shape, dim), _others(input.shape, dim), strict=True)
    if any(n > most for n, most in limits):
        expected = f"at most as long as input, {tuple(input.shape)}, along each axis but dim"
        raise InvalidArgument(op, "index", index, expected)
    if not isinstance(src, Array):
        return ABOVE.namespace.full(shape, src, dtype=input.dtype, device=input.device)
    if len(src.shape) != rank or any(n > most for n, most in zip(shape, src.shape, strict=True)):
        expected = f"at most as long as src, {tuple(src.shape)}, along each axis"
        raise InvalidArgument(op, "index", index, expected)
    of_one_dtype(op, input, src)
    return src[tuple([slice(0, one) for one in shape])]


def _others(shape: Any, dim: int) -> list[int]:
    return [n for at, n in enumerate(shape) if at != dim % len(shape)]


@public(out=False)
def scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Any:
    """Return a copy with elements at indices along an axis replaced, added to or multiplied."""
    src = value if src is None else src
    if reduce not in (None, "add", "multiply"):
        raise InvalidArgument("scatter", "reduce", reduce, "None, 'add' or 'multiply'")
    given, key = _source("scatter", input, dim, index, src), _grid(index, dim)
    if reduce is None:
        return parts.assigned(input, key, given)
    how = "sum" if reduce == "add" else "prod"
    return _reduced("scatter", input, key, given, how, True, _REDUCTIONS)


@public(out=False)
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """Return a copy with values added at indices along an axis."""
    return added(input, _grid(index, dim), _source("scatter_add", input, dim, index, src))


_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def _reduced(
    op: str, input: Any, key: Any, values: Any, reduce: str, include_self: bool, allowed: Any
) -> Any:
    if reduce not in allowed:
        raise InvalidArgument(op, "reduce", reduce, f"one of {', '.join(allowed)}")
    if not values.size:
        return input.__copy__()
    if reduce in ("sum", "mean"):
        begin = input if include_self else parts.assigned(input, key, 0)
        total = added(begin, key, values)
        return total if reduce == "sum" else _divided(input, key, total, include_self)
    size = product(input.shape)
    iota = creation.arange(size, dtype="int32", device=input.device)
    places = parts.part(manipulation.reshape(iota, tuple(input.shape)), key)
    x, at, own = (manipulation.reshape(one, (-1,)) for one in (input, places, values))
    if reduce == "prod":
        found = combined_at(x, at, own, elementwise.multiply, include=include_self)
    else:
        found = extreme_at(x, at, own, largest=reduce == "amax", include=include_self)
    return manipulation.reshape(found, tuple(input.shape))


def _divided(input: Any, key: Any, total: Any, include_self: bool) -> Any:
    kind = "int64" if input.dtype.kind in "iu" else "float32"
    count = creation.ones(tuple(input.shape), dtype=kind, device=input.device)
    one = creation.ones(tuple(key[0].shape), dtype=kind, device=input.device)
    begin = count if include_self else parts.assigned(count, key, 0)
    number = added(begin, key, one)
    found = total // number if kind == "int64" else total / number
    return found.astype(input.dtype, copy=False)


@public(out=False)
def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Return a copy with values reduced at indices along an axis.

    ``reduce`` is "sum", "prod", "mean", "amax" or "amin". With ``include_self=False``, an element
    that an index names is not part of its reduction.
    """
    op = "scatter_reduce"
    values = _source(op, input, dim, index, src)
    return _reduced(op, input, _grid(index, dim), values, reduce, include_self, _REDUCTIONS)


@public(out=False)
def index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Return a copy with parts reduced at indices of an axis.

    ``reduce`` is "prod", "mean", "amax" or "amin".
    """
    op = "index_reduce"
    at = dim % max(len(input.shape), 1)
    shape = [1] * len(source.shape)
    shape[at] = -1
    along = manipulation.broadcast_to(manipulation.reshape(index, tuple(shape)), source.shape)
    values = _source(op, input, at, along, source)
    return _reduced(op, input, _grid(along, at), values, reduce, include_self, _REDUCTIONS[1:])


for _f in (scatter, scatter_add, scatter_reduce, index_reduce):
    in_place(f"{_f.__name__}_", _f)
