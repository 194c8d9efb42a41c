"""Indexing and sets of ``jax.numpy``, also with a fixed ``size``."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.ordering import sorting
from browsergpu.jax.arrays import dtypes, keys
from browsergpu.jax.arrays.array import JaxArray, as_jax, unwrapped
from browsergpu.jax.arrays.at import fill_value_of
from browsergpu.jax.arrays.operands import array, arrays
from browsergpu.jax.numpy import wrappers
from browsergpu.jax.numpy.wrappers import FUNCTIONS, public, refuse


@public()
def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: Any = None,
    unique_indices: bool = False, indices_are_sorted: bool = False, fill_value: Any = None,
) -> Any:  # fmt: skip
    """Return the elements at indices of an axis. By default, indices out of bounds give NaN."""
    refuse("take", out=out)
    x, at = array("take", a, "a"), array("take", indices, "indices")
    if at.dtype.kind == "b":
        at = at.astype("int32")
    flat = axis is None or (not x.ndim and axis in (0, -1))
    x, place = (x.reshape(-1), 0) if flat else (x, shapes.axis("take", "axis", axis, x.ndim))
    key = (slice(None),) * place
    if mode == "wrap":
        return keys.get(x, (*key, at % x.shape[place]))
    return x.at[(*key, at)].get(mode="fill" if mode is None else mode, fill_value=fill_value)


@public()
def take_along_axis(
    arr: Any, indices: Any, axis: int | None = -1, mode: Any = None, fill_value: Any = None
) -> Any:
    """Return elements at indices along an axis. By default, indices out of bounds give NaN."""
    x, at = array("take_along_axis", arr, "arr"), array("take_along_axis", indices, "indices")
    if axis is None:
        x, axis = x.reshape(-1), 0
        at = at.reshape(-1)
    extent = x.shape[axis]
    own = elementwise.where(elementwise.less(at, 0), at + extent, at)
    inside = elementwise.clip(own, 0, extent - 1)
    found = as_jax(sorting.take_along_axis(x, as_jax(inside), axis=axis))
    if keys.mode_of("take_along_axis", mode, "fill") == "clip":
        return found
    fill = fill_value_of(x.dtype) if fill_value is None else fill_value
    return as_jax(elementwise.where(elementwise.equal(own, inside), found, fill))


def _fixed(found: Any, size: int | None, fill_value: Any) -> Any:
    """Return an array whose first axis has a length: it is cut, or filled at the end."""
    if size is None:
        return found
    length = found.shape[0]
    if length >= size:
        return found[:size]
    rest = creation.full((size - length, *found.shape[1:]), 0, dtype=found.dtype,
                         device=found.device)  # fmt: skip
    filled = as_jax(rest) + array("size", fill_value).astype(found.dtype)
    return as_jax(manipulation.concat([found, filled.astype(found.dtype)]))


@public()
def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Return the indices of the nonzero elements, for each axis. Waits for the GPU."""
    x = array("nonzero", a, "a")
    if not x.ndim:
        raise InvalidArgument("nonzero", "a", x, "have axes", "Use jnp.atleast_1d(x).")
    found = as_jax(sorting.nonzero(x))
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * len(found)
    return tuple([_fixed(one, size, fill) for one, fill in zip(found, fills, strict=True)])


@public()
def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Return the indices of the nonzero elements of the flattened array."""
    return nonzero(array("flatnonzero", a).reshape(-1), size=size, fill_value=fill_value)[0]


@public()
def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Return the indices of the nonzero elements, as the rows of a matrix."""
    x = array("argwhere", a, "a")
    found = nonzero(FUNCTIONS["atleast_1d"](x), size=size, fill_value=fill_value)
    return FUNCTIONS["stack"](found, axis=-1)[:, : x.ndim]


@public()
def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """Return the elements where a condition is true, along one axis."""
    chosen, x = array("extract", condition).reshape(-1), array("extract", arr).reshape(-1)
    return _fixed(keys.get(x, chosen.astype(bool)), size, fill_value)


@public()
def compress(
    condition: Any, a: Any, axis: int | None = None, *, size: int | None = None,
    fill_value: Any = 0, out: Any = None,
) -> Any:  # fmt: skip
    """Return the parts of an axis where a condition is true."""
    refuse("compress", out=out)
    x = array("compress", a, "a")
    if axis is None:
        x = x.reshape(-1)
    axis = 0 if axis is None else shapes.axis("compress", "axis", axis, x.ndim)
    chosen = array("compress", condition).astype(bool)
    extent = x.shape[axis]
    if chosen.shape[0] > extent and bool(chosen[extent:].any()):
        expected = f"false from element {extent} on"
        raise InvalidArgument("compress", "condition", chosen, expected)
    rows = flatnonzero(chosen)
    found = manipulation.take(x, rows, axis=axis)
    if size is None:
        return as_jax(found)
    own = manipulation.moveaxis(found, axis, 0)
    return as_jax(manipulation.moveaxis(_fixed(as_jax(own), size, fill_value), 0, axis))


