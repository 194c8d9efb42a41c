"""Parser for the entry points and bindings of WGSL source.

It understands only declarations, with attributes in any order and comments anywhere. The browser's
compiler checks everything else. Specification: https://www.w3.org/TR/WGSL/
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_BREAKS = "\n\v\f\r\x85\u2028\u2029"
_COMMENT_MARK = re.compile(rf"//[^{_LINE_BREAKS}]*|/\*|\*/")
_ATTRIBUTES = r"(?P<attributes>(?:@\s*\w+(?:\s*\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*)*)"
_VARIABLE = re.compile(
    _ATTRIBUTES + r"\bvar\b\s*(?:<\s*(?P<space>\w+)\s*(?:,\s*(?P<access>\w+)\s*)?,?\s*>)?"
    r"\s*(?P<name>\w+)"
)
_FUNCTION = re.compile(_ATTRIBUTES + r"\bfn\s+(?P<name>\w+)\s*\(")
_DIGITS = r"(0[xX][0-9a-fA-F]{1,99}|0|[1-9][0-9]{0,99})[iu]?"  # limited as in Python
_NUMBER = rf"\(\s*{_DIGITS}\s*,?\s*\)"


@dataclass(frozen=True)
class Resource:
    """A resource that the shader declares.

    Attributes
    ----------
    group, binding : int or None
        None if the attribute is not a literal number.
    kind : str
        ``r`` for a read-only storage buffer, ``w`` for a read-write one, ``u`` for a uniform
        buffer, ``?`` for anything else (textures, samplers).
    """

    name: str
    group: int | None
    binding: int | None
    access: str


@dataclass(frozen=True)
class EntryPoint:
    """A compute entry point. A workgroup size that is not a literal number is None."""

    name: str
    workgroup_size: tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Reflection:
    """The declarations of a shader."""

    entry_points: tuple[EntryPoint, ...]
    resources: tuple[Resource, ...]
    uses_immediates: bool


def without_comments(source: str) -> str:
    """Return the source with each comment replaced by a space. Block comments nest."""
    kept = []
    depth = start = at = 0
    while mark := _COMMENT_MARK.search(source, at):
        at = mark.end()
        if mark[0] == "/*":
            if depth == 0:
                kept.append(source[start : mark.start()])
            depth += 1
        elif mark[0] == "*/":
            if depth:
                depth -= 1
                start = at
        elif depth == 0:
            kept.append(source[start : mark.start()])
            start = at
        else:  # // has no meaning inside a block comment
            at = mark.start() + 2
    if depth == 0:
        kept.append(source[start:])
    return " ".join(kept)


def reflect(source: str) -> Reflection:
    """Return the compute entry points and resources of WGSL source, in source order."""
    text = without_comments(source)
    resources = []
    uses_immediates = False
    for match in _VARIABLE.finditer(text):
        space, attributes = match["space"], match["attributes"]
        uses_immediates |= space == "immediate"
        if "@" in attributes:
            group, binding = (_number(attributes, name) for name in ("group", "binding"))
            resources.append(Resource(match["name"], group, binding, _access(space, match)))
    entry_points = tuple(
        EntryPoint(match["name"], _workgroup_size(match["attributes"]))
        for match in _FUNCTION.finditer(text)
        if re.search(r"@\s*compute\b", match["attributes"])
    )
    return Reflection(entry_points, tuple(resources), uses_immediates)


def _access(space: str | None, variable: re.Match[str]) -> str:
    if space == "storage":
        return "w" if variable["access"] == "read_write" else "r"
    return "u" if space == "uniform" else "?"


def _number(attributes: str, name: str) -> int | None:
    found = re.search(rf"@\s*{name}\s*{_NUMBER}", attributes)
    return int(found[1], 0) if found else None


def _workgroup_size(attributes: str) -> tuple[int | None, int | None, int | None]:
    found = re.search(r"@\s*workgroup_size\s*\(([^@]*)\)", attributes)
    parts = [part.strip() for part in found[1].split(",")] if found else []
    numbers = [re.fullmatch(_DIGITS, part) for part in parts if part]
    sizes: list[int | None] = [int(number[1], 0) if number else None for number in numbers]
    x, y, z = [*sizes, 1, 1, 1][:3]
    return x, y, z
