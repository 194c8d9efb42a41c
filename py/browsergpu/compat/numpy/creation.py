"""Array creation, with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.coercion import OnHostOnly, from_list, is_numpys_alone
from browsergpu.compat.numpy.docstrings import docstring
from browsergpu.compat.numpy.fallback import on_host, to_gpu
from browsergpu.compat.numpy.operands import check_order, refuse
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import DEFAULTS
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation


def _device_of(op: str, device: Any, like: Any) -> Any:
    """Return the given device, or else the device of the array ``like``."""
    if like is None:
        return device
    if not isinstance(like, Array):
        raise InvalidType(op, "like", like, "an array on the GPU")
    return like.device if device is None else device


def in_layout(op: str, found: Array, order: Any) -> Array:
    """Return an array in the memory order ``order``.

    For "F" the result is column-major: a view of a transposed copy. Other orders change nothing.
    """
    if order != "F":
        check_order(op, order)
        return found
    is_there = found.flags.f_contiguous
    return found if is_there else creation.asarray(found.T, copy=True).T


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None,
    like: Any = None,
) -> Any:  # fmt: skip
    """Convert data to an array on the GPU, as ``numpy.asarray``.

    Parameters
    ----------
    a : array_like
        A number, a list, a NumPy array, an object with ``__array__``, or an array on the GPU, which
        is returned unchanged if it has the dtype.
    dtype : dtype, optional
        The dtype. By default that of the data.
    order : {None, "C", "K", "A", "F"}
        The memory order. "F" is column-major; the others are row-major.
    device : Device, optional
        The device. By default that of ``a``, or the default device.
    copy : bool, optional
        Whether to copy. False raises if a copy is necessary.
    like : Array, optional
        Use the device of this array.

    Returns
    -------
    Array
        The array. For a dtype without GPU support, such as strings, the result is a NumPy array.
    """
    if type(a) is Array and dtype is order is device is copy is like is None:
        return a
    if order == "F":
        found = asarray(a, dtype, device=device, copy=copy, like=like)
        return in_layout("asarray", found, order) if isinstance(found, Array) else found
    check_order("asarray", order)
    device = _device_of("asarray", device, like)
    if is_numpys_alone(dtype) or is_numpys_alone(getattr(a, "dtype", None)):
        return on_host("np.asarray", np.asarray, (a,), {"dtype": dtype})
    if isinstance(a, range):
        a = list(a)
    if isinstance(a, list | tuple):
        if copy is False:
            raise InvalidArgument("asarray", "copy", copy, "True or None, for a list")
        try:
            if dtype is not None and _is_plain(a):
                return _from_numbers(a, dtype, device)
            found = from_list(a, device)
        except OnHostOnly:
            return on_host("np.asarray", np.asarray, (a,), {"dtype": dtype})
        return found if dtype is None else found.astype(dtype, copy=False)
    return creation.asarray(a, dtype=dtype, device=device, copy=copy)


def _from_numbers(a: Any, dtype: Any, device: Any) -> Array:
    try:
        return creation.asarray(a, dtype=dtype, device=device)
    except InvalidType:
        if np.asarray(a).dtype.kind in "US":  # NumPy parses text as numbers
            raise OnHostOnly from None
        raise


def _is_plain(a: Any) -> bool:
    if isinstance(a, list | tuple):
        return all(_is_plain(x) for x in a)
    return not isinstance(a, Array)


def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K",
    subok: bool = False, ndmin: int = 0, ndmax: int = 0, like: Any = None, device: Any = None,
) -> Any:  # fmt: skip
    """Create an array from a copy of the data, as ``numpy.array``. See :func:`asarray`."""
    refuse("array", ndmax=ndmax or None)
    found = asarray(object, dtype, device=device, like=like)
    if isinstance(found, Array) and copy and found is object:
        found = creation.asarray(found, copy=True)
    if ndmin > found.ndim:
        found = found[(None,) * (ndmin - found.ndim)]
    return in_layout("array", found, order) if isinstance(found, Array) else found


def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None,
    like: Any = None,
) -> Any:  # fmt: skip
    """Convert data to an array on the GPU, as :func:`asarray`."""
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Convert data to an array with at least one axis, as ``numpy.ascontiguousarray``."""
    found = asarray(a, dtype, like=like)
    return found if found.ndim else found.reshape((1,))


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Convert data to a column-major array, as ``numpy.asfortranarray``."""
    return asarray(a, dtype, "F", like=like)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """Convert data to an array. Raise InvalidArgument for infinity or NaN. Waits for the GPU."""
    found = asarray(a, dtype, order)
    is_of_floats = isinstance(found, Array) and found.dtype.kind in "fc"
    if is_of_floats and not bool(elementwise.isfinite(found).all()):
        raise InvalidArgument("asarray_chkfinite", "a", found, "finite numbers")
    return found


def _fill_function(
    name: str, theirs: Callable[..., Any], own: Callable[..., Array]
) -> Callable[..., Any]:
    def call(
        shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
    ) -> Any:
        if is_numpys_alone(dtype):
            return on_host(f"np.{name}", theirs, (shape, dtype), {})
        device = _device_of(name, device, like)
        return in_layout(name, own(shape, dtype=dtype, device=device), order)

    call.__doc__ = docstring(name, theirs, "The dtype is float32 by default.")
    return call


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None,
    like: Any = None,
) -> Any:  # fmt: skip
    """Create an array filled with a value, as ``numpy.full``. The value may be an array."""
    device = _device_of("full", device, like)
    if is_numpys_alone(dtype) or isinstance(fill_value, str | bytes):
        return on_host("np.full", np.full, (shape, fill_value, dtype), {})
    if isinstance(fill_value, Array | np.ndarray | list | tuple):
        value = asarray(fill_value, dtype, device=device)
        spread = creation.asarray(manipulation.broadcast_to(value, _tuple(shape)), copy=True)
        return in_layout("full", spread, order)
    return in_layout("full", creation.full(shape, fill_value, dtype=dtype, device=device), order)


def _tuple(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if checks.is_several(shape) else (shape,)


def arange(
    start_or_stop: Any, /, stop: Any = None, step: Any = 1, dtype: Any = None, *,
    device: Any = None, like: Any = None,
) -> Any:  # fmt: skip
    """Return evenly spaced values in a half-open interval, as ``numpy.arange``."""
    given = (start_or_stop, stop, step)
    if is_numpys_alone(dtype) or any(_is_time(x) for x in given):
        rest = () if stop is None else (stop,) if step == 1 else (stop, step)
        return on_host("np.arange", np.arange, (start_or_stop, *rest), {"dtype": dtype})
    first, last, by = (np.asarray(x)[()] if isinstance(x, Array | np.ndarray) else x for x in given)
    device = _device_of("arange", device, like)
    by = 1 if by is None else by
    return creation.arange(first, last, by, dtype=dtype, device=device)


def _is_time(x: Any) -> bool:
    return isinstance(x, np.datetime64 | np.timedelta64 | str)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """Return evenly spaced values over an interval, as ``numpy.linspace``.

    ``start`` and ``stop`` may be arrays.
    """
    count = checks.integer("linspace", "num", num)
    gaps = count - 1 if endpoint else count
    if isinstance(start, Array | np.ndarray | list) or isinstance(stop, Array | np.ndarray | list):
        low, high = asarray(start, device=device), asarray(stop, device=device)
        low, high = manipulation.broadcast_arrays(low, high)
        at = creation.arange(count, dtype="float32", device=low.device)
        share = manipulation.reshape(at / max(gaps, 1), (count,) + (1,) * low.ndim)
        found: Any = low * (1.0 - share) + high * share
        if dtype is not None:
            found = found.astype(dtype, copy=False)
        found = manipulation.moveaxis(found, 0, axis) if axis else found
    else:
        low, high = start, stop
        if axis not in (0, -1):
            raise InvalidArgument("linspace", "axis", axis, "0, for numbers")
        if dtype is not None and np.dtype(dtype).kind in "iu":  # float32 rounds below integers
            found = asarray(np.linspace(start, stop, count, endpoint, dtype=dtype), device=device)
        else:
            found = creation.linspace(
                start, stop, num, dtype=dtype, device=device, endpoint=endpoint
            )
    if not retstep:
        return found
    step = (high - low) / gaps if gaps > 0 else np.nan
    return found, step


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    """Return values evenly spaced on a log scale, as ``numpy.logspace``."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    found: Any = elementwise.pow(base, exponents)
    return found if dtype is None else found.astype(dtype, copy=False)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """Return a geometric progression, as ``numpy.geomspace``. NumPy computes it on the host."""
    return to_gpu(np.geomspace(start, stop, num, endpoint, dtype, axis))


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, order: Any = "C", *,
    device: Any = None, like: Any = None,
) -> Array:  # fmt: skip
    """Return a matrix with ones on a diagonal, as ``numpy.eye``. The default dtype is float32."""
    device = _device_of("eye", device, like)
    return in_layout("eye", creation.eye(N, M, k=k, dtype=dtype, device=device), order)