@public()
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, size: int | None = None,
    fill_value: Any = None, sorted: bool = True,
) -> Any:  # fmt: skip
    """Return the sorted unique elements. Waits for the GPU."""
    x = array("unique", ar, "ar")
    found = wrappers.own("unique")(
        unwrapped(x), return_index=return_index, return_inverse=return_inverse,
        return_counts=return_counts, axis=axis, equal_nan=equal_nan,
    )  # fmt: skip
    several = as_jax(found if isinstance(found, tuple) else (found,))
    made = list(several)
    if size is not None:
        if axis not in (None, 0):
            raise InvalidArgument("unique", "axis", axis, "None or 0 if size is given")
        fill = made[0].min() if fill_value is None and made[0].size else (fill_value or 0)
        made[0] = _fixed(made[0], size, fill)
        at = 1
        for wanted, rest in ((return_index, several[1][0] if return_index else 0),
                             (return_inverse, None), (return_counts, 0)):  # fmt: skip
            if wanted:
                made[at] = made[at] if rest is None else _fixed(made[at], size, rest)
                at += 1
    return tuple(made) if isinstance(found, tuple) else made[0]


def _set_function(name: str) -> None:
    def call(
        ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None,
        fill_value: Any = None,
    ) -> Any:  # fmt: skip
        one, other = [unwrapped(x) for x in arrays(name, ar1, ar2)]
        options = {} if name == "union1d" else {"assume_unique": assume_unique}
        found = as_jax(wrappers.own(name)(one, other, **options))
        if name == "setdiff1d":
            found = found.astype(array(name, ar1).dtype)
            return _fixed(found, size, fill_value or 0)
        fill = found.min() if fill_value is None and found.size else (fill_value or 0)
        return _fixed(found, size, fill)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jnp.{name}`` of two arrays. Waits for the GPU."
    FUNCTIONS[name] = call


for _name in ("union1d", "setdiff1d", "setxor1d"):
    _set_function(_name)


@public()
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False, *,
    size: int | None = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """Return the sorted elements that two arrays share. Waits for the GPU."""
    refuse("intersect1d", size=size, fill_value=fill_value)
    one, other = [unwrapped(x) for x in arrays("intersect1d", ar1, ar2)]
    return as_jax(wrappers.own("intersect1d")(one, other, assume_unique, return_indices))


@public()
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    method: str = "auto",
) -> Any:  # fmt: skip
    """Return whether each element is in another array."""
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise InvalidArgument("isin", "method", method, "one of JAX's methods")
    own, among = [unwrapped(x) for x in arrays("isin", element, test_elements)]
    return as_jax(wrappers.own("isin")(own, among, invert=invert))


