"""Public functions with NumPy's names and parameters, such as ``browsergpu.cumsum``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from inspect import Parameter, Signature, signature
from itertools import zip_longest
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.coercion import Coercion, OnHostOnly
from browsergpu.compat.numpy.docstrings import docstring
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.compat.numpy.statistics import reductions
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import NeedsExamples
from browsergpu.engine.core.turns import exclusive

#: Functions that call functions of the user. They do not hold the lock during these calls.
CALLS_USER_FUNCTIONS = frozenset(
    ("apply_along_axis", "apply_over_axes", "fromfunction", "pad", "piecewise")
)


#: By function, the parameters with names of arrays that are not coerced to arrays.
NOT_COERCED: dict[str, frozenset[str]] = {
    name: frozenset(given)
    for name, given in {
        "array": ("a",), "asanyarray": ("a",), "asarray": ("a",), "ascontiguousarray": ("a",),
        "apply_along_axis": ("args",), "block": ("arrays",), "choose": ("choices",),
        "copyto": ("where",), "delete": ("obj",), "einsum": ("operands",),
        "fill_diagonal": ("a", "val"), "gradient": ("varargs",), "histogramdd": ("sample",),
        "insert": ("obj",), "nanpercentile": ("q",), "nanquantile": ("q",), "percentile": ("q",),
        "piecewise": ("args", "condlist"), "quantile": ("q",),
        "ravel_multi_index": ("multi_index",), "take": ("indices",),
        "unravel_index": ("indices",),
        "place": ("arr", "mask", "vals"), "put": ("a", "indices", "v"),
        "put_along_axis": ("arr", "indices", "values"), "putmask": ("a", "mask", "values"),
    }.items()
}  # fmt: skip


#: Functions whose numbers become arrays, of the dtype that they have beside the other operands.
OF_ARRAYS_ALONE = frozenset((
    "array_equiv", "convolve", "correlate", "extract", "insert", "interp", "intersect1d", "kron",
    "outer", "setdiff1d", "setxor1d", "union1d",
))  # fmt: skip


def public_function(name: str, own: Callable[..., Any], theirs: Any) -> Callable[..., Any]:
    """Return the public function for a name of NumPy.

    Parameters
    ----------
    name : str
        NumPy's name, such as "linalg.norm".
    own : callable
        The GPU implementation, with NumPy's parameters.
    theirs : callable
        NumPy's function, for operands of dtypes without GPU support.

    Returns
    -------
    callable
        Accepts lists, numbers and NumPy arrays where NumPy accepts them.
    """
    coerced = Coercion(own, NOT_COERCED.get(name, frozenset()), name in OF_ARRAYS_ALONE)
    run = own if name in CALLS_USER_FUNCTIONS else exclusive(own)

    places, shown = _positional_names(own, theirs)
    special = coerced.names.union(places)
    of_axes = reductions.OF_AXES.get(theirs)

    def function(*args: Any, **options: Any) -> Any:
        try:
            # Fast paths for the usual arguments, because each operation calls this.
            if of_axes is not None and len(args) == 1 and _are_axes(args[0], options):
                return of_axes(*args, **options)
            if (not options or special.isdisjoint(options)) and coerced.are_ready(args):
                return run(*args, **options)
            while options and len(args) < len(places) and places[len(args)] in options:
                args = (*args, options.pop(places[len(args)]))
            try:
                args, options = coerced(args, options)
            except OnHostOnly:
                return on_host(f"np.{name}", theirs, args, options)
            return run(*args, **options)
        except NeedsExamples as error:
            if not ABOVE.batching.has_frame((*args, *options.values()), error.frame):
                raise
            return ABOVE.batching.by_example(function, error.frame, args, options)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = own.__module__  # resolves the annotations
    function.__doc__ = own.__doc__ or docstring(name, theirs)
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function


_OF_AXES = frozenset(("axis", "keepdims"))


def _are_axes(x: Any, options: dict[str, Any]) -> bool:
    """Return whether :data:`reductions.OF_AXES` accepts an argument and options."""
    return (
        isinstance(x, Array)
        and _OF_AXES.issuperset(options)
        and type(options.get("keepdims", False)) is bool
    )


def _positional_names(own: Callable[..., Any], theirs: Any) -> tuple[list[str], Signature]:
    """Return NumPy's names of the positional parameters, and the signature with these names.

    The names apply to parameters that are positional-only or have another name in ``own``.
    """
    mine = signature(own)
    try:
        names = [
            one.name for one in signature(theirs).parameters.values()
            if one.kind is Parameter.POSITIONAL_OR_KEYWORD
        ]  # fmt: skip
    except (ValueError, TypeError):
        return [], mine
    found, shown = [], []
    for name, one in zip_longest(names, mine.parameters.values()):
        is_by_place = one is not None and one.kind in (
            Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD
        )  # fmt: skip
        known = mine.parameters.get(name)
        if name is None or not is_by_place or (known and known.kind is not known.POSITIONAL_ONLY):
            break
        found.append(name)
        shown.append(one.replace(name=name, kind=Parameter.POSITIONAL_OR_KEYWORD))
    rest = [*mine.parameters.values()][len(found) :]
    return found, Signature([*shown, *rest])


def host_function(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return a public function that NumPy computes on the host, subject to ``set_fallback``."""

    def function(*args: Any, **options: Any) -> Any:
        return on_host(f"np.{name}", theirs, args, options)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    note = "NumPy computes it on the host (see ``set_fallback``)."
    function.__doc__ = docstring(name, theirs, note)
    with suppress(ValueError):  # a C function may have no signature
        function.__signature__ = signature(theirs)  # type: ignore[attr-defined]
    function.of_numpy = theirs  # type: ignore[attr-defined]
    return function
