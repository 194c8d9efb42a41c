"""Reads from WGSL source what must be known to dispatch it: entry points and bindings.

Understands declarations only, with attributes in any order and comments anywhere; the browser's
compiler does the rest. https://www.w3.org/TR/WGSL/
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_ATTRIBUTES = r"(?P<attributes>(?:@\w+(?:\s*\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*)*)"
_VARIABLE = re.compile(
    _ATTRIBUTES + r"\bvar\s*<\s*(?P<space>\w+)\s*(?:,\s*(?P<access>\w+)\s*)?>\s*(?P<name>\w+)"
)
_FUNCTION = re.compile(_ATTRIBUTES + r"\bfn\s+(?P<name>\w+)\s*\(")
_NUMBER = r"\(\s*(\d+)[iu]?\s*,?\s*\)"


@dataclass(frozen=True)
class Resource:
    """A buffer that the shader declares: group and binding, and its access: ``r`` for a storage
    buffer that is only read, ``w`` for one that is written too, ``u`` for a uniform buffer."""

    name: str
    group: int
    binding: int
    access: str


@dataclass(frozen=True)
class EntryPoint:
    """A compute entry point. The workgroup size holds None where it is no plain number."""

    name: str
    workgroup_size: tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Reflection:
    """What a shader declares."""

    entry_points: tuple[EntryPoint, ...]
    resources: tuple[Resource, ...]
    uses_immediates: bool


def without_comments(source: str) -> str:
    """The source with each comment replaced by a space."""
    return _COMMENT.sub(" ", source)


def reflect(source: str) -> Reflection:
    """The compute entry points and buffers that WGSL source declares, in their order."""
    text = without_comments(source)
    resources = []
    uses_immediates = False
    for match in _VARIABLE.finditer(text):
        space = match["space"]
        if space == "immediate":
            uses_immediates = True
        if space not in ("storage", "uniform"):
            continue
        group = _attribute(match["attributes"], "group")
        binding = _attribute(match["attributes"], "binding")
        if group is not None and binding is not None:
            access = "u" if space == "uniform" else "w" if match["access"] == "read_write" else "r"
            resources.append(Resource(match["name"], group, binding, access))
    entry_points = tuple(
        EntryPoint(match["name"], _workgroup_size(match["attributes"]))
        for match in _FUNCTION.finditer(text)
        if re.search(r"@compute\b", match["attributes"])
    )
    return Reflection(entry_points, tuple(resources), uses_immediates)


def _attribute(attributes: str, name: str) -> int | None:
    found = re.search(rf"@{name}\s*{_NUMBER}", attributes)
    return int(found[1]) if found else None


def _workgroup_size(attributes: str) -> tuple[int | None, int | None, int | None]:
    found = re.search(r"@workgroup_size\s*\(([^@]*)\)", attributes)
    parts = [part.strip() for part in found[1].split(",")] if found else []
    numbers = [re.fullmatch(r"(\d+)[iu]?", part) for part in parts if part]
    sizes: list[int | None] = [int(number[1]) if number else None for number in numbers]
    x, y, z = [*sizes, 1, 1, 1][:3]
    return x, y, z
