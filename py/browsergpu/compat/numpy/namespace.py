"""What each public name of NumPy is in this package."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy import creation, index_tricks, protocols
from browsergpu.compat.numpy.docstrings import docstring
from browsergpu.compat.numpy.fallback import brought, to_host
from browsergpu.compat.numpy.linalg import series
from browsergpu.compat.numpy.manipulation import picking
from browsergpu.compat.numpy.ufunc_objects import Ufunc
from browsergpu.compat.numpy.wrappers import door, host_door
from browsergpu.core.errors import UnknownName
from browsergpu.functions import fourier, manipulation

#: Functions and classes that compute nothing of arrays, or that read them to show them.
_OWN = frozenset((
    "False_", "ScalarType", "True_", "array2string", "array_repr", "array_str", "base_repr",
    "binary_repr", "byte", "cdouble", "character", "clongdouble", "common_type", "complexfloating",
    "csingle", "datetime64", "datetime_data", "double", "dtype", "errstate", "euler_gamma",
    "flexible", "floating", "format_float_positional", "format_float_scientific", "generic",
    "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "half", "index_exp",
    "inexact", "info", "int_", "intc", "integer", "intp", "is_busday", "isscalar", "issubdtype",
    "isfortran", "iterable", "little_endian", "long", "longdouble", "longlong", "min_scalar_type",
    "mintypecode",
    "ndindex", "number", "object_", "poly1d", "printoptions", "promote_types", "s_", "sctypeDict",
    "set_printoptions", "setbufsize", "seterr", "seterrcall", "short", "show_config",
    "show_runtime", "signedinteger", "single", "str_", "timedelta64", "typecodes", "typename",
    "ubyte", "ufunc", "uint", "uintc", "uintp", "ulong", "ulonglong", "unsignedinteger", "ushort",
    "void", "bytes_", "bool_", "busdaycalendar", "busday_count", "busday_offset",
    "datetime_as_string", "isnat", "einsum_path", "exceptions", "dtypes", "typing", "version",
    "complex256", "memmap", "recarray", "record", "clongdouble", "float128",
    "longdouble", "char", "strings",
))  # fmt: skip
#: Functions that read files, text or buffers: what they give is uploaded.
LOADING = frozenset((
    "diag_indices", "frombuffer", "fromfile", "fromiter", "fromregex", "fromstring", "genfromtxt",
    "loadtxt", "mask_indices", "tril_indices", "triu_indices",
))  # fmt: skip
#: Functions that show, save or compare arrays by reading them.
READING = frozenset(("array2string", "array_repr", "array_str", "savetxt"))
#: What there is not, and what to use.
_REFUSED = {
    "asmatrix": "Use two-dimensional arrays and the operator @.",
    "bmat": "Use block().",
    "matrix": "Use two-dimensional arrays and the operator @.",
    "chararray": "Use NumPy's own arrays for text.",
    "ma": "Use where() or NaN and the nan-functions, or numpy.ma on the host.",
    "require": "Arrays on the GPU are packed row by row; use asarray().",
    "shares_memory": "Use may_share_memory().",
    "nested_iters": "Iterate over x.numpy().",
    "flatiter": "Use x.flat.",
    "test": "The package's tests are in its repository.",
}
#: Names of NumPy 1 that much code still has.
_FORMER: dict[str, str] = {
    "row_stack": "vstack", "trapz": "trapezoid", "product": "prod", "cumproduct": "cumprod",
    "alltrue": "all", "sometrue": "any", "float_": "float64", "Inf": "inf", "NaN": "nan",
    "infty": "inf", "NINF": "-inf", "PINF": "inf", "msort": "sort",
}  # fmt: skip


#: Names of Python's functions and classes that ``from browsergpu import *`` leaves alone.
LEFT_TO_PYTHON = frozenset(("abs", "bool", "divmod", "max", "min", "pow", "round"))


@cache
def of_main(name: str) -> Any:
    """Return what a public name of NumPy's main namespace is here.

    Raises AttributeError for one that there is not, with a suggestion.
    """
    if name in index_tricks.OBJECTS:
        return index_tricks.OBJECTS[name]
    if name in _MAKING:
        return _public_maker(name)
    if name in _REFUSED and hasattr(np, name):
        raise UnknownName(f"browsergpu.{name}", f"it is not available. {_REFUSED[name]}")
    if name in _FORMER:
        return -np.inf if name == "NINF" else of_main(_FORMER[name])
    if name == "broadcast_shapes":
        return manipulation.broadcast_shapes
    if name == "ndarray":
        return Array
    if name == "in1d":
        return door(name, picking.in1d, np.isin)
    if name == "round_":
        return door(name, picking.round_, np.round)
    theirs = getattr(np, name, None) if name in _numpys_names() else None
    if theirs is None:
        # With an object but no name, Python adds no suggestion of its own to the traceback.
        raise AttributeError(_unknown(name), obj=np)
    if name in READING:
        return _reading(theirs)
    if isinstance(theirs, np.ufunc):
        return Ufunc(theirs, protocols.own_ufunc(theirs), protocols.ufunc)
    is_plain = isinstance(theirs, ModuleType | type) or not callable(theirs)
    if name in _OWN or is_plain:
        return theirs
    if name in LOADING:
        return _loading(name, theirs)
    return _of_function(name, theirs)


def of_module(module: str, name: str) -> Any:
    """Return what a public name of ``numpy.linalg`` or ``numpy.fft`` is here."""
    theirs = getattr(getattr(np, module), name, None)
    if theirs is None or name not in getattr(np, module).__all__:
        raise AttributeError(f"module 'browsergpu.{module}' has no attribute {name!r}")
    if isinstance(theirs, type):
        return theirs
    if module == "fft" and name in ("fftfreq", "rfftfreq"):
        return _frequencies(name)
    return _of_function(f"{module}.{name}", theirs)


def _frequencies(name: str) -> Callable[..., Any]:
    own = getattr(fourier, name)

    def function(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
        return own(n, d=d, dtype=dtype, device=device)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = own.__doc__
    return function


def names(others: Iterable[str] = ()) -> list[str]:
    """Return NumPy's names that ``from browsergpu import *`` brings, without some others."""
    # To ask numpy for a submodule loads it: f2py and testing, 90 ms together.
    left = {*others, *LEFT_TO_PYTHON, *_REFUSED, *_FORMER, *np.__numpy_submodules__}
    return [
        name for name in sorted(np.__all__)
        if name not in left and not isinstance(getattr(np, name), ModuleType)
    ]  # fmt: skip


