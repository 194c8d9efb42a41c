"""Containers of modules."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from operator import index
from typing import Any, Self

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidIndex, InvalidType
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import Parameter


def _place(op: str, value: Any, count: int, most: int) -> int:
    """Return the position of an index among modules. A negative index counts from the end."""
    found = index(value)
    if not -count <= found <= most:
        raise InvalidIndex(op, "index", value, f"one of {count} modules")
    return found % count if found < 0 else found


class _Row(Module):
    """A sequence of modules whose names are numbers."""

    _modules: dict[str, Any]

    def _put(self, modules: Iterable[Module]) -> None:
        """Replace the modules by others."""
        if hasattr(modules, "dtype"):  # iterating over an array may read it from the GPU
            raise InvalidType(type(self).__name__, "modules", modules, "modules")
        given = list(modules)
        for module in given:
            if not isinstance(module, Module):
                raise InvalidType(type(self).__name__, "modules", module, "modules")
        self._modules.clear()
        self._modules.update({str(n): module for n, module in enumerate(given)})

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: int | slice) -> Any:
        own = list(self._modules.values())
        if isinstance(index, slice):
            return type(self)._of(own[index])
        return own[_place(type(self).__name__, index, len(own), len(own) - 1)]

    def __setitem__(self, index: int, module: Module) -> None:
        names = list(self._modules)
        at = _place(type(self).__name__, index, len(names), len(names) - 1)
        if not isinstance(module, Module):
            raise InvalidType(type(self).__name__, "module", module, "a Module")
        self._modules[names[at]] = module

    def __delitem__(self, index: int | slice) -> None:
        own = list(self._modules.values())
        if isinstance(index, slice):
            del own[index]
        else:
            del own[_place(type(self).__name__, index, len(own), len(own) - 1)]
        self._put(own)

    @classmethod
    def _of(cls, modules: Iterable[Module]) -> Self:
        made = cls()
        made._put(modules)
        return made

    def __add__(self, other: Iterable[Module]) -> Self:
        return self._of([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)

    def pop(self, key: int | slice) -> Any:
        """Remove a module and return it."""
        found = self[key]
        del self[key]
        return found

    def append(self, module: Module) -> Self:
        """Append a module."""
        self._put([*self, module])
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append several modules."""
        self._put([*self, *modules])
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before an index."""
        own = list(self)
        own.insert(_place("insert", index, len(own), len(own)), module)
        self._put(own)
        return self


class Sequential(_Row):
    """A chain of modules. Each gets the output of the previous one.

    An index returns one module, a slice a Sequential whose modules keep their names.

    Parameters
    ----------
    *modules
        The modules, or one dict of modules by name.
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.register_module(name, module)
        else:
            self._put(modules)

    def forward(self, input: Any) -> Any:
        """Return the output of the last module."""
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, index: int | slice) -> Any:
        if not isinstance(index, slice):
            return super().__getitem__(index)
        made = type(self)._of(())
        made._modules.update(list(self._modules.items())[index])  # the names stay, as in PyTorch
        return made

    def append(self, module: Module) -> Self:
        """Append a module. Its name is its position."""
        self.register_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append several modules. Their names are their positions."""
        for module in list(modules):
            self.append(module)
        return self


class ModuleList(_Row):
    """A list of modules. It has no ``forward``."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self._put(modules)


class ModuleDict(Module):
    """A dict of modules. It has no ``forward``."""

    _modules: dict[str, Any]

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]  # type: ignore[no-any-return]

    def __setitem__(self, key: str, module: Module) -> None:
        if not isinstance(module, Module):
            raise InvalidType("ModuleDict", "module", module, "a Module")
        self.register_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> ValuesView[Module]:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> ItemsView[str, Module]:
        """Return the pairs of name and module."""
        return self._modules.items()

    def pop(self, key: str) -> Module:
        """Remove a module and return it."""
        found = self[key]
        del self[key]
        return found

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add or replace modules by name."""
        for key, module in modules.items():
            self[key] = module


class ParameterList(Module):
    """A list of parameters. Arrays that are no parameters become parameters.

    Parameters
    ----------
    values : iterable of Array, optional
        The parameters.
    """

    _parameters: dict[str, Any]

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(values)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Array]:
        return iter(self._parameters.values())

    def __getitem__(self, index: int | slice) -> Any:
        own = list(self._parameters.values())
        if isinstance(index, slice):
            return type(self)(own[index])
        return own[_place(type(self).__name__, index, len(own), len(own) - 1)]

    def __setitem__(self, index: int, param: Any) -> None:
        at = _place(type(self).__name__, index, len(self), len(self) - 1)
        self._set_attribute("_parameters", str(at), _parameter("ParameterList", param))

    def append(self, value: Any) -> Self:
        """Append a parameter."""
        found = _parameter("ParameterList", value)
        self.register_parameter(str(len(self)), found)
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Append several parameters."""
        if isinstance(values, Array):  # iterating over an array may read it from the GPU
            raise InvalidType("ParameterList", "values", values, "several parameters")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """Return a line for each parameter."""
        return _lines(self._parameters)


class ParameterDict(Module):
    """A dict of parameters. Arrays that are no parameters become parameters.

    Parameters
    ----------
    parameters : mapping of str to Array, optional
        The parameters by name.
    """

    _parameters: dict[str, Any]

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Array:
        return self._parameters[key]  # type: ignore[no-any-return]

    def __setitem__(self, key: str, parameter: Any) -> None:
        found = _parameter("ParameterDict", parameter)
        if key in self._parameters:
            self._set_attribute("_parameters", key, found)
        else:
            self.register_parameter(key, found)

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._parameters.keys()

    def values(self) -> ValuesView[Array]:
        """Return the parameters."""
        return self._parameters.values()

    def items(self) -> ItemsView[str, Array]:
        """Return the pairs of name and parameter."""
        return self._parameters.items()

    def get(self, key: str, default: Any = None) -> Any:
        """Return a parameter by name, or ``default``."""
        return self._parameters.get(key, default)

    def pop(self, key: str) -> Array:
        """Remove a parameter and return it."""
        found = self[key]
        del self[key]
        return found

    def update(self, parameters: Mapping[str, Any]) -> None:
        """Add or replace parameters by name."""
        for key, parameter in parameters.items():
            self[key] = parameter

    def extra_repr(self) -> str:
        """Return a line for each parameter."""
        return _lines(self._parameters)


def _parameter(op: str, value: Any) -> Array:
    if not isinstance(value, Array):
        raise InvalidType(op, "value", value, "an array")
    return value if isinstance(value, Parameter) else Parameter(value)


def _lines(parameters: Mapping[str, Array]) -> str:
    return ", ".join(f"({name}): {x.dtype} {x.shape}" for name, x in parameters.items())
