"""The names of ``jax.numpy`` that are functions of browsergpu's NumPy names, and constants."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from browsergpu.engine.core import shapes
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JAX, JaxArray, as_jax, unwrapped
from browsergpu.jax.arrays.operands import array, arrays, inexact, operand, result_type_of
from browsergpu.jax.numpy import (
    creation,  # noqa: F401 - enters its functions
    elementwise,  # noqa: F401
    indexing,
    manipulation,  # noqa: F401
    products,  # noqa: F401
    reductions,  # noqa: F401
    wrappers,
)
from browsergpu.jax.numpy.wrappers import FUNCTIONS, public
from browsergpu.jax.transforms import vmap

#: Names of which the function of browsergpu has JAX's meaning.
_GENERAL = (
    "allclose", "apply_over_axes", "argpartition", "array_equal", "array_equiv", "array_split",
    "average", "bartlett", "blackman", "block", "corrcoef", "cov", "delete",
    "diag", "diagflat", "digitize", "dsplit", "ediff1d", "fliplr", "flipud", "gradient", "hamming",
    "hanning", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "hsplit", "insert",
    "interp", "isclose", "kaiser", "kron", "lexsort", "median", "nanargmax", "nanargmin", "nanmax",
    "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanquantile", "nanstd", "nanvar",
    "packbits", "pad", "partition", "percentile", "poly", "polyadd", "polyder",
    "polyfit", "polyint", "polysub", "polyval", "quantile", "resize", "rollaxis", "rot90",
    "sort_complex", "split", "trapezoid", "trim_zeros",
    "unpackbits", "unwrap", "vander", "vsplit", "append",
    "unique_all", "unique_counts", "unique_inverse", "unique_values",
)  # fmt: skip
#: Functions whose results JAX returns as arrays, and which are bools here.
_BOOLS = ("allclose", "array_equal", "array_equiv")
_FLOATS_FIRST = frozenset((
    "average", "corrcoef", "cov", "gradient", "interp", "median", "nanmean", "nanmedian",
    "nanpercentile", "nanquantile", "nanstd", "nanvar", "percentile", "quantile",
    "trapezoid", "unwrap", "polyfit", "bartlett", "blackman", "hamming", "hanning", "kaiser",
))  # fmt: skip


def _enter() -> None:
    wrappers.enter(_GENERAL)
    for name in _BOOLS:
        FUNCTIONS[name] = _as_array(FUNCTIONS[name])
    for name in _FLOATS_FIRST:
        FUNCTIONS[name] = _of_floats(FUNCTIONS[name])


def _as_array(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(a: Any, b: Any, *args: Any, **options: Any) -> Any:
        own = [array(function.__name__, x) for x in (a, b)]
        return array(function.__name__, function(*own, *args, **options))

    return call


def _of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that first casts small integers to float32, where NumPy takes float16."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return function(*map(_wide, args), **{name: _wide(x) for name, x in options.items()})

    return call


def _wide(x: Any) -> Any:
    is_small = type(x) in JAX and x.dtype.kind in "biu" and x.dtype.itemsize < 4
    return x.astype("int32") if is_small else x


def _of_inexact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that first casts integers to float32."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        own = [inexact(function.__name__, x) if type(x) in JAX else x for x in args]
        return function(*own, **options)

    return call


def _histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> Any:
    """Return the counts of bins, as floats, and their edges."""
    found = _own_histogram(a, bins, range, density, weights)
    return (found[0].astype("float32") if weights is None else found[0]), found[1]


_enter()
for _name in ("polyder", "polyint"):
    FUNCTIONS[_name] = _of_inexact(FUNCTIONS[_name])
for _name in ("median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"):
    FUNCTIONS[_name] = _of_inexact(FUNCTIONS[_name])
_own_histogram = FUNCTIONS["histogram"]
FUNCTIONS["histogram"] = _histogram


def _counted(name: str, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a histogram, whose counts are int32 without weights and densities."""
    found = _OWN_HISTOGRAMS[name](*given, **options)
    is_plain = options["weights"] is None and not options["density"]
    return (found[0].astype("int32"), *found[1:]) if is_plain else found