_MAKING: dict[str, Callable[..., Any]] = {**creation.MAKING, **series.MAKING}


def _public_maker(name: str) -> Callable[..., Any]:
    own = _MAKING[name]
    own.__name__ = own.__qualname__ = name
    return own


def _of_function(name: str, theirs: Any) -> Any:
    own = protocols.FUNCTIONS.get(theirs)
    if own is None:
        return host_door(name, theirs)
    return protocols.public(theirs)


def _loading(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        return brought(theirs(*args, **options))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = docstring(name, theirs, "The result is uploaded to the GPU.")
    function.of_numpy = theirs  # type: ignore[attr-defined]
    return function


def _reading(theirs: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        return theirs(*(to_host(x) for x in args), **options)

    function.__name__ = function.__qualname__ = theirs.__name__
    function.__doc__ = docstring(theirs.__name__, theirs, "Waits for the GPU.")
    function.of_numpy = theirs  # type: ignore[attr-defined]
    return function


@cache
def _numpys_names() -> frozenset[str]:
    return frozenset(name for name in dir(np) if not name.startswith("_"))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(
        name, [*_numpys_names(), *index_tricks.OBJECTS], n=1, cutoff=0.75
    )
    advice = f" Did you mean {near[0]!r}?" if near else ""
    return f"module 'browsergpu' has no attribute {name!r}.{advice}"
