"""NumPy's functions that change their first argument in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.manipulation.concatenate import resize
from browsergpu.compat.numpy.operands import indices_by_mode, on_one_device
from browsergpu.engine.core import shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation


def _target(op: str, name: str, a: Any) -> Array:
    if not isinstance(a, Array):
        raise InvalidType(op, name, a, "an array on the GPU")
    return a


def _values(own: Array, v: Any) -> Any:
    return creation.asarray(v, device=own.device) if not isinstance(v, Array) else v


#: The kinds of dtypes that NumPy casts a number of Python to.
_KINDS: dict[type, str] = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy values to an array where a mask is True, as ``numpy.copyto``."""
    own = _target("copyto", "dst", dst)
    if type(src) in _KINDS:
        can_cast = casting == "unsafe" or own.dtype.kind in _KINDS[type(src)]
        new: Any = creation.zeros((), dtype=own.dtype, device=own.device)
        if can_cast:
            new[...] = src  # raises OverflowError for a number beyond the dtype's range
    else:
        new = _values(own, src)
        can_cast = np.can_cast(new.dtype, own.dtype, casting)  # type: ignore[arg-type]
    if not can_cast:
        expected = f"of a dtype that casting={casting!r} allows for {own.dtype}"
        raise InvalidType("copyto", "src", src, expected)
    if where is True:
        own[...] = new.astype(own.dtype, copy=False)
        return
    mask = on_one_device((where, own))[0]
    own[...] = elementwise.where(mask, new.astype(own.dtype, copy=False), own)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Replace the elements at indices of the flattened array, as ``numpy.put``."""
    own = _target("put", "a", a)
    host = ind if isinstance(ind, Array) else np.asarray(ind)
    at = indices_by_mode("put", host, own.size, mode)
    count = int(np.prod(at.shape))
    if not count:
        return
    new = manipulation.reshape(resize(_values(own, v), (count,)), at.shape)
    own[_unravel(at, own.shape)] = new.astype(own.dtype, copy=False)


def _unravel(at: Any, shape: tuple[int, ...]) -> Any:
    if not isinstance(at, Array):
        at = np.where(at < 0, at + int(np.prod(shape)), at)
        return np.unravel_index(at, shape)
    found: list[Any] = []
    rest: Any = elementwise.where(at < 0, at + int(np.prod(shape)), at)
    for extent in shape[::-1]:
        found.append(rest % extent)
        rest = rest // extent
    return tuple(found[::-1])


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Assign values in order where a mask is True, as ``numpy.place``. Waits for the GPU."""
    own = _target("place", "arr", arr)
    chosen = on_one_device((mask, own))[0] != 0
    if chosen.shape != own.shape:
        raise InvalidArgument("place", "mask", mask, f"of shape {own.shape}, the shape of arr")
    count = int(chosen.sum())
    if count:
        new = manipulation.reshape(_values(own, vals), (-1,))
        if not new.size:
            raise InvalidArgument("place", "vals", new, "have elements")
        own[chosen] = resize(new, (count,)).astype(own.dtype, copy=False)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Assign the values at the same positions where a mask is True, as ``numpy.putmask``."""
    own = _target("putmask", "a", a)
    new = _values(own, values)
    if new.shape != own.shape:
        new = resize(new, own.shape)
    chosen = on_one_device((mask, own))[0] != 0
    own[...] = elementwise.where(chosen, new.astype(own.dtype, copy=False), own)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Assign values at indices along an axis, as ``numpy.put_along_axis``."""
    own = _target("put_along_axis", "arr", arr)
    at = _values(own, indices)
    if axis is None:
        put(own, manipulation.reshape(at, (-1,)), values)
        return
    place = shapes.axis("put_along_axis", "axis", axis, own.ndim)
    rank = own.ndim
    key = tuple(
        at if n == place
        else np.arange(own.shape[n]).reshape([-1 if m == n else 1 for m in range(rank)])
        for n in range(rank)
    )  # fmt: skip
    own[key] = values


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Fill the main diagonal, as ``numpy.fill_diagonal``."""
    own = _target("fill_diagonal", "a", a)
    if own.ndim < 2:
        raise InvalidArgument("fill_diagonal", "a", own, "have at least 2 axes")
    if own.ndim > 2 and len(set(own.shape)) > 1:
        raise InvalidArgument("fill_diagonal", "a", own, "have axes of the same length")
    rows, columns = own.shape[:2]
    if own.ndim == 2 and wrap and rows > columns:
        key = np.unravel_index(np.arange(0, own.size, columns + 1), own.shape)
    else:
        key = (np.arange(min(rows, columns)),) * own.ndim
    own[key] = resize(_values(own, val), (len(key[0]),)).astype(own.dtype, copy=False)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.copyto: copyto,
    np.fill_diagonal: fill_diagonal,
    np.place: place,
    np.put: put,
    np.put_along_axis: put_along_axis,
    np.putmask: putmask,
}