_OWN_HISTOGRAMS = {name: FUNCTIONS[name] for name in ("histogram2d", "histogramdd")}


@public()
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: Any = None
) -> Any:
    """Count the points of two coordinates in the bins of a grid."""
    options = {"range": range, "weights": weights, "density": density}
    return _counted("histogram2d", (x, y, bins), options)


@public()
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: Any = None
) -> Any:
    """Count points in the bins of a grid."""
    options = {"range": range, "weights": weights, "density": density}
    return _counted("histogramdd", (sample, bins), options)


_own_interp = FUNCTIONS["interp"]


@public()
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Interpolate linearly between points with increasing ``xp``."""
    for name, given in (("left", left), ("right", right)):
        if isinstance(given, str):
            raise InvalidArgument("interp", name, given, "a number or None")
    return _own_interp(x, xp, fp, left, right, period)


class _Grid:
    """``jnp.mgrid`` and the like: arrays by the key in brackets."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, key: Any) -> Any:
        own = tuple(map(unwrapped, key)) if isinstance(key, tuple) else unwrapped(key)
        found = as_jax(getattr(wrappers.own(self._name), "__getitem__")(own))  # noqa: B009
        return list(found) if isinstance(found, tuple) else found

    def __repr__(self) -> str:
        return f"jnp.{self._name}"


def _edited(name: str) -> Callable[..., Any]:
    """Return ``delete`` or ``insert``, whose positions may be a slice."""
    function = FUNCTIONS[name]

    @wraps(function)
    def call(arr: Any, obj: Any, *args: Any, axis: int | None = None, **options: Any) -> Any:
        x = array(name, arr)
        if args and (name == "delete" or len(args) > 1):
            *args, axis = args  # type: ignore[assignment]
        if isinstance(obj, slice):
            extent = x.size if axis is None else x.shape[axis]
            obj = np.arange(*obj.indices(extent))
        options.pop("assume_unique_indices", None)  # a hint
        return function(x, obj, *args, axis=axis, **options)

    return call


FUNCTIONS["delete"], FUNCTIONS["insert"] = _edited("delete"), _edited("insert")


@public()
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Return the cross products of vectors of 2 or 3 elements."""
    one, other = [unwrapped(x) for x in arrays("cross", a, b)]
    return as_jax(wrappers.own("cross")(one, other, axisa, axisb, axisc, axis))


@public()
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Return the product of two polynomials, whose coefficients begin with the highest power."""
    given = [FUNCTIONS["atleast_1d"](x) for x in arrays("polymul", a1, a2, floats=True)]
    if trim_leading_zeros:
        given = [FUNCTIONS["trim_zeros"](x, "f") for x in given]
    one, other = [x if x.size else FUNCTIONS["zeros"](1, x.dtype) for x in given]
    return FUNCTIONS["convolve"](one, other)


@public()
def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Any, Any]:
    """Return the quotient and the remainder of two polynomials."""
    rest, divisor = [FUNCTIONS["atleast_1d"](x) for x in arrays("polydiv", u, v, floats=True)]
    count, width = max(rest.size - divisor.size + 1, 1), divisor.size
    parts = []
    for n in range(rest.size - width + 1):
        factor = rest[n] / divisor[0]
        parts.append(factor)
        rest = rest.at[n : n + width].add(-factor * divisor)
    quotient = FUNCTIONS["stack"](parts) if parts else FUNCTIONS["zeros"](count, rest.dtype)
    return quotient, FUNCTIONS["trim_zeros"](rest, "f") if trim_leading_zeros else rest


@public()
def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """Return the roots of a polynomial as complex numbers. NumPy computes it on the host."""
    if strip_zeros is not True:
        raise InvalidArgument("roots", "strip_zeros", strip_zeros, "True")
    return as_jax(wrappers.own("roots")(unwrapped(inexact("roots", p)))).astype("complex64")


for _name in ("mgrid", "ogrid", "r_", "c_"):
    FUNCTIONS[_name] = _Grid(_name)

