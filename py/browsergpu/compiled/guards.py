"""Guards: the objects that a function reads besides its arguments.

A graph is replayed while all guards hold: each object is the same as in the traced call. The names
in the function's code show which variables of its closure and module and which attributes it reads.
Guards also cover the functions that it calls, except those of installed packages.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.changes import CHANGES
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.networks.module import Module

_MISSING = object()
#: Types whose values are compared by ``==``. Other values are compared by identity.
_COMPARED = (bool, int, float, complex, str, bytes, type(None))
_MOST = 4000
_DEPTH = 6  # maximum depth of nested containers
_PATHS = tuple(map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")))
_OWN = __name__.partition(".")[0]


class Guard(Shown):
    """One value that a function reads: how to get it, its name, and the value."""

    __slots__ = ("_expected", "_get", "name")

    def __init__(self, name: str, get: Callable[[], Any]) -> None:
        self.name = name
        self._get = get
        self._expected = _seen(get())

    def holds(self) -> bool:
        """Whether the value is the same."""
        return _is_same(self._expected, _seen(self._get()))


class _Elements:
    """A copy of a NumPy array's elements, since they can change."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray) -> None:
        self.array = array.copy()

    def is_same(self, other: _Elements) -> bool:
        """Whether the elements have the same bits."""
        a, b = self.array, other.array
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _seen(value: Any, depth: int = _DEPTH) -> Any:
    """Return the objects to compare: the items of containers, elements of arrays, or the value."""
    if isinstance(value, np.ndarray):
        return _Elements(value)
    if isinstance(value, list | tuple):
        return type(value), [_seen(one, depth - 1) for one in value] if depth else list(value)
    if isinstance(value, dict):
        items = [_seen(one, depth - 1) if depth else one for one in value.values()]
        return type(value), [*value, *items]
    if isinstance(value, set):
        return type(value), [len(value)]
    return value


def _is_same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is tuple:  # made by _seen()
        return a[0] is b[0] and len(a[1]) == len(b[1]) and all(map(_is_same, a[1], b[1]))
    if type(a) is _Elements:
        return a.is_same(b)
    if isinstance(a, np.generic) or type(a) in _COMPARED:
        return bool(a == b) or (a != a and b != b)
    if isinstance(a, MethodType):  # each access makes another object
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    if isinstance(a, BuiltinFunctionType):  # such as a method of a string
        return a.__name__ == b.__name__ and _is_same(a.__self__, b.__self__)
    return False


class Guards(Shown):
    """All values that a function reads."""

    def __init__(self, function: Any, objects: Iterable[Any] = ()) -> None:
        self._all: list[Guard] = []
        self._modules: list[Any] = []
        self._known: set[int] = set()
        self._visited: set[tuple[int, Any]] = set()
        self._kept: list[Any] = []
        self._visit(function, getattr(function, "__name__", "function"))
        code = getattr(function, "__code__", None)
        for one in objects:
            self._visit(one, "argument")
            self._visit_object(one, () if code is None else _names(code), "argument")
        self._states = [_state(module) for module in self._modules]
        self._version = CHANGES.count

    def changed(self) -> str | None:
        """Return the name of a value that has changed, or None."""
        for guard in self._all:
            if not guard.holds():
                return guard.name
        if self._modules and self._version != CHANGES.count:
            for module, state in zip(self._modules, self._states, strict=True):
                if not _is_same(state, _state(module)):
                    return f"an attribute of {type(module).__name__}"
            self._version = CHANGES.count
        return None

    @exclusive
    def share_memory(self, arrays: list[Any]) -> bool:
        """Whether arguments share memory with other arrays that the function reads."""
        own = [x for x in self._kept if isinstance(x, Array)]
        for module in self._modules:
            own += [*module.parameters(), *module.buffers()]
        known = {id(_memory(x)) for x in own}
        return any(id(_memory(x)) in known for x in arrays)

    # -- the objects that a function reads ---------------------------------------------------------

    def _visit(self, x: Any, name: str) -> None:
        if id(x) in self._known or len(self._all) >= _MOST:
            return
        self._known.add(id(x))
        self._kept.append(x)
        if isinstance(x, MethodType):
            self._visit(x.__func__, name)
            self._visit_object(x.__self__, x.__func__.__code__.co_names, "self")
        elif isinstance(x, FunctionType):
            self._visit_function(x)
        elif _is_module(x):
            self._visit_module(x)
        elif hasattr(x, "func") and hasattr(x, "keywords"):  # functools.partial
            self._visit(x.func, name)
            for one in (*x.args, *x.keywords.values()):
                self._visit(one, name)
        elif hasattr(x, "__wrapped__"):
            self._visit(x.__wrapped__, name)
        elif isinstance(x, list | tuple):
            for one in x:
                self._visit(one, name)
        elif isinstance(x, dict):
            for one in x.values():
                self._visit(one, name)
        elif callable(x) and not isinstance(x, type | BuiltinFunctionType):
            call = vars(type(x)).get("__call__")
            if isinstance(call, FunctionType):
                self._visit(call, name)
                self._visit_object(x, call.__code__.co_names, name)

    def _visit_function(self, function: FunctionType) -> None:
        code = function.__code__
        if _is_installed(code, function.__module__ or ""):
            inner = vars(function).get("__wrapped__")  # as bg.vmap, bg.grad and decorators have it
            if inner is not None:
                self._visit(inner, function.__name__)
            return
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._add(name, partial(_content, cell), _names(code))
        names = _names(code)
        values = function.__globals__
        for name in names:
            if name in values:
                self._add(name, partial(values.get, name, _MISSING), names)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._visit(value, "default")

    def _add(self, name: str, get: Callable[[], Any], names: tuple[str, ...]) -> None:
        value = get()
        if not isinstance(value, ModuleType):
            self._all.append(Guard(name, get))
            self._visit(value, name)
        self._visit_object(value, names, name)

    def _visit_object(self, x: Any, names: tuple[str, ...], path: str) -> None:
        """Visit the attributes of the user's objects, classes and modules that the code names."""
        if _is_module(x):
            self._visit(x, path)
            return
        if isinstance(x, Array | np.ndarray | FunctionType | MethodType) or _is_foreign(x):
            return
        for name in names:
            if len(self._all) >= _MOST:
                return
            found = _found(x, name)
            if isinstance(found, staticmethod | classmethod):
                found = found.__func__
            if isinstance(found, property):
                found = found.fget
            if isinstance(found, FunctionType):
                self._visit_method(x, found, path)
            elif found is not _MISSING and not name.startswith("__"):
                self._visit_attribute(x, name, names, f"{path}.{name}")

    def _visit_method(self, x: Any, method: FunctionType, path: str) -> None:
        if _is_installed(method.__code__, method.__module__ or ""):
            return
        self._visit(method, method.__name__)
        key = id(x), id(method)
        if key not in self._visited:
            self._visited.add(key)
            self._visit_object(x, _names(method.__code__), path)

    def _visit_attribute(self, x: Any, name: str, names: tuple[str, ...], path: str) -> None:
        own = getattr(x, "__dict__", None)
        get: Callable[[], Any] = partial(getattr, x, name, _MISSING)
        if isinstance(own, dict) and name in own:
            get = partial(own.get, name, _MISSING)
        value = get()
        if isinstance(value, ModuleType) and _is_foreign(value):
            return
        key = id(x), name
        if key in self._visited:
            return
        self._visited.add(key)
        self._kept.append(x)
        if not isinstance(value, ModuleType):
            self._all.append(Guard(path, get))
        self._visit(value, path)
        self._visit_object(value, names, path)

    def _visit_module(self, module: Any) -> None:
        for one in module.modules():
            self._modules.append(one)
            self._known.add(id(one))
            forward = type(one).forward
            if isinstance(forward, FunctionType):
                self._visit(forward, "forward")


