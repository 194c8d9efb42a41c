"""WGSL of custom kernels: unchanged, or translated from C."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import NamedTuple

from browsergpu.engine.kernels.c_text.parser import Parser
from browsergpu.engine.kernels.c_text.tree import Declaration, Function
from browsergpu.engine.kernels.c_text.writer import WGSL, Scope, Writer

_OF_WGSL = re.compile(
    r"\b(let|var|fn|override|select|bitcast|vec[234][fiuh]?|mat[234]x[234]f?|array<|f32|i32|u32|f16"
    r"|loop|alias)\b|->\s*\w+\s*\{"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Preamble(NamedTuple):
    """A translated preamble.

    Attributes
    ----------
    text : str
        The WGSL.
    functions : Mapping
        The functions by name.
    constants : Mapping
        The kinds of the constants.
    renamed : Mapping
        The WGSL names of the declarations.
    includes : frozenset of str
        The shader files that the text needs.
    """

    text: str = ""
    functions: Mapping[str, Function] = {}
    constants: Mapping[str, str] = {}
    renamed: Mapping[str, str] = {}
    includes: frozenset[str] = frozenset()


class Translation(NamedTuple):
    """WGSL, and the shader files that it needs."""

    text: str
    includes: frozenset[str]


def is_wgsl(text: str) -> bool:
    """Return whether a text contains syntax that only WGSL has."""
    return _OF_WGSL.search(_COMMENT.sub(" ", text)) is not None


def check(text: str, letters: Container[str]) -> None:
    """Raise CError if a text is neither WGSL nor supported C."""
    if not is_wgsl(text):
        Parser(text, letters).statements()


def check_preamble(text: str, letters: Container[str]) -> None:
    """Raise CError if a preamble is neither WGSL nor supported C."""
    if text.strip() and not is_wgsl(text):
        Parser(text, letters).declarations()


def translate(
    text: str, values: Mapping[str, str], letters: Mapping[str, str], preamble: Preamble,
    raw: Mapping[str, str],
) -> Translation:  # fmt: skip
    """Translate statements that assign to outputs.

    Parameters
    ----------
    text : str
        The statements, in WGSL or C.
    values : Mapping
        The kinds of the available variables.
    letters : Mapping
        The kinds of the template types.
    preamble : Preamble
        The functions and constants that the statements use.
    raw : Mapping
        The kinds of the arrays that the statements index.
    """
    if is_wgsl(text):
        return Translation(_with_names(text, preamble.renamed), preamble.includes)
    scope = Scope(
        {**preamble.constants, **values, "i": "place", **{f"raw {name}": "" for name in raw}},
        dict(raw), letters, dict(preamble.functions), preamble.renamed, set(preamble.includes),
    )  # fmt: skip
    writer = Writer(scope)
    writer.statements(Parser(text, letters).statements())
    return Translation(writer.text(), frozenset(scope.includes))


_DECLARED = re.compile(
    r"^\s*(?:fn|const|struct|alias|override|var(?:<[^>]*>)?)\s+(\w+)", re.MULTILINE
)


def translate_preamble(text: str, letters: Mapping[str, str], prefix: str) -> Preamble:
    """Translate a preamble. The prefix keeps the names of different kernels apart."""
    if not text.strip():
        return Preamble()
    if is_wgsl(text):
        renamed = {name: f"{prefix}{name}" for name in _DECLARED.findall(text)}
        text = _with_names(text, renamed)
        for letter, kind in letters.items():
            text = re.sub(rf"\b{letter}\b", WGSL[kind], text)
        return Preamble(f"{text}\n", {}, {}, renamed)
    made = Parser(text, letters).declarations()
    names = [one.name for one in made if isinstance(one, Function)]
    names += [each.name for one in made if isinstance(one, Declaration) for each in one.variables]
    renamed = {name: f"{prefix}{name}" for name in names}
    functions = {one.name: one for one in made if isinstance(one, Function)}
    scope = Scope({}, {}, letters, functions, renamed)
    writer = Writer(scope)
    for one in made:
        if isinstance(one, Function):
            writer.function(one)
        else:
            writer.declaration(one, "const")
    return Preamble(
        f"{writer.text()}\n", functions, scope.values, renamed, frozenset(scope.includes)
    )


def _with_names(text: str, renamed: Mapping[str, str]) -> str:
    for name, own in renamed.items():
        text = re.sub(rf"\b{name}\b", own, text)
    return text