#: Names of NumPy that mean the same.
SAME: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "character", "complexfloating", "dtype", "finfo", "flexible", "floating", "generic",
        "iinfo", "inexact", "integer", "number", "object_", "promote_types", "signedinteger",
        "unsignedinteger", "set_printoptions", "get_printoptions", "printoptions", "newaxis",
        "index_exp", "s_", "broadcast_shapes", "iterable",
    )
}  # fmt: skip
CONSTANTS: dict[str, Any] = {
    "e": math.e, "pi": math.pi, "inf": math.inf, "nan": math.nan, "euler_gamma": np.euler_gamma,
    "ndarray": JaxArray,
}  # fmt: skip


@public()
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Return the elements of the choices that an array of indices numbers."""
    wrappers.refuse("choose", out=out)
    given = choices if isinstance(choices, list | tuple) else list(choices)
    own = [unwrapped(x) for x in arrays("choose", *given)]
    at = array("choose", a)
    if mode == "raise":
        indexing.within("choose", "a", at, len(own))
    return as_jax(wrappers.own("choose")(unwrapped(at), own, mode=mode))


@public()
def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Return whether a dtype is of a kind, such as ``jnp.floating``."""
    return bool(np.issubdtype(_numpys(arg1), _numpys(arg2)))


def _numpys(x: Any) -> Any:
    return x.dtype.type if hasattr(x, "dtype") and isinstance(x.dtype, np.dtype) else x


@public()
def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype is of a kind of the Array API standard."""
    own = kind if isinstance(kind, tuple) else (kind,)
    names = tuple([one if isinstance(one, str) else np.dtype(one) for one in own])
    return bool(wrappers.own("isdtype")(np.dtype(dtype), names))


@public()
def result_type(*args: Any) -> Any:
    """Return the dtype of an operation on arrays, numbers and dtypes."""
    if not args:
        raise InvalidArgument("result_type", "args", args, "have at least one item")
    found = None
    numbers = []
    for x in args:
        if type(x) in (bool, int, float, complex):
            numbers.append(x)
            continue
        is_data = hasattr(x, "shape") and not isinstance(x, type)
        own = operand("result_type", x).dtype if is_data else dtypes.narrowed(np.dtype(x))
        found = own if found is None else dtypes.promoted(found, own)
    if found is None:
        return result_type_of(numbers)
    for x in numbers:
        found = dtypes.beside_number(found, type(x))
    return found


@public()
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return whether a dtype can be cast to another."""
    own = from_.dtype if hasattr(from_, "dtype") else from_
    return bool(np.can_cast(np.dtype(own), np.dtype(to), casting))  # type: ignore[arg-type]


@public("promote_types")
def promote_types(a: Any, b: Any) -> Any:
    """Return the dtype to which two dtypes are promoted."""
    return dtypes.promoted(dtypes.narrowed(np.dtype(a)), dtypes.narrowed(np.dtype(b)))


@public()
def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None,
               suppress_small: Any = None) -> str:  # fmt: skip
    """Return the text of an array, as :func:`repr`."""
    with np.printoptions(precision=precision or 8, suppress=bool(suppress_small),
                         linewidth=max_line_width or 75):  # fmt: skip
        return repr(array("array_repr", arr))


@public()
def array_str(a: Any, max_line_width: Any = None, precision: Any = None,
              suppress_small: Any = None) -> str:  # fmt: skip
    """Return the elements of an array as text."""
    return np.array_str(np.asarray(a), max_line_width, precision, suppress_small)


@public()
def save(file: Any, arr: Any, allow_pickle: bool = False) -> None:
    """Save an array in NumPy's format."""
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


@public()
def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Save arrays in NumPy's format."""
    named: Any = {name: np.asarray(x) for name, x in kwds.items()}
    np.savez(file, *map(np.asarray, args), **named)


@public()
def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Load arrays of NumPy's format. Pickled objects are refused unless ``allow_pickle`` is set."""
    found = np.load(file, *args, **kwargs)
    return array("load", found) if isinstance(found, np.ndarray) else found


