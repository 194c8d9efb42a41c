r"""Patterns of tokenizers as Python's regular expressions.

Python's ``re`` has no ``\p{L}``, and its ``\s`` has other characters than Unicode's white space.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

from browsergpu.engine.core.errors import Unsupported

#: Unicode's White_Space.
_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))|\\([sSdDwW])|\\.|\[\^?\]?|\]", re.DOTALL)


@cache
def _categories() -> dict[str, str]:
    """Return the characters of each general category, as ranges for a class."""
    ranges: dict[str, list[list[int]]] = {}
    category = unicodedata.category
    for code in range(sys.maxunicode + 1):
        own = ranges.setdefault(category(chr(code)), [])
        if own and own[-1][1] == code - 1:
            own[-1][1] = code
        else:
            own.append([code, code])
    return {
        name: "".join(_range(first, last) for first, last in own) for name, own in ranges.items()
    }


def _range(first: int, last: int) -> str:
    begin, end = (f"\\U{code:08x}" for code in (first, last))
    return begin if first == last else f"{begin}-{end}"


@cache
def characters_of(name: str) -> str:
    r"""Return the characters of a general category, such as L or Lu, for use within a class."""
    found = "".join(
        ranges for category, ranges in _categories().items() if category.startswith(name)
    )
    if not found:
        raise Unsupported(
            "Tokenizer", f"The pattern's property must be a general category, got {name!r}."
            " Use another tokenizer.",
        )  # fmt: skip
    return found


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    r"""Compile a pattern with ``\p{…}``, Unicode's white space, and no other extension.

    Raises Unsupported for a pattern that Python cannot compile.
    """
    text, at, inside = [], 0, False
    for found in _PROPERTY.finditer(pattern):
        text.append(pattern[at : found.start()])
        at = found.end()
        one = found[0]
        if one.startswith("["):
            text.append("\\[" if inside else one)
            inside = True
        elif one == "]":
            text.append(one)
            inside = False
        elif found[1] or found[5]:
            text.append(_class(found, inside))
        else:
            text.append(one)
    text.append(pattern[at:])
    try:
        return re.compile("".join(text))
    except re.error as error:
        raise Unsupported(
            "Tokenizer", f"The pattern must compile in Python, but {pattern!r} does not: {error}. "
            "Use another tokenizer.",
        ) from None  # fmt: skip


def _class(found: re.Match[str], inside: bool) -> str:
    if found[1]:
        characters = characters_of(found[3] or found[4])
        negated = (found[1] == "P") != (found[2] == "^")
    else:
        letter = found[5]
        characters = {
            "s": lambda: _SPACE,
            "d": lambda: characters_of("Nd"),
            "w": lambda: characters_of("L") + characters_of("M") + characters_of("Nd")
            + characters_of("Pc"),
        }[letter.lower()]()  # fmt: skip
        negated = letter.isupper()
    if not inside:
        return f"[{'^' if negated else ''}{characters}]"
    if negated:
        raise Unsupported(
            "Tokenizer", f"The pattern's class must not contain {found[0]}. Use another tokenizer."
        )
    return characters


def pieces(pattern: re.Pattern[str], text: str) -> list[str]:
    """Split a text into the matches of a pattern and the parts between them."""
    found, at = [], 0
    for match in pattern.finditer(text):
        if match.start() > at:
            found.append(text[at : match.start()])
        if match.end() > match.start():
            found.append(match[0])
        at = match.end()
    if at < len(text):
        found.append(text[at:])
    return found
