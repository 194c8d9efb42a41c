"""The public names of the package, read from the imported package."""

import functools
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

import browsergpu

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?([^`]+)`")
#: The end of a line before an indented code block, which Markdown recognizes without it.
_LITERAL = re.compile(r"::$", re.MULTILINE)

PACKAGE = browsergpu.__name__


@dataclass(frozen=True)
class Namespace:
    """A public module: its public path, such as ``browsergpu.nn.init``, and the module."""

    path: str
    module: ModuleType

    @property
    def names(self) -> list[str]:
        """The public names that are not namespaces themselves."""
        return sorted(
            (name for name in self.module.__all__ if not isinstance(self[name], ModuleType)),
            key=lambda name: (name.lower(), name),
        )

    @property
    def classes(self) -> list[str]:
        """The names of the package's classes, without second names of the same class."""
        return [name for name in self.names if self.is_own_class(name)]

    def is_own_class(self, name: str) -> bool:
        """Whether a name is the first public name of a class that the package defines."""
        found = self[name]
        if not (isinstance(found, type) and is_own(found)):
            return False
        return name == found.__name__ or found.__name__ not in self.module.__all__

    def __getitem__(self, name: str) -> Any:
        return getattr(self.module, name)


@cache
def namespaces() -> tuple[Namespace, ...]:
    """The package, and the modules among its public names and among theirs."""
    return tuple(_with_children(PACKAGE, browsergpu))


def _with_children(path: str, module: ModuleType) -> Iterator[Namespace]:
    yield Namespace(path, module)
    for name in sorted(module.__all__):
        found = getattr(module, name)
        if isinstance(found, ModuleType):
            yield from _with_children(f"{path}.{name}", found)


def is_own(found: object) -> bool:
    """Whether the package defines an object."""
    return str(getattr(found, "__module__", None)).partition(".")[0] == PACKAGE


@cache
def public_classes() -> frozenset[type]:
    """All public classes of the package."""
    return frozenset(space[name] for space in namespaces() for name in space.classes)


def members(cls: type) -> dict[str, type]:
    """The public members of a class, each with the class that defines it.

    Members of bases in the package count, because users need not know about private bases. Members
    of another public class do not: the class's page links to that base.
    """
    found: dict[str, type] = {}
    for base in cls.__mro__:
        if not is_own(base) or (base is not cls and base in public_classes()):
            continue
        for name in vars(base):
            if not name.startswith("_"):
                found.setdefault(name, base)
    return found


def text_of(found: Any) -> str:
    """The docstring of an object; "" for a value, which has only the docstring of its type."""
    if isinstance(found, functools.partial) or not (callable(found) or is_own(type(found))):
        return ""
    return inspect.getdoc(found) or ""


def text_of_member(cls: type, name: str) -> str:
    """The docstring of a member, or that of the base which documents the member."""
    for base in cls.__mro__:
        member = vars(base).get(name)
        is_data = member is None or type(member).__module__ in ("enum", "numpy")
        if not is_data and not isinstance(member, (int, float, str, tuple, list, dict)):
            text = inspect.getdoc(member)
            if text:
                return text
    return ""


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring, after a signature line as in NumPy's."""
    paragraphs = [" ".join(one.split()) for one in text.split("\n\n") if one.strip()]
    prose = [one for one in paragraphs if "(" not in one.partition(" ")[0]]
    sentence = prose[0].partition(". ")[0].rstrip(".:") if prose else ""
    return markdown_of(f"{sentence}.") if sentence else ""


def markdown_of(text: str) -> str:
    """A docstring without reStructuredText's roles and its marks of literal blocks."""
    return _LITERAL.sub(":", _ROLE.sub(r"`\1`", text))


def is_numpys(name: str) -> bool:
    """Whether a name of the main namespace is also one of NumPy's."""
    return hasattr(np, name)
