"""The user's variables with their types, shapes and bytes, for the page's table."""

import sys
from collections.abc import Container, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

MOST = 500
# Packages whose attributes `shape` and `nbytes` are known to compute nothing.
ARRAYS = ("browsergpu", "numpy")
LENGTHS = (bytearray, bytes, dict, frozenset, list, range, set, str, tuple)
LEFT_OUT = (ModuleType, FunctionType, BuiltinFunctionType, type)


def table(namespace: Mapping[str, Any], hidden: Container[str]) -> list[dict[str, Any]]:
    """Return a row for each variable, without modules, functions, classes and `hidden` names."""
    rows = [
        {"name": name, "type": type(value).__name__, **_size(value)}
        for name, value in shown(namespace, hidden)
        if not isinstance(value, LEFT_OUT)
    ]
    return rows[-MOST:]


def shown(namespace: Mapping[str, Any], hidden: Container[str]) -> Iterator[tuple[str, Any]]:
    """Yield the names and values that are the user's, without private ones."""
    for name, value in list(namespace.items()):
        if not name.startswith("_") and name not in hidden:
            yield name, value


def shape_text(array: Any) -> str:
    """Return an array's shape and dtype, as in "2 × 3 float32"."""
    return f"{' × '.join(map(str, array.shape)) or 'scalar'} {array.dtype.name}"


def _size(value: Any) -> dict[str, Any]:
    package = type(value).__module__.partition(".")[0]
    try:
        if package in ARRAYS and isinstance(getattr(value, "shape", None), tuple):
            return {"shape": shape_text(value), "bytes": int(value.nbytes)}
        if package == "pandas" and hasattr(value, "memory_usage"):
            used = value.memory_usage(deep=False)
            return {
                "shape": " × ".join(map(str, value.shape)),
                "bytes": int(getattr(used, "sum", int)()),
            }
        if isinstance(value, LENGTHS):
            return {"shape": f"{len(value):,}", "bytes": sys.getsizeof(value)}
        return {"shape": "", "bytes": sys.getsizeof(value)}
    except Exception:  # of the user's class, or of a closed device
        return {"shape": "", "bytes": None}