@public()
def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Any = (), signature: str | None = None
) -> Callable[..., Any]:
    """Return a function of arrays with any leading axes, by :func:`vmap` over these axes.

    Parameters
    ----------
    pyfunc : callable
        A function of numbers, or of arrays of the ranks in ``signature``.
    excluded : collection of int
        The positions of arguments that are passed as they are.
    signature : str, optional
        The axes of the arguments and results of ``pyfunc``, such as "(n),(n)->()".

    Returns
    -------
    callable
        The function of arrays.
    """
    ranks = None if signature is None else _ranks(signature)

    @wraps(pyfunc)
    def call(*args: Any, **options: Any) -> Any:
        fixed = {n: x for n, x in enumerate(args) if n in excluded}
        given = [array("vectorize", x) for n, x in enumerate(args) if n not in excluded]
        own = [0] * len(given) if ranks is None else ranks
        if len(own) != len(given):
            raise InvalidArgument("vectorize", "args", len(given), f"{len(own)} arguments")
        leads = [x.shape[: x.ndim - rank] for x, rank in zip(given, own, strict=True)]
        batch = np.broadcast_shapes(*leads)
        spread = [
            FUNCTIONS["broadcast_to"](x, (*batch, *x.shape[x.ndim - rank :]))
            for x, rank in zip(given, own, strict=True)
        ]

        def function(*rest: Any) -> Any:
            others = iter(rest)
            whole = [fixed[n] if n in fixed else next(others) for n in range(len(args))]
            return pyfunc(*whole, **options)

        for _ in batch:
            function = vmap(function)
        return function(*spread)

    return call


def _ranks(signature: str) -> list[int]:
    """Return the number of axes of each argument of a signature."""
    inputs = re.findall(r"\(([^()]*)\)", signature.partition("->")[0])
    if "->" not in signature or not inputs:
        raise InvalidArgument("vectorize", "signature", signature, "a text such as '(n),(n)->()'")
    return [len([name for name in one.split(",") if name.strip()]) for one in inputs]


@public()
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the vectors along an axis, by :func:`vmap`."""
    x = array("apply_along_axis", arr)
    at = shapes.axis("apply_along_axis", "axis", axis, x.ndim)
    moved = FUNCTIONS["moveaxis"](x, at, -1)

    def function(v: Any) -> Any:
        return func1d(v, *args, **kwargs)

    for _ in range(x.ndim - 1):
        function = vmap(function)
    found = function(moved)
    extra = found.ndim - (x.ndim - 1)
    if not extra:
        return found
    own = tuple(range(x.ndim - 1, found.ndim))
    return FUNCTIONS["moveaxis"](found, own, tuple(range(at, at + extra)))


def _methods_of_ufunc(name: str, reduce: str | None, accumulate: str | None) -> None:
    """Give a function the methods of ``jnp.ufunc`` that are available."""
    function = FUNCTIONS[name]

    def outer(A: Any, B: Any, /) -> Any:
        a, b = array(name, A), array(name, B)
        return function(a.reshape((*a.shape, *(1,) * b.ndim)), b)

    def at(a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        if inplace:
            raise NotImplementedError(f"jnp.{name}.at: inplace must be False. Use the result.")
        own = {"add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide",
               "minimum": "min", "maximum": "max", "power": "power"}.get(name)  # fmt: skip
        if own is None:
            raise InvalidArgument(f"{name}.at", "function", name, "one that x.at[] has")
        return getattr(array(name, a).at[indices], own)(b)

    def reduced(a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
                initial: Any = None, where: Any = None) -> Any:  # fmt: skip
        options: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
        return FUNCTIONS[reduce or ""](a, axis, out=out, keepdims=keepdims, initial=initial,
                                       where=where, **options)  # fmt: skip

    def accumulated(a: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        return FUNCTIONS[accumulate or ""](a, axis, dtype, out)

    function.outer, function.at = outer, at
    if reduce:
        function.reduce = reduced
    if accumulate:
        function.accumulate = accumulated


for _name, _reduce, _accumulate in (
    ("add", "sum", "cumsum"), ("multiply", "prod", "cumprod"), ("maximum", "max", None),
    ("minimum", "min", None), ("subtract", None, None), ("divide", None, None),
    ("power", None, None), ("logical_and", None, None), ("logical_or", None, None),
):  # fmt: skip
    _methods_of_ufunc(_name, _reduce, _accumulate)
