"""Containers of modules."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from operator import index
from typing import Any, Self

from browsergpu.core.errors import InvalidIndex, InvalidType
from browsergpu.networks.module import Module


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
    def _of(cls, modules: list[Module]) -> Self:
        made = cls()
        made._put(modules)
        return made

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

    An index returns one module, a slice a Sequential.

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

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add or replace modules by name."""
        for key, module in modules.items():
            self[key] = module
