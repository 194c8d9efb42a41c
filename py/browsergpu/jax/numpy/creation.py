"""Functions of ``jax.numpy`` that make arrays."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import device_of
from browsergpu.engine.core.checks import is_several
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JAX, JaxArray, as_jax, cast, unwrapped
from browsergpu.jax.arrays.operands import array as as_operand
from browsergpu.jax.arrays.operands import arrays, from_host, operand, result_type_of, wrapped
from browsergpu.jax.numpy import wrappers
from browsergpu.jax.numpy.wrappers import public, refuse


def placed(op: str, device: Any, out_sharding: Any = None) -> Any:
    """Return the device of a call, or None for the default."""
    refuse(op, out_sharding=out_sharding)
    return None if device is None else device_of(op, device)


def _integers(x: Any) -> bool:
    """Whether a nested list has Python integers only."""
    if isinstance(x, list | tuple):
        return all(map(_integers, x))
    return type(x) is int


def _from_list(op: str, x: Any, device: Any, kind: Any = None) -> Any:
    if _has_arrays(x):
        return stacked([_from_list(op, one, device, kind) if isinstance(one, list | tuple)
                            else as_operand(op, one) for one in x])  # fmt: skip
    data = np.asarray(x, kind)
    if data.dtype.kind not in "biufc":
        raise InvalidArgument(op, "object", x, "numbers, with rows of one length")
    if kind is None and data.dtype.kind in "iu" and data.size and _integers(x):
        limits = np.iinfo(np.int32)
        if data.min() < limits.min or data.max() > limits.max:
            raise OverflowError(f"Python integer {data.max()} out of bounds for int32")
    return from_host(data, device)


def _kind_for(x: Any, kind: Any) -> Any:
    """Return the dtype in which to read a list: the requested one for integers."""
    return kind if kind is not None and kind.kind in "iu" and _integers(list(x)) else None


def _has_arrays(x: Any) -> bool:
    return any(
        isinstance(one, Array) or (isinstance(one, list | tuple) and _has_arrays(one)) for one in x
    )


def stacked(given: Any) -> Any:
    """Stack arrays of any dtypes."""
    return as_jax(manipulation.stack(arrays("stack", *given)))


@public()
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: bool | None = None, device: Any = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return an array of a number, a nested list, a NumPy array or another array.

    Parameters
    ----------
    a : object
        The data.
    dtype : dtype, optional
        By default int32 for Python's integers and float32 for its floats. 64-bit dtypes of NumPy
        arrays become 32-bit dtypes.
    order : None
        Only for compatibility.
    copy : bool, optional
        Whether to make another array. False raises an error if that is necessary.
    device : Device, optional
        The device.
    out_sharding : None
        Only for compatibility.

    Returns
    -------
    Array
        An immutable array.

    Raises
    ------
    InvalidArgument
        If the data is not numbers, or ``copy=False`` and a copy is necessary.
    """
    if type(a) is JaxArray and dtype is order is copy is device is None:
        return a
    if order not in (None, "C", "K", "A"):
        raise InvalidArgument("asarray", "order", order, "None, 'C', 'K' or 'A'")
    kind = dtypes.dtype_of("asarray", dtype)
    there = placed("asarray", device, out_sharding)
    if copy is False and not (type(a) in JAX and kind in (None, a.dtype)):
        raise InvalidArgument("asarray", "copy", copy, "True or None, as a copy is necessary")
    found = _converted(a, there, kind)
    if kind is not None and found.dtype != kind:
        return _cast(found, kind)
    return found.__copy__() if copy and found is a else found


def _cast(found: Any, kind: Any) -> Any:
    if found.dtype.kind == "c" and kind.kind != "c":
        found = as_jax(elementwise.real(found))
    return cast(found, kind)


