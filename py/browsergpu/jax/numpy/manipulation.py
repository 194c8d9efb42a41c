"""Shapes, joins, sorting and searches of ``jax.numpy``."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.engine.core.checks import is_several
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.ordering import sorting
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JAX, JaxArray, as_jax, cast, unwrapped
from browsergpu.jax.arrays.operands import array, arrays, promoted
from browsergpu.jax.numpy import wrappers
from browsergpu.jax.numpy.wrappers import FUNCTIONS, public, refuse


@public()
def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None,
            out_sharding: Any = None) -> Any:  # fmt: skip
    """Return the elements in another shape."""
    refuse("reshape", out_sharding=out_sharding)
    x = a if type(a) is JaxArray else array("reshape", a, "a")
    if order == "C":
        return manipulation.reshape(x, shape if is_several(shape) else (shape,))
    if order != "F":
        raise InvalidArgument("reshape", "order", order, "'C' or 'F'")
    return as_jax(wrappers.own("reshape")(unwrapped(x), shape, order="F"))


@public()
def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """Return the elements along one axis."""
    return reshape(a, (-1,), order, out_sharding=out_sharding)


@public("transpose", "permute_dims")
def transpose(a: Any, axes: Any = None) -> Any:
    """Permute the axes, by default to the reverse order."""
    x = a if type(a) is JaxArray else array("transpose", a, "a")
    return manipulation.transpose(x, None if axes is None else tuple(axes))


@public()
def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes."""
    return manipulation.matrix_transpose(array("matrix_transpose", x))


@public()
def squeeze(a: Any, axis: Any = None) -> Any:
    """Remove axes of length 1, by default all of them."""
    x = array("squeeze", a, "a")
    chosen = tuple([n for n, extent in enumerate(x.shape) if extent == 1])
    return manipulation.squeeze(x, chosen if axis is None else axis)


@public()
def expand_dims(a: Any, axis: Any) -> Any:
    """Insert axes of length 1."""
    return manipulation.expand_dims(array("expand_dims", a, "a"), axis=axis)


@public()
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Move axes to other places."""
    return manipulation.moveaxis(array("moveaxis", a, "a"), source, destination)


@public()
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Swap two axes."""
    x = array("swapaxes", a, "a")
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return manipulation.permute_dims(x, tuple(order))


@public()
def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Any:
    """Broadcast an array to a shape."""
    refuse("broadcast_to", out_sharding=out_sharding)
    x = _array("broadcast_to", array)
    return manipulation.broadcast_to(x, tuple(shape) if is_several(shape) else (shape,))


_array = array


@public()
def broadcast_arrays(*args: Any) -> Any:
    """Broadcast arrays to their common shape."""
    given = [array("broadcast_arrays", x) for x in args]
    return list(manipulation.broadcast_arrays(*given)) if given else []


def _joined(op: str, given: Any, dtype: Any) -> Any:
    """Return the arrays of a sequence, or of the first axis of an array, in one dtype."""
    if not isinstance(given, list | tuple):
        x = array(op, given, "arrays")
        given = [x[n] for n in range(x.shape[0])]
    if not given:
        raise InvalidArgument(op, "arrays", given, "have at least one array")
    if dtype is None:
        first = given[0]
        if type(first) is JaxArray:
            kind = first.node.kind
            for x in given:
                if type(x) is not JaxArray or x.node.kind is not kind:
                    break
            else:
                return given
        return arrays(op, *given)
    kind = dtypes.dtype_of(op, dtype)
    return [cast(array(op, x), kind) for x in given]


@public("concatenate", "concat")
def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
    """Join arrays along an axis."""
    return manipulation.concat(_joined("concatenate", arrays, dtype), axis=axis)


@public()
def stack(arrays: Any, axis: int = 0, out: Any = None, dtype: Any = None) -> Any:
    """Join arrays along a new axis."""
    refuse("stack", out=out)
    return manipulation.stack(_joined("stack", arrays, dtype), axis=axis)


def _at_least(rank: int) -> Any:
    name = f"atleast_{rank}d"

    def call(*arys: Any) -> Any:
        found = [as_jax(wrappers.own(name)(unwrapped(array(name, x)))) for x in arys]
        return found[0] if len(found) == 1 else found

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return arrays with at least {rank} axes."
    FUNCTIONS[name] = call
    return call


_atleast_1d, _atleast_2d, _atleast_3d = map(_at_least, (1, 2, 3))


@public()
def vstack(tup: Any, dtype: Any = None) -> Any:
    """Join arrays along axis 0."""
    return concatenate([_atleast_2d(x) for x in _joined("vstack", tup, dtype)], 0)


@public()
def hstack(tup: Any, dtype: Any = None) -> Any:
    """Join arrays along axis 1, vectors along axis 0."""
    given = [_atleast_1d(x) for x in _joined("hstack", tup, dtype)]
    return concatenate(given, 0 if given[0].ndim == 1 else 1)


@public()
def dstack(tup: Any, dtype: Any = None) -> Any:
    """Join arrays along axis 2."""
    return concatenate([_atleast_3d(x) for x in _joined("dstack", tup, dtype)], 2)


@public()
def column_stack(tup: Any) -> Any:
    """Join vectors as the columns of a matrix."""
    given = [x[:, None] if x.ndim == 1 else _atleast_2d(x)
             for x in _joined("column_stack", tup, None)]  # fmt: skip
    return concatenate(given, 1)


@public()
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """Return the parts along an axis."""
    return manipulation.unstack(array("unstack", x), axis=axis)


