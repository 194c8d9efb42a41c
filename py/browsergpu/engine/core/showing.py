"""Short text for values and sizes in errors, without reading GPU memory."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_LONGEST = 160  # maximum characters of a value
_LONGEST_TEXT = 60  # of a string or number in it
_MOST_ITEMS = 6  # items of a container
_DEEPEST = 3  # levels of nested containers
_MOST_NUMBERS = 8  # items of a NumPy array shown by its values
_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")

#: Types whose repr is short and does not read GPU memory.
_PLAIN = (
    type(None), type(...), type(NotImplemented), enum.Enum, np.dtype, np.generic, range, PurePath,
    int, float, complex, Fraction, Decimal,
)  # fmt: skip


class Description(str):
    """A description in place of a value in an error, shown without quotes."""

    __slots__ = ()


class Shown:
    """Base of classes whose repr is the name and a few facts, without an address.

    Subclasses override ``_facts``, which must not wait for the GPU.
    """

    __slots__ = ()

    def _facts(self) -> str:
        return ""

    def __repr__(self) -> str:
        facts = self._facts()
        name = type(self).__qualname__
        return f"<{name} {facts}>" if facts else f"<{name}>"


def shown(value: Any) -> str:
    """Return a short description of a value for an error message.

    Arrays of every library are shown by shape and dtype, functions and classes by name, containers
    by their first items. The repr of foreign classes is not called, because it may read the GPU.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    str
        One line of at most 160 characters.
    """
    return _cut(_shown(value, 0), _LONGEST)


def is_plain(value: Any) -> bool:
    """Return whether a value is small and on the host, such as a number or a string."""
    return isinstance(value, (*_PLAIN, str, bytes))


def byte_count(nbytes: int) -> str:
    """Return a number of bytes as text: ``"1.5 GiB (1,610,612,736 bytes)"``."""
    exact = f"{nbytes:,} byte{'' if nbytes == 1 else 's'}"
    if nbytes < 1024:
        return exact
    scaled, unit = nbytes / 1024, 0
    while scaled >= 1023.95 and unit + 1 < len(_UNITS):
        scaled, unit = scaled / 1024, unit + 1
    return f"{scaled:,.1f}".removesuffix(".0") + f" {_UNITS[unit]} ({exact})"


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _shown(value: Any, depth: int) -> str:
    try:
        return _words(value, depth)
    except Exception:  # a user's object may raise any error
        return _instance(value)


def _words(value: Any, depth: int) -> str:
    if isinstance(value, Description):
        return str(value)
    if isinstance(value, str | bytes | bytearray):
        return _text(value)
    if isinstance(value, np.dtype):
        return str(value)
    if isinstance(value, _PLAIN):
        return _cut(repr(value), _LONGEST_TEXT)
    if isinstance(value, type):
        return _name(value)
    if isinstance(value, memoryview):
        return f"a memoryview of {byte_count(value.nbytes)}"
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return f"the function {value.__qualname__}"
    if isinstance(value, np.ufunc):
        is_numpys = getattr(np, value.__name__, None) is value
        return f"the function {'np.' if is_numpys else ''}{value.__name__}"
    if isinstance(value, partial):
        return f"a partial of {_shown(value.func, depth)}"
    if _is_array(value):
        return _array(value)
    return _container(value, depth) or _object(value, depth)


def _is_array(value: Any) -> bool:
    """Return whether a value has a shape and a dtype, as arrays of every library do."""
    kind = type(value)
    return hasattr(kind, "shape") and hasattr(kind, "dtype")


def _array(value: Any) -> str:
    kind = type(value)
    if kind is np.ndarray and value.size <= _MOST_NUMBERS and value.dtype.kind in "biufcSUmM":
        return _cut(repr(value), _LONGEST_TEXT)
    library = kind.__module__.partition(".")[0]
    own = getattr(value, "_noun", "an array") if library == "browsergpu" else f"a {_name(kind)}"
    what = "a NumPy array" if kind is np.ndarray else own
    return f"{what} of shape {tuple(value.shape)} and dtype {value.dtype}"


def _text(value: Any) -> str:
    whole = repr(value[: _LONGEST_TEXT + 1])  # avoids copying a long text
    if len(value) <= _LONGEST_TEXT and len(whole) <= 2 * _LONGEST_TEXT:
        return whole
    return f"{whole[:_LONGEST_TEXT]}..."


def _container(value: Any, depth: int) -> str:
    """Return the text of a list, tuple, dict, set, slice or mapping, or "" for other values."""
    if isinstance(value, slice):
        return f"slice({_items((value.start, value.stop, value.step), 3, depth, _shown)})"
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({_items(value, len(value), depth, _shown)}{comma})"
    if isinstance(value, list):
        return f"[{_items(value, len(value), depth, _shown)}]"
    if isinstance(value, dict):
        return f"{{{_items(value.items(), len(value), depth, _pair)}}}"
    if isinstance(value, set | frozenset):
        return f"{{{_items(value, len(value), depth, _shown)}}}" if value else "an empty set"
    if isinstance(value, Mapping):
        return f"{_instance(value)} of {len(value)} items"
    return ""


def _items(items: Iterable[Any], count: int, depth: int, words: Callable[[Any, int], str]) -> str:
    if depth >= _DEEPEST and count:
        return "..."
    texts = [words(item, depth + 1) for _, item in zip(range(_MOST_ITEMS), items, strict=False)]
    return ", ".join([*texts, "..."] if count > _MOST_ITEMS else texts)


def _pair(item: tuple[Any, Any], depth: int) -> str:
    return f"{_shown(item[0], depth)}: {_shown(item[1], depth)}"


def _object(value: Any, depth: int) -> str:
    """Return an object's repr if it is defined in this package, else the name of its class."""
    kind = type(value)
    source = next(one for one in kind.__mro__ if "__repr__" in vars(one))
    if not source.__module__.startswith("browsergpu."):
        return _instance(value)
    if is_dataclass(value) and hasattr(source.__repr__, "__wrapped__"):  # generated by dataclass
        values = [(one.name, getattr(value, one.name)) for one in fields(value) if one.repr]
        return f"{kind.__qualname__}({_items(values, len(values), depth, _field)})"
    return repr(value)


def _field(item: tuple[str, Any], depth: int) -> str:
    return f"{item[0]}={_shown(item[1], depth)}"


def _instance(value: Any) -> str:
    name = _name(type(value))
    if name == "object":
        return "an object"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name} object"


def _name(kind: type) -> str:
    """Return a class's name, with its library unless it is Python's or the user's."""
    library = kind.__module__.partition(".")[0]
    own = library in ("builtins", "__main__")
    return kind.__qualname__ if own else f"{library}.{kind.__qualname__}"
