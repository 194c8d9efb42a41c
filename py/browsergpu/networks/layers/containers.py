"""Modules of modules."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from operator import index
from typing import Any, Self

from browsergpu.core.errors import InvalidIndex, InvalidType
from browsergpu.networks.module import Module


def _place(op: str, value: Any, count: int, most: int) -> int:
    """A place among modules, counted from the end where it is below 0."""
    found = index(value)
    if not -count <= found <= most:
        raise InvalidIndex(op, "index", value, f"one of {count} modules")
    return found % count if found < 0 else found


class _Row(Module):
    """Modules one after the other, whose names are numbers."""

    _modules: dict[str, Any]

    def _put(self, modules: Iterable[Module]) -> None:
        """These modules, and no others."""
        if hasattr(modules, "dtype"):  # to iterate over an array may read it
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
        """Puts a module behind the others."""
        self._put([*self, module])
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Puts modules behind the others."""
        self._put([*self, *modules])
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Puts a module before the one of an index."""
        own = list(self)
        own.insert(_place("insert", index, len(own), len(own)), module)
        self._put(own)
        return self


class Sequential(_Row):
    """Modules of which each gets what the one before it gives: given one after the other, or as a
    dict with their names. An index gives one of them, a slice a Sequential of some."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.register_module(name, module)
        else:
            self._put(modules)

    def forward(self, input: Any) -> Any:
        """What the last one gives."""
        for module in self:
            input = module(input)
        return input

    def append(self, module: Module) -> Self:
        """Puts a module behind the others, named by how many these are."""
        self.register_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Puts modules behind the others, named likewise."""
        for module in list(modules):
            self.append(module)
        return self


class ModuleList(_Row):
    """A list of modules, which has no ``forward``."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self._put(modules)


class ModuleDict(Module):
    """Modules by names, which has no ``forward``."""

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
        """The names."""
        return self._modules.keys()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def items(self) -> ItemsView[str, Module]:
        """The names and the modules."""
        return self._modules.items()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Takes modules by their names."""
        for key, module in modules.items():
            self[key] = module