class _NoGuards(Guards):
    """The guards of a function that reads only its arguments."""

    def __init__(self) -> None:
        self._all, self._modules, self._kept = [], [], []
        self._version = CHANGES.count


NO_GUARDS = _NoGuards()


def _found(x: Any, name: str) -> Any:
    """Return an attribute as an object or its classes store it, without calling a descriptor."""
    own = getattr(x, "__dict__", {})
    classes = x.__mro__ if isinstance(x, type) else type(x).__mro__
    for names in (own, *map(vars, classes)):
        if name in names:
            return names[name]
    return _MISSING


def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names that code reads, also in functions that it defines."""
    found = dict.fromkeys(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found.update(dict.fromkeys(_names(inner)))
    return tuple(found)


@exclusive
def versions_of(arrays: Sequence[Array]) -> list[Any]:
    """Return a list that differs after one of the arrays was changed."""
    found = []
    for x in arrays:
        node = NODE.__get__(x).in_memory()
        found += [node, node.storage, node.storage.version]
    return found


@exclusive
def share_memory(arrays: Sequence[Array]) -> bool:
    """Whether different arrays share memory."""
    apart = {id(x): x for x in arrays}.values()
    return len({id(_memory(x)) for x in apart}) < len(apart)


def _memory(x: Array) -> Any:
    return NODE.__get__(x).in_memory().storage


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _is_installed(code: CodeType, module: str) -> bool:
    return _is_known(module.partition(".")[0]) or code.co_filename.startswith(_PATHS)


def _is_known(package: str) -> bool:
    return package in (_OWN, "numpy") or (
        package in sys.stdlib_module_names and package != "__main__"
    )


def _is_foreign(x: Any) -> bool:
    """Whether an object, class or module belongs to an installed package. Guards skip it."""
    if isinstance(x, ModuleType):
        file = getattr(x, "__file__", None)
        package = x.__name__.partition(".")[0]
        return _is_known(package) or (file is not None and file.startswith(_PATHS))
    own = x if isinstance(x, type) else type(x)
    package = own.__module__.partition(".")[0]
    return _is_known(package) if isinstance(x, type) else package == _OWN


def _is_module(x: Any) -> bool:
    return isinstance(x, Module)


def _state(module: Any) -> Any:
    return dict, list(_flat(module.__dict__))


def _flat(own: dict[str, Any]) -> Iterator[Any]:
    for name, value in own.items():
        if isinstance(value, dict):
            yield from value
            yield from value.values()
        else:
            yield name
            yield value
