"""NumPy's functions as functions of the package: ``browsergpu.cumsum`` for ``np.cumsum``."""

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
from browsergpu.core.turns import exclusive

#: Those that call functions of the user's, and let other threads work meanwhile.
CALLING = frozenset(("apply_along_axis", "apply_over_axes", "fromfunction", "pad", "piecewise"))


#: Parameters that are no arrays, or that a function looks at itself, by the functions' names.
PLAIN: dict[str, frozenset[str]] = {
    name: frozenset(given)
    for name, given in {
        "array": ("a",), "asanyarray": ("a",), "asarray": ("a",), "ascontiguousarray": ("a",),
        "apply_along_axis": ("args",), "block": ("arrays",), "choose": ("choices",),
        "copyto": ("where",), "delete": ("obj",), "einsum": ("operands",),
        "fill_diagonal": ("a", "val"), "gradient": ("varargs",), "histogramdd": ("sample",),
        "insert": ("obj",), "nanpercentile": ("q",), "nanquantile": ("q",), "percentile": ("q",),
        "piecewise": ("args", "condlist"), "quantile": ("q",),
        "ravel_multi_index": ("multi_index",), "unravel_index": ("indices",),
        "place": ("arr", "mask", "vals"), "put": ("a", "indices", "v"),
        "put_along_axis": ("arr", "indices", "values"), "putmask": ("a", "mask", "values"),
    }.items()
}  # fmt: skip


def door(name: str, own: Callable[..., Any], theirs: Any) -> Callable[..., Any]:
    """Return the public function of a name.

    Parameters
    ----------
    name : str
        NumPy's name of it, as "linalg.norm".
    own : callable
        It for arrays on the GPU, with NumPy's parameters.
    theirs : callable
        NumPy's function, for operands of dtypes that the GPU does not have.

    Returns
    -------
    callable
        Takes lists, numbers and NumPy's arrays where NumPy takes them.
    """
    coerced = Coercion(own, PLAIN.get(name, frozenset()))
    run = own if name in CALLING else exclusive(own)

    places, shown = _places(own, theirs)
    special = coerced.names.union(places)
    of_axes = reductions.OF_AXES.get(theirs)

    def function(*args: Any, **options: Any) -> Any:
        # The usual arguments need no further look: this is called for each operation.
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

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = own.__module__  # where the annotations are known
    function.__doc__ = own.__doc__ or docstring(name, theirs)
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function


_OF_AXES = frozenset(("axis", "keepdims"))


def _are_axes(x: Any, options: dict[str, Any]) -> bool:
    """Return whether x is an array and the options are those of :data:`reductions.OF_AXES`."""
    return (
        isinstance(x, Array)
        and _OF_AXES.issuperset(options)
        and type(options.get("keepdims", False)) is bool
    )


def _places(own: Callable[..., Any], theirs: Any) -> tuple[list[str], Signature]:
    """NumPy's names of the arguments that a function takes by their places alone, or by other
    names; and the signature with both."""
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


def host_door(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that NumPy computes on the host, as ``set_fallback`` has it."""

    def function(*args: Any, **options: Any) -> Any:
        return on_host(f"np.{name}", theirs, args, options)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    note = "NumPy computes it on the host (see ``set_fallback``)."
    function.__doc__ = docstring(name, theirs, note)
    with suppress(ValueError):  # a function in C may have none
        function.__signature__ = signature(theirs)  # type: ignore[attr-defined]
    function.of_numpy = theirs  # type: ignore[attr-defined]
    return function
