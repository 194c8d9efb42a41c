"""Coercion of array-like arguments, such as lists, numbers and NumPy arrays, to arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.numbers import PYTHON, PYTHON_TYPES
from browsergpu.engine.core.element_types import of_numpy
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation, data_types, manipulation, meta

#: Parameters of NumPy's functions that are arrays.
OPERANDS = frozenset((
    "A", "B", "F", "M", "a", "a1", "a2", "ar", "ar1", "ar2", "arr", "array", "ary", "b",
    "choices", "condition", "element", "elements", "f", "filt", "fp", "fweights", "aweights",
    "indices", "m", "multi_index", "obj", "operands", "p", "q", "sample", "test_elements", "u",
    "v", "val", "values", "vals", "w", "weights", "where", "x", "x1", "x2", "xi", "xp", "y",
    "mask", "z",
))  # fmt: skip
#: Parameters of NumPy's functions that are sequences of arrays.
SEQUENCES = frozenset(("arrays", "tup", "choicelist", "condlist", "seq", "args", "varargs", "keys"))
_NUMBERS = (*PYTHON, np.generic)


class OnHostOnly(Exception):
    """An operand has a dtype without GPU support, such as strings."""


def is_numpys_alone(dtype: Any) -> bool:
    """Return whether a dtype has no GPU support, such as strings, datetimes and records."""
    if dtype is None:
        return False
    is_of_fields = isinstance(dtype, list) and all(isinstance(x, tuple) for x in dtype)
    if not is_of_fields and not isinstance(dtype, str | type | np.dtype):
        return False
    try:
        return of_numpy(np.dtype(dtype)) is None
    except TypeError:
        return False


class Coercion(Shown):
    """Coerces the arguments of a function to arrays, by the names of its parameters.

    Parameters
    ----------
    function : callable
        A function whose parameters have NumPy's names.
    plain : collection of str
        Parameters that are not coerced.
    of_arrays_alone : bool
        Whether numbers become arrays, too.
    """

    __slots__ = ("_is_simple", "_of_arrays_alone", "_operands", "_rest", "_sequences", "names")

    def __init__(
        self, function: Callable[..., Any], plain: frozenset[str] = frozenset(),
        of_arrays_alone: bool = False,
    ) -> None:  # fmt: skip
        self._of_arrays_alone = of_arrays_alone
        known = signature(function).parameters
        #: The names of the array parameters.
        self.names = frozenset(known) & (OPERANDS | SEQUENCES) - plain
        rest = [name for name, one in known.items() if one.kind is Parameter.VAR_POSITIONAL]
        places = [name for name, one in known.items() if one.kind is not Parameter.KEYWORD_ONLY]
        self._operands = tuple(
            at for at, name in enumerate(places)
            if name in OPERANDS - plain and name not in rest
        )  # fmt: skip
        self._sequences = tuple(
            at for at, name in enumerate(places)
            if name in SEQUENCES - plain and name not in rest
        )  # fmt: skip
        is_of_arrays = bool(rest) and rest[0] in (OPERANDS | SEQUENCES) - plain
        self._rest = places.index(rest[0]) if is_of_arrays else None
        # Whether all array parameters have fixed positions, including the first.
        self._is_simple = not self._sequences and not is_of_arrays and self._operands[:1] == (0,)

    def are_ready(self, args: tuple[Any, ...]) -> bool:
        """Return whether positional arguments need no coercion.

        The first one must be an array, the others arrays or Python numbers.
        """
        if not self._is_simple or not args or not isinstance(args[0], Array):
            return False
        count = len(args)
        for at in self._operands:
            if (
                at < count
                and not isinstance(args[at], Array)
                and (self._of_arrays_alone or type(args[at]) not in PYTHON_TYPES)
            ):
                return False
        return True

    def __call__(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
        """Return the arguments with array-like values coerced to arrays.

        Raises OnHostOnly for a dtype without GPU support.
        """
        count = len(args)
        several = [at for at in self._sequences if at < count]
        ones = [at for at in self._operands if at < count]
        if self._rest is not None:
            ones += range(self._rest, count)
        named = [name for name in options if name in self.names]
        found = [args[at] for at in ones]
        found += [options[name] for name in named if name not in SEQUENCES]
        lists = [args[at] for at in several]
        lists += [options[name] for name in named if name in SEQUENCES]
        within = [x for one in lists for x in (one if isinstance(one, list | tuple) else (one,))]
        device = device_among([*found, *within])
        if device is None or not all(isinstance(x, Array) for x in found) or lists:
            is_alone = device is None
            new, by_name = list(args), dict(options)
            coerce = self._number_or_operand(found)
            for at in ones:
                new[at] = coerce(args[at], device, is_alone and at == ones[0])
            for at in several:
                new[at] = parts(args[at], device)
            for name in named:
                if name in SEQUENCES:
                    by_name[name] = parts(options[name], device)
                else:
                    by_name[name] = coerce(options[name], device, is_alone and not ones)
            return tuple(new), by_name
        return args, options

    def _number_or_operand(self, operands: Iterable[Any]) -> Callable[..., Any]:
        """Return :func:`operand`, or for functions of arrays alone one that coerces numbers too."""
        if not self._of_arrays_alone:
            return operand
        beside = next((x for x in operands if isinstance(x, Array | np.ndarray)), None)

        def coerce(value: Any, device: Any, is_alone: bool) -> Any:
            if not isinstance(value, _NUMBERS):
                return operand(value, device, is_alone)
            kind = None if beside is None else data_types.result_type(beside.dtype, value)
            return creation.asarray(value, dtype=kind, device=device)

        return coerce


def device_among(values: Iterable[Any]) -> Any:
    """Return the device of the first array, or None if there is no array."""
    return next((x.device for x in values if isinstance(x, Array)), None)


def operand(value: Any, device: Any = None, is_alone: bool = True) -> Any:
    """Coerce a list, a tuple or a NumPy array to an array. Coerce a number only if it is alone."""
    if isinstance(value, Array) or value is None or value is np._NoValue:
        return value
    if isinstance(value, _NUMBERS) and not is_alone:
        return value
    if isinstance(value, np.ndarray) and of_numpy(value.dtype) is None:
        raise OnHostOnly
    if isinstance(value, list | tuple | range):
        return from_list(list(value), device, may_be_wide=True)
    if isinstance(value, str | bytes | np.str_):
        return value
    return _asarray(value, device)


def _asarray(value: Any, device: Any) -> Array:
    if device is None:
        return creation.asarray(value)
    return meta.beside(device, value)


def from_list(value: Any, device: Any = None, may_be_wide: bool = False) -> Array:
    """Return an array of a nested list, which may contain arrays.

    Integers get the default integer dtype. With ``may_be_wide``, integers beyond int32 become int64
    with every default.
    """
    if value and all(isinstance(x, Array) for x in value):
        return manipulation.stack(value)
    if any(isinstance(x, list | tuple) and _has_arrays(x) for x in value):
        return manipulation.stack([from_list(x, device) for x in value])
    if _has_arrays(value):
        own = next(x for x in value if isinstance(x, Array))
        there = own.device
        return manipulation.stack([
            x if isinstance(x, Array) else creation.asarray(x, device=there) for x in value
        ])  # fmt: skip
    data = np.asarray(value)
    if of_numpy(data.dtype) is None and data.dtype != object:
        raise OnHostOnly
    is_wide = may_be_wide and data.dtype.kind in "iu" and data.size and not _fits(data)
    return _asarray(data if is_wide else value, device)


def _fits(data: np.ndarray) -> bool:
    """Return whether integers fit int32."""
    limits = np.iinfo(np.int32)
    return bool(data.min() >= limits.min and data.max() <= limits.max)


def _has_arrays(value: Any) -> bool:
    return any(
        isinstance(x, Array) or (isinstance(x, list | tuple) and _has_arrays(x)) for x in value
    )


def parts(value: Any, device: Any = None) -> Any:
    """Coerce the items of a sequence to arrays."""
    if isinstance(value, Array):
        return [value[i] for i in range(value.shape[0])]
    if isinstance(value, np.ndarray):
        value = list(value)
    if not isinstance(value, list | tuple):
        raise OnHostOnly
    if any(isinstance(x, str | bytes) for x in value):
        raise OnHostOnly
    return [operand(x, device) for x in value]