@public()
def bincount(x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """Return the number of occurrences of each integer."""
    given = array("bincount", x)
    if given.ndim != 1:
        raise InvalidArgument("bincount", "x", given, "have one axis")
    own = None if weights is None else array("bincount", weights)
    if length is None:
        found = wrappers.own("bincount")(
            unwrapped(given), None if own is None else unwrapped(own), minlength
        )
        return as_jax(found) if own is None else as_jax(found).astype(own.dtype)
    zeros = creation.zeros((length,), dtype=dtypes.INT32 if own is None else own.dtype)
    at = elementwise.maximum(given, 0)
    return as_jax(zeros).at[as_jax(at)].add(1 if own is None else own)


def _in_place(name: str, at: int) -> None:
    def call(*args: Any, inplace: bool = True, **options: Any) -> Any:
        if inplace:
            expected = "False, as arrays cannot be changed"
            raise ValueError(f"jnp.{name}: inplace must be {expected}. Use the result.")
        if options.get("mode") == "raise":
            raise InvalidArgument(name, "mode", "raise", "'clip' or 'wrap'")
        given: list[Any] = [
            x if isinstance(x, str | type(None)) else unwrapped(array(name, x)) for x in args
        ]
        own = given[0].copy()
        wrappers.own(name)(own, *given[1:], **options)
        return as_jax(own)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return a copy changed as by ``numpy.{name}``. ``inplace`` must be False."
    FUNCTIONS[name] = call


for _name in ("put", "place", "put_along_axis"):
    _in_place(_name, 0)


def within(op: str, name: str, x: Any, limit: int) -> None:
    """Raise InvalidArgument for an index outside of [0, limit). Waits for the GPU."""
    if type(x) is JaxArray and x.size:
        least, most = manipulation.stack([x.min(), x.max()]).tolist()
        if least < 0 or most >= limit:
            raise InvalidArgument(op, name, least if least < 0 else most, f"from 0 to {limit - 1}")


@public()
def unravel_index(indices: Any, shape: Any) -> Any:
    """Return the coordinates of flat indices. Indices out of bounds are clamped."""
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    given, size = array("unravel_index", indices), product(extents)
    at = elementwise.clip(given, -size, size - 1)
    own = elementwise.where(elementwise.less(at, 0), at + size, at)
    return as_jax(wrappers.own("unravel_index")(unwrapped(as_jax(own)), extents))


@public()
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """Return the flat indices of coordinates. With ``mode="raise"`` it waits for the GPU."""
    given = [array("ravel_multi_index", x) for x in multi_index]
    if mode == "raise":
        for x, extent in zip(given, dims, strict=True):
            within("ravel_multi_index", "multi_index", x, int(extent))
    own = tuple(map(unwrapped, given))
    return as_jax(wrappers.own("ravel_multi_index")(own, tuple(dims), mode, order))


@public()
def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """Return a copy with another main diagonal. ``inplace`` must be False."""
    if inplace:
        raise ValueError("jnp.fill_diagonal: inplace must be False, as arrays cannot be changed. "
                         "Use the result.")  # fmt: skip
    own = unwrapped(array("fill_diagonal", a)).copy()
    wrappers.own("fill_diagonal")(own, unwrapped(array("fill_diagonal", val)), wrap)
    return as_jax(own)


@public()
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Return elements of the first choice whose condition is true."""
    if len(condlist) != len(choicelist) or not condlist:
        raise InvalidArgument("select", "condlist", len(condlist), "as many as choices")
    *choices, rest = arrays("select", *choicelist, default)
    found = rest
    for chosen, choice in zip(reversed(condlist), reversed(choices), strict=True):
        found = FUNCTIONS["where"](chosen, choice, found)
    return found


@public()
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **options: Any) -> Any:
    """Return the results of the functions whose conditions are true."""
    given = array("piecewise", x)
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise InvalidArgument("piecewise", "funclist", len(funclist), "one for each condition")
    functions = list(funclist)
    has_default = len(functions) > len(conditions)
    default: Any = functions.pop() if has_default else 0
    found = as_jax(creation.zeros_like(given))
    pairs = [(None, default), *zip(conditions, functions, strict=True)]
    for chosen, function in pairs:
        value = function(given, *args, **options) if callable(function) else function
        value = array("piecewise", value).astype(given.dtype)
        found = value + as_jax(creation.zeros_like(given)) if chosen is None else FUNCTIONS[
            "where"](chosen, value, found)  # fmt: skip
    return found


@public()
def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Return the indices of the elements at and below a diagonal."""
    return tuple(array("tril_indices", x) for x in np.tril_indices(n, k, m))


@public()
def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Return the indices of the elements at and above a diagonal."""
    return tuple(array("triu_indices", x) for x in np.triu_indices(n, k, m))


def _check_matrix(op: str, arr: Any) -> None:
    if arr.ndim != 2:
        raise InvalidArgument(op, "arr", arr, "have 2 axes")


@public()
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """Return the indices of the lower triangle of a matrix."""
    _check_matrix("tril_indices_from", arr)
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


@public()
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """Return the indices of the upper triangle of a matrix."""
    _check_matrix("triu_indices_from", arr)
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


@public()
def diag_indices(n: int, ndim: int = 2) -> Any:
    """Return the indices of a main diagonal."""
    return tuple(array("diag_indices", x) for x in np.diag_indices(n, ndim))


@public()
def diag_indices_from(arr: Any) -> Any:
    """Return the indices of the main diagonal of an array."""
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        raise InvalidArgument("diag_indices_from", "arr", arr, "have several axes of one length")
    return diag_indices(arr.shape[0], arr.ndim)


@public()
def mask_indices(n: int, mask_func: Any, k: int = 0, *, size: int | None = None) -> Any:
    """Return the indices that a function keeps of a square matrix."""
    return nonzero(mask_func(FUNCTIONS["ones"]((n, n)), k), size=size)


@public("ix_")
def ix_(*args: Any) -> Any:
    """Return index arrays of a grid."""
    made = []
    for n, x in enumerate(args):
        own = array("ix_", x)
        if own.ndim != 1:
            raise InvalidArgument("ix_", "args", own, "have one axis")
        own = nonzero(own)[0] if own.dtype.kind == "b" else own
        made.append(own.reshape([-1 if at == n else 1 for at in range(len(args))]))
    return tuple(made)
