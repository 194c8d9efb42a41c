"""Summary of the variables, which the page uses for completion while the kernel is busy."""

from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from .completion import attributes, kind

MAX_NAMES = 2000


class Outline:
    """Reports variables to the page, and once the attributes of their types and modules."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def news(self, namespace: Mapping[str, Any]) -> dict[str, Any]:
        """Return `{"names": {name: [kind, owner]}, "members": {owner: [[name, kind, owner]]}}`.

        An owner is a module or a type. "members" has only owners that were not reported before.
        """
        members: dict[str, list[tuple[str, str, str]]] = {}
        names = {}
        for name, value in list(namespace.items())[-MAX_NAMES:]:
            if not name.startswith("_"):
                names[name] = (kind(value), self._owner(value, members, deep=True))
        return {"names": names, "members": members}

    def _owner(self, value: Any, members: dict[str, Any], deep: bool) -> str:
        owner = value if isinstance(value, ModuleType | type) else type(value)
        key = _key(owner)
        if key in self._told:
            return key
        self._told.add(key)
        # Submodules are reported one level deep: numpy.linalg, but not all that numpy imports.
        inner = dict(_own_modules(owner)) if deep else {}
        members[key] = [
            (name, what, self._owner(inner[name], members, deep=False) if name in inner else "")
            for name, what in attributes(owner, "")
        ]
        return key


def _key(owner: Any) -> str:
    if isinstance(owner, ModuleType):
        return owner.__name__
    return f"{owner.__module__}:{owner.__qualname__}"


def _own_modules(owner: Any) -> Iterator[tuple[str, ModuleType]]:
    if isinstance(owner, ModuleType):
        found: Iterable[tuple[str, Any]] = list(vars(owner).items())
        for name, value in found:
            if isinstance(value, ModuleType) and value.__name__ == f"{owner.__name__}.{name}":
                yield name, value