def _converted(a: Any, there: Any, kind: Any) -> Any:
    if isinstance(a, list | tuple | range):
        return _from_list("asarray", list(a), there, _kind_for(a, kind))
    if isinstance(a, int) and not isinstance(a, bool | np.generic):
        own = kind if kind is not None and kind.kind in "iu" else dtypes.INT32
        limits = np.iinfo(own)
        if not limits.min <= a <= limits.max:
            raise OverflowError(f"Python integer {a} out of bounds for {own.name}")
        return as_jax(creation.asarray(np.asarray(a, own), device=there))
    if not isinstance(a, Array) and (hasattr(a, "__array__") or hasattr(a, "__buffer__")):
        return from_host(a, there)
    found = as_operand("asarray", a, "a")
    return found if there is None or found.device is there else as_jax(found.to_device(there))


@public()
def array(
    object: Any, dtype: Any = None, copy: bool = True, order: Any = "K", ndmin: int = 0, *,
    device: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return an array of data, as :func:`asarray`, with at least ``ndmin`` axes."""
    found = asarray(object, dtype, order, device=device, out_sharding=out_sharding)
    if copy and found is object:
        found = found.__copy__()
    return found[(None,) * (ndmin - found.ndim)] if ndmin > found.ndim else found


def _filled(name: str, value: Any) -> None:
    def call(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
        kind = dtypes.dtype_of(name, dtype) or dtypes.FLOAT32
        there = placed(name, device, out_sharding)
        return as_jax(creation.full(_shape(shape), value, dtype=kind, device=there))

    def like(
        a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None,
        out_sharding: Any = None,
    ) -> Any:  # fmt: skip
        return full_like(a, value, dtype, shape, device=device, out_sharding=out_sharding)

    for made, own in ((call, name), (like, f"{name}_like")):
        made.__name__ = made.__qualname__ = own
        made.__doc__ = f"Return an array as ``jnp.{own}``, of float32 by default."
        wrappers.FUNCTIONS[own] = made


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", 0)):
    _filled(_name, _value)


def _shape(shape: Any) -> Any:
    return tuple([index(n) for n in shape]) if is_several(shape) else (index(shape),)


@public()
def full(
    shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Any:
    """Return an array filled with a value, in its dtype by default."""
    there = placed("full", device, out_sharding)
    kind = dtypes.dtype_of("full", dtype)
    if kind is not None and kind.kind in "iu" and type(fill_value) is int:
        fill_value = wrapped(fill_value, kind)
    value = asarray(fill_value, kind, device=there)
    spread = manipulation.broadcast_to(value, _shape(shape))
    return as_jax(elementwise.positive(spread) if spread.dtype.kind != "b" else spread.__copy__())


@public()
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return an array filled with a value, with the shape and dtype of another array."""
    own = as_operand("full_like", a) if not hasattr(a, "shape") or isinstance(a, np.generic) else a
    kind = dtypes.dtype_of("full_like", dtype) or dtypes.narrowed(np.dtype(own.dtype))
    extents = own.shape if shape is None else _shape(shape)
    there = placed("full_like", device, out_sharding)
    if there is None and isinstance(own, Array):
        there = own.device
    if isinstance(fill_value, int | float | complex) and not isinstance(fill_value, np.generic):
        own_value: Any = fill_value
        if kind.kind in "iu":
            own_value = wrapped(int(fill_value.real), kind)
        if kind.kind == "b":
            own_value = bool(fill_value)
        return as_jax(creation.full(extents, own_value, dtype=kind, device=there))
    return full(extents, fill_value, kind, device=there)


@public()
def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return evenly spaced values of a half-open interval. Integers give int32."""
    there = placed("arange", device, out_sharding)
    given = [_known("arange", x) for x in (start, stop, step)]
    kind = dtypes.dtype_of("arange", dtype)
    if kind is None:
        kind = _dtype_of_numbers(given)
    first, last, by = given
    found = creation.arange(first, last, 1 if by is None else by, dtype=kind, device=there)
    return as_jax(found)


def _dtype_of_numbers(given: Any) -> Any:
    kinds = [operand("arange", x) for x in given if x is not None]
    return result_type_of([
        as_operand("arange", x) if isinstance(x, np.generic) else x for x in kinds
    ])  # fmt: skip


def _known(op: str, x: Any) -> Any:
    """Return a number on the host."""
    if isinstance(x, Array):
        return np.asarray(x)[()]
    return x[()] if isinstance(x, np.ndarray) else x


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, np.generic)


@public()
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """Return evenly spaced values of an interval."""
    kind = dtypes.dtype_of("linspace", dtype)
    there = placed("linspace", device)
    if _is_number(start) and _is_number(stop) and axis in (0, -1):
        found = creation.linspace(
            start, stop, index(num), dtype=dtypes.FLOAT32, device=there, endpoint=endpoint
        )
        low, high = start, stop
    else:
        low, high = [unwrapped(x) for x in arrays("linspace", start, stop, floats=True)]
        found = wrappers.own("linspace")(low, high, index(num), endpoint, axis=axis)
    found = as_jax(found)
    if kind is not None and kind != found.dtype:
        is_whole = kind.kind in "iu"
        found = cast(elementwise.floor(found) if is_whole else found, kind)
    gaps = num - 1 if endpoint else num
    step = (high - low) / gaps if gaps > 0 else math.nan
    return (found, asarray(step)) if retstep else found


@public()
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    """Return numbers that are evenly spaced on a log scale."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    found = wrappers.FUNCTIONS["power"](base, exponents)
    return found if dtype is None else cast(found, dtypes.dtype_of("logspace", dtype))


@public()
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """Return a geometric progression."""
    log = wrappers.FUNCTIONS["log10"]
    low, high = arrays("geomspace", start, stop, floats=True)
    exponents = linspace(log(low / low), log(high / low), num, endpoint, axis=axis)
    found = low * wrappers.FUNCTIONS["power"](10.0, exponents)
    return found if dtype is None else cast(found, dtypes.dtype_of("geomspace", dtype))


@public()
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return a matrix with ones on a diagonal."""
    kind = dtypes.dtype_of("eye", dtype) or dtypes.FLOAT32
    there = placed("eye", device, out_sharding)
    return as_jax(creation.eye(index(N), M, k=index(k), dtype=kind, device=there))


@public()
def identity(n: int, dtype: Any = None) -> Any:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


@public()
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Return a matrix with ones at and below a diagonal."""
    kind = dtypes.dtype_of("tri", dtype) or dtypes.FLOAT32
    return as_jax(creation.tril(creation.ones((N, N if M is None else M), dtype=kind), k=k))


@public()
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Return coordinate arrays of vectors."""
    given = [unwrapped(as_operand("meshgrid", x)) for x in xi]
    return list(as_jax(wrappers.own("meshgrid")(*given, copy=copy, sparse=sparse,
                                                indexing=indexing)))  # fmt: skip


@public()
def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
    """Return the indices of a grid, as int32 by default."""
    kind = dtypes.dtype_of("indices", dtype) or dtypes.INT32
    return as_jax(wrappers.own("indices")(tuple(dimensions), kind, sparse))


@public()
def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
    """Return an array in another dtype."""
    return asarray(x, dtypes.FLOAT32 if dtype is None else dtype, copy=copy or None, device=device)


@public()
def copy(a: Any, order: Any = None) -> Any:
    """Return a copy of an array."""
    return array(a, copy=True, order=order or "K")


@public("from_dlpack")
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return an array of an object with DLPack's methods."""
    found = wrappers.own("from_dlpack")(x, device=device, copy=copy)
    return asarray(found)


@public()
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **options: Any) -> Any:
    """Call a function with the indices of a grid."""
    grid = indices(shape, dtypes.dtype_of("fromfunction", dtype))
    return function(*[grid[n] for n in range(grid.shape[0])], **options)


@public()
def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    """Return an array of the items of an iterable."""
    return asarray(np.fromiter(iter, dtypes.dtype_of("fromiter", dtype), count))


@public()
def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """Return an array of the bytes of a buffer."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = dtypes.dtype_of("frombuffer", dtype)  # names the missing dtype
    return asarray(np.frombuffer(buffer, kind, count, offset))


@public()
def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any:
    """Return an array of the numbers of a text."""
    return asarray(np.fromstring(string, dtypes.dtype_of("fromstring", dtype), count, sep=sep))
