"""NumPy's public names as attributes of this package."""

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
from browsergpu.compat.numpy.fallback import to_gpu, to_host
from browsergpu.compat.numpy.linalg import series
from browsergpu.compat.numpy.manipulation import picking
from browsergpu.compat.numpy.ufunc_objects import Ufunc
from browsergpu.compat.numpy.wrappers import host_function, public_function
from browsergpu.engine.core.errors import UnknownName
from browsergpu.functions import fourier, manipulation

#: Names that are NumPy's own objects, such as scalar types, error states and print options.
_NUMPYS_OWN = frozenset((
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
#: Functions whose results NumPy creates, such as from files or text. The results are uploaded.
LOADERS = frozenset((
    "diag_indices", "frombuffer", "fromfile", "fromiter", "fromregex", "fromstring", "genfromtxt",
    "loadtxt", "mask_indices", "tril_indices", "triu_indices",
))  # fmt: skip
#: Functions that read arrays from the GPU to print or save them.
READERS = frozenset(("array2string", "array_repr", "array_str", "savetxt"))
#: Unavailable names, with advice.
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
#: Names of NumPy 1 that are still common, with their new names.
_NUMPY_1: dict[str, str] = {
    "row_stack": "vstack", "trapz": "trapezoid", "product": "prod", "cumproduct": "cumprod",
    "alltrue": "all", "sometrue": "any", "float_": "float64", "Inf": "inf", "NaN": "nan",
    "infty": "inf", "NINF": "-inf", "PINF": "inf", "msort": "sort",
}  # fmt: skip


#: Names of Python builtins that ``from browsergpu import *`` does not replace.
LEFT_TO_PYTHON = frozenset(("abs", "bool", "divmod", "max", "min", "pow", "round"))


@cache
def main_attribute(name: str) -> Any:
    """Return the attribute of ``browsergpu`` for a public name of ``numpy``.

    Raises AttributeError for an unknown name, with a suggestion.
    """
    if name in index_tricks.OBJECTS:
        return index_tricks.OBJECTS[name]
    if name in _CREATORS:
        return _creator(name)
    if name in _REFUSED and hasattr(np, name):
        raise UnknownName(f"browsergpu.{name}", f"it is not available. {_REFUSED[name]}")
    if name in _NUMPY_1:
        return -np.inf if name == "NINF" else main_attribute(_NUMPY_1[name])
    if name == "broadcast_shapes":
        return manipulation.broadcast_shapes
    if name == "ndarray":
        return Array
    if name == "in1d":
        return public_function(name, picking.in1d, np.isin)
    if name == "round_":
        return public_function(name, picking.round_, np.round)
    theirs = getattr(np, name, None) if name in _numpys_names() else None
    if theirs is None:
        # With an object but no name, Python does not add its own suggestion to the traceback.
        raise AttributeError(_unknown(name), obj=np)
    if name in READERS:
        return _reader(theirs)
    if isinstance(theirs, np.ufunc):
        return Ufunc(theirs, protocols.own_ufunc(theirs), protocols.ufunc)
    is_plain = isinstance(theirs, ModuleType | type) or not callable(theirs)
    if name in _NUMPYS_OWN or is_plain:
        return theirs
    if name in LOADERS:
        return _loader(name, theirs)
    return _function(name, theirs)


def module_attribute(module: str, name: str) -> Any:
    """Return the attribute for a public name of ``numpy.linalg`` or ``numpy.fft``."""
    theirs = getattr(getattr(np, module), name, None)
    if theirs is None or name not in getattr(np, module).__all__:
        raise AttributeError(f"module 'browsergpu.{module}' has no attribute {name!r}")
    if isinstance(theirs, type):
        return theirs
    if module == "fft" and name in ("fftfreq", "rfftfreq"):
        return _frequency_function(name)
    return _function(f"{module}.{name}", theirs)


def _frequency_function(name: str) -> Callable[..., Any]:
    own = getattr(fourier, name)

    def function(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
        return own(n, d=d, dtype=dtype, device=device)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = own.__doc__
    return function


def names(others: Iterable[str] = ()) -> list[str]:
    """Return NumPy's names for ``from browsergpu import *``, except ``others``."""
    # getattr() would import submodules: f2py and testing take 90 ms together.
    left = {*others, *LEFT_TO_PYTHON, *_REFUSED, *_NUMPY_1, *np.__numpy_submodules__}
    return [
        name for name in sorted(np.__all__)
        if name not in left and not isinstance(getattr(np, name), ModuleType)
    ]  # fmt: skip


_CREATORS: dict[str, Callable[..., Any]] = {**creation.CREATORS, **series.CREATORS}


def _creator(name: str) -> Callable[..., Any]:
    own = _CREATORS[name]
    own.__name__ = own.__qualname__ = name
    return own


def _function(name: str, theirs: Any) -> Any:
    own = protocols.FUNCTIONS.get(theirs)
    if own is None:
        return host_function(name, theirs)
    return protocols.public(theirs)


def _loader(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        return to_gpu(theirs(*args, **options))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = docstring(name, theirs, "The result is uploaded to the GPU.")
    function.of_numpy = theirs  # type: ignore[attr-defined]
    return function


def _reader(theirs: Callable[..., Any]) -> Callable[..., Any]:
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