def identity(n: int, dtype: Any = None, *, like: Any = None) -> Array:
    """Return the identity matrix, as ``numpy.identity``."""
    return eye(n, dtype=dtype, like=like)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, like: Any = None) -> Array:
    """Return a matrix with ones at and below a diagonal, as ``numpy.tri``."""
    device = _device_of("tri", None, like)
    ones = creation.ones((N, N if M is None else M), dtype=dtype, device=device)
    return creation.tril(ones, k=k)


def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
    """Return the indices of a grid, as ``numpy.indices``."""
    shape = checks.dimensions("indices", "dimensions", tuple(dimensions))
    rank = len(shape)
    own = [
        manipulation.reshape(
            creation.arange(n, dtype=dtype), tuple(n if at == axis else 1 for at in range(rank))
        )
        for axis, n in enumerate(shape)
    ]
    if sparse:
        return tuple(own)
    if not own:
        return creation.zeros((0,), dtype=int if dtype is None else dtype)
    return manipulation.stack([manipulation.broadcast_to(x, shape) for x in own])


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    """Call a function with the indices of a grid, as ``numpy.fromfunction``."""
    refuse("fromfunction", like=like)
    grid = indices(shape, dtype=np.float32 if dtype is float else dtype)
    return function(*(grid[n] for n in range(grid.shape[0])), **options)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Return a tuple of coordinate arrays of vectors, as ``numpy.meshgrid``."""
    own_xi = (x if isinstance(x, Array) else asarray(x) for x in xi)
    vectors = [manipulation.reshape(x, (-1,)) for x in own_xi]
    if not sparse:
        found = creation.meshgrid(*vectors, indexing=indexing)
        return tuple(creation.asarray(x, copy=True) for x in found) if copy else found
    if indexing not in ("xy", "ij"):
        raise InvalidArgument("meshgrid", "indexing", indexing, "'xy' or 'ij'")
    rank = len(vectors)
    places = [*range(rank)]
    if indexing == "xy" and rank > 1:
        places[:2] = 1, 0
    own = [
        manipulation.reshape(x, tuple(x.size if n == at else 1 for n in range(rank)))
        for at, x in zip(places, vectors, strict=True)
    ]
    return tuple(creation.asarray(x, copy=True) for x in own) if copy else tuple(own)


def vander(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    """Return a Vandermonde matrix, which has the powers of a vector, as ``numpy.vander``."""
    if x.ndim != 1:
        raise InvalidArgument("vander", "x", x, "a vector")
    count = x.size if N is None else checks.integer("vander", "N", N)
    is_whole = x.dtype.kind in "biu"
    own = x.astype(np.promote_types(x.dtype, DEFAULTS[int].numpy)) if is_whole else x
    ones = creation.ones_like(own)
    columns = [ones]
    while len(columns) < count:
        columns.append(columns[-1] * own)
    columns = columns[:count]
    if not columns:
        return creation.zeros((x.size, 0), dtype=own.dtype, device=x.device)
    return manipulation.stack(columns if increasing else columns[::-1], axis=1)


def diagflat(v: Array, k: int = 0) -> Array:
    """Return a matrix with the elements on a diagonal, as ``numpy.diagflat``."""
    flat = manipulation.reshape(v, (-1,))
    n = flat.size + abs(k)
    found: Any = creation.zeros((n, n), dtype=flat.dtype, device=flat.device)
    at = np.arange(flat.size)
    found[at + max(-k, 0), at + max(k, 0)] = flat
    return found  # type: ignore[no-any-return]


zeros = _fill_function("zeros", np.zeros, creation.zeros)
ones = _fill_function("ones", np.ones, creation.ones)
empty = _fill_function("empty", np.empty, creation.empty)

#: Functions without array arguments, by name.
CREATORS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        arange, array, asanyarray, asarray, asarray_chkfinite, ascontiguousarray, asfortranarray,
        eye,
        fromfunction, full, geomspace, identity, indices, linspace, logspace, tri,
    )
} | {"zeros": zeros, "ones": ones, "empty": empty}  # fmt: skip
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.diagflat: diagflat,
    np.meshgrid: meshgrid,
    np.vander: vander,
}
