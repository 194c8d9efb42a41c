"""Positions of floats in the memory of a WGSL variable.

It knows the types that buffers can hold: numbers, vectors, matrices, arrays, structs and aliases.
The rules are those of https://www.w3.org/TR/WGSL/#memory-layouts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from browsergpu.engine.kernels.text.reflect import without_comments

if TYPE_CHECKING:
    import numpy.typing as npt

# A memory layout is a string with one letter per two bytes: the two halves of a float32, a float16,
# or anything else.
_F32, _F16, _OTHER = "Ff", "h", "."
_NUMBERS = {"f32": _F32, "i32": _OTHER * 2, "u32": _OTHER * 2, "f16": _F16}
_SHORT = {"f": "f32", "h": "f16", "i": "i32", "u": "u32"}
_VECTOR = re.compile(r"vec([234])([fhiu]?)")
_MATRIX = re.compile(r"mat([234])x([234])([fh]?)")
_TEMPLATED = re.compile(r"(\w+)\s*(?:<(.*)>)?", re.DOTALL)
_MEMBER = re.compile(
    r"(?P<attributes>(?:@\s*\w+\s*\([^)]*\)\s*)*)\w+\s*:\s*(?P<type>.+)", re.DOTALL
)
_WHOLE = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)[iu]?")


@dataclass(frozen=True, slots=True)
class Floats:
    """Positions of floats in a buffer: the layout of its head, then a layout repeated to its end.

    Both are empty if the buffer holds no floats or its type is unknown.
    """

    head: str = ""
    repeated: str = ""

    def are_nan(self, contents: npt.NDArray[np.uint8], nbytes: int) -> npt.NDArray[np.bool_]:
        """Return for each float within the first ``nbytes`` whether it is NaN.

        ``contents`` must be whole words.
        """
        places = nbytes // 2
        alone = "" if self.head else self.repeated
        if alone and not alone.replace(_F32, ""):
            return np.isnan(contents.view(np.float32)[: places // 2])
        if alone and not alone.replace(_F16, ""):
            return np.isnan(contents.view(np.float16)[:places])
        layout = self.head
        if self.repeated:
            layout += self.repeated * -(-max(places - len(layout), 0) // len(self.repeated))
        letters = np.frombuffer(layout[:places].encode(), np.uint8)
        wide, half = (np.flatnonzero(letters == ord(first)) for first in (_F32[0], _F16))
        nan = np.zeros(letters.size, np.bool_)
        nan[wide] = np.isnan(contents.view(np.float32)[wide // 2])
        nan[half] = np.isnan(contents.view(np.float16)[half])
        floats: npt.NDArray[np.bool_] = nan[np.sort(np.concatenate([wide, half]))]
        return floats


NO_FLOATS = Floats()
F32 = Floats(repeated=_F32)
F16 = Floats(repeated=_F16)


class _UnknownTypeError(Exception):
    """A type that is unknown or that no buffer can hold."""


def floats_of(source: str, variable: str) -> Floats:
    """Return the positions of floats in a module's variable.

    The result is empty if the type is not understood, such as a struct with an array whose length
    is an expression.
    """
    text = without_comments(source)
    found = re.search(rf"\bvar\s*<[^>]*>\s*{variable}\s*:\s*([^;]+);", text)
    if found is None:
        return NO_FLOATS
    try:
        head, repeated = _Types(text).of_variable(found[1])
    except _UnknownTypeError:
        return NO_FLOATS
    if set(head + repeated) <= {_OTHER}:
        return NO_FLOATS
    return Floats(head, repeated)


class _Types:
    """The types of one module. Methods return a layout and its alignment in bytes."""

    def __init__(self, text: str) -> None:
        self._aliases = dict(re.findall(r"\balias\s+(\w+)\s*=\s*([^;]+);", text))
        self._structs = dict(re.findall(r"\bstruct\s+(\w+)\s*\{([^}]*)\}", text))
        self._constants = dict(
            re.findall(
                r"\bconst\s+(\w+)\s*(?::\s*\w+\s*)?=\s*((?:0[xX])?[0-9a-fA-F]+[iu]?)\s*;", text
            )
        )

    def of_variable(self, name: str) -> tuple[str, str]:
        """Return the layout of a variable's head, and the layout that repeats after it."""
        kind, arguments = self._resolved(name)
        if kind == "array":
            return "", self._element(arguments[0])
        if kind in self._structs:
            head, _, repeated = self._members(kind)
            return head, repeated
        return self._plain(name)[0], ""

    def _plain(self, name: str) -> tuple[str, int]:
        """Return the layout of a type of known size."""
        kind, arguments = self._resolved(name)
        if kind in _NUMBERS:
            return _NUMBERS[kind], 2 * len(_NUMBERS[kind])
        if kind == "atomic":
            return self._plain(arguments[0])
        if vector := _VECTOR.fullmatch(kind):
            return self._vector(int(vector[1]), _SHORT.get(vector[2]) or arguments[0])
        if matrix := _MATRIX.fullmatch(kind):
            number = _SHORT.get(matrix[3]) or arguments[0]
            column, align = self._vector(int(matrix[2]), number)
            return int(matrix[1]) * _padded(column, align), align
        if kind == "array" and len(arguments) == 2:
            return self._whole(arguments[1]) * self._element(arguments[0]), self._plain(
                arguments[0]
            )[1]
        if kind in self._structs:
            layout, align, repeated = self._members(kind)
            if not repeated:
                return layout, align
        raise _UnknownTypeError(name)

    def _vector(self, length: int, number: str) -> tuple[str, int]:
        layout, align = self._plain(number)
        return length * layout, (2 if length == 2 else 4) * align

    def _element(self, name: str) -> str:
        """Return the layout of an array's element, with padding up to the next one."""
        return _padded(*self._plain(name))

    def _members(self, struct: str) -> tuple[str, int, str]:
        """Return a struct's layout and alignment, and the layout that repeats at its end."""
        layout, most = "", 1
        members = _parts(self._structs[struct])
        for member in members:
            found = _MEMBER.fullmatch(member)
            if found is None:
                raise _UnknownTypeError(member)
            kind, arguments = self._resolved(found["type"])
            endless = kind == "array" and len(arguments) == 1 and member is members[-1]
            if endless:
                own, align = "", self._plain(arguments[0])[1]
            else:
                own, align = self._plain(found["type"])
            align = self._attribute(found["attributes"], "align", align)
            size = self._attribute(found["attributes"], "size", 2 * len(own))
            layout = _padded(layout, align) + own.ljust(size // 2, _OTHER)
            most = max(most, align)
            if endless:
                return layout, most, self._element(arguments[0])
        return _padded(layout, most), most, ""

    def _attribute(self, attributes: str, name: str, otherwise: int) -> int:
        found = re.search(rf"@\s*{name}\s*\(([^)]*)\)", attributes)
        return otherwise if found is None else self._whole(found[1])

    def _whole(self, text: str) -> int:
        """Return the value of a literal or of a constant that is one."""
        text = text.strip().rstrip(",").strip()
        found = _WHOLE.fullmatch(self._constants.get(text, text))
        if found is None or len(found[1]) > 12:
            raise _UnknownTypeError(text)
        return int(found[1], 16 if found[1][:2] in ("0x", "0X") else 10)

    def _resolved(self, name: str) -> tuple[str, list[str]]:
        """Resolve aliases and return a type's name and its template arguments."""
        for _ in range(len(self._aliases) + 1):
            found = _TEMPLATED.fullmatch(name.strip())
            if found is None:
                break
            if found[1] not in self._aliases:
                return found[1], _parts(found[2] or "")
            name = self._aliases[found[1]]
        raise _UnknownTypeError(name)


def _padded(layout: str, align: int) -> str:
    places = align // 2
    return layout.ljust(-(-len(layout) // places) * places, _OTHER) if places else layout


def _parts(text: str) -> list[str]:
    """Split at commas, except within brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in (*parts, text[start:].strip()) if part]