@public()
def flip(m: Any, axis: Any = None) -> Any:
    """Reverse the elements along axes."""
    return manipulation.flip(array("flip", m, "m"), axis=axis)


@public()
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift the elements along axes, around the end."""
    own = [int(x) for x in shift] if is_several(shift) else shift
    return as_jax(manipulation.roll(array("roll", a, "a"), own, axis=axis))


@public()
def tile(A: Any, reps: Any) -> Any:
    """Repeat an array along axes."""
    return manipulation.tile(array("tile", A, "A"), reps if is_several(reps) else (reps,))


@public()
def repeat(
    a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Repeat elements along an axis."""
    refuse("repeat", out_sharding=out_sharding)
    x = array("repeat", a, "a")
    if axis is None:
        x, axis = ravel(x), 0
    if total_repeat_length is None:
        counts = repeats if isinstance(repeats, int) else array("repeat", repeats, "repeats")
        return as_jax(manipulation.repeat(x, counts, axis=axis))
    if isinstance(repeats, int) and repeats < 0:
        raise InvalidArgument("repeat", "repeats", repeats, "at least 0")
    counts = manipulation.broadcast_to(array("repeat", repeats), (x.shape[axis],))
    ends = sorting.cumulative_sum(counts, axis=0)
    places = creation.arange(total_repeat_length, dtype="int32", device=x.device)
    rows = sorting.searchsorted(ends, places.astype(ends.dtype), side="right")
    own = as_jax(elementwise.minimum(rows, x.shape[axis] - 1))
    return as_jax(manipulation.take(x, own, axis=axis))


@public()
def where(
    condition: Any, x: Any = None, y: Any = None, /, *, size: int | None = None,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """Return elements of ``x`` where a condition is true, and else of ``y``.

    With the condition alone, this is :func:`nonzero`.
    """
    if x is None and y is None:
        return FUNCTIONS["nonzero"](condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise InvalidArgument("where", "x, y", (x, y), "both given, or neither")
    refuse("where", size=size, fill_value=fill_value)
    chosen = condition if type(condition) is JaxArray else array("where", condition, "condition")
    if type(x) is not JaxArray or type(y) is not JaxArray or x.node.kind is not y.node.kind:
        x, y = promoted("where", x, y)
    return elementwise.where(chosen, x, y)


def _sorted(name: str, doc: str) -> None:
    quick = getattr(sorting, name)

    def call(
        a: Any, axis: int | None = -1, *, kind: Any = None, order: Any = None,
        stable: bool = True, descending: bool = False,
    ) -> Any:  # fmt: skip
        refuse(name, kind=kind, order=order)
        x = array(name, a, "a")
        x, axis = (ravel(x), 0) if axis is None else (x, axis)
        return as_jax(quick(x, axis=axis, descending=descending, stable=stable))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    public(name)(call)


_sorted("sort", "Return the sorted elements along an axis.")
_sorted("argsort", "Return the indices that sort an axis, as int32.")


@public()
def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """Return the indices at which elements would be inserted, as int32."""
    if method not in ("scan", "scan_unrolled", "sort", "compare_all", "default"):
        raise InvalidArgument("searchsorted", "method", method, "one of JAX's methods")
    ordered, values = arrays("searchsorted", a, v)
    given = None if sorter is None else array("searchsorted", sorter, "sorter")
    return as_jax(sorting.searchsorted(ordered, values, side=side, sorter=given))


@public()
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return differences of neighbours along an axis."""
    x = array("diff", a, "a")
    ends = {}
    for name, given in (("prepend", prepend), ("append", append)):
        if given is not None:
            if x.dtype.kind != "b" or np.asarray(given).dtype.kind != "b":
                x, given = [array("diff", one) for one in promoted("diff", x, given)]
            own = array("diff", given)
            if not own.ndim:
                shape = list(x.shape)
                shape[axis] = 1
                own = as_jax(manipulation.broadcast_to(own, tuple(shape)))
            ends[name] = own
    ends = {name: cast(one, x.dtype) for name, one in ends.items()}
    return as_jax(sorting.diff(x, n=n, axis=axis, **ends))


@public()
def tril(m: Any, k: int = 0) -> Any:
    """Return the elements at and below a diagonal, and zeros."""
    return creation.tril(array("tril", m, "m"), k=k)


@public()
def triu(m: Any, k: int = 0) -> Any:
    """Return the elements at and above a diagonal, and zeros."""
    return creation.triu(array("triu", m, "m"), k=k)


@public()
def ndim(a: Any) -> int:
    """Return the number of axes."""
    return int(a.ndim if hasattr(a, "ndim") else array("ndim", a, "a").ndim)


@public()
def shape(a: Any) -> tuple[int, ...]:
    """Return the length of each axis."""
    return tuple(a.shape) if hasattr(a, "shape") else tuple(array("shape", a, "a").shape)


@public()
def size(a: Any, axis: int | None = None) -> int:
    """Return the number of elements, or the length of an axis."""
    own = shape(a)
    return int(np.prod(own)) if axis is None else own[axis]


@public()
def iscomplexobj(x: Any) -> bool:
    """Return whether the dtype is complex."""
    return np.iscomplexobj(x) if type(x) not in JAX else x.dtype.kind == "c"


@public()
def isrealobj(x: Any) -> bool:
    """Return whether the dtype is not complex."""
    return not iscomplexobj(x)


@public()
def isscalar(element: Any) -> bool:
    """Return whether an object is a number or an array without axes."""
    return bool(element.ndim == 0) if hasattr(element, "ndim") else np.isscalar(element)
