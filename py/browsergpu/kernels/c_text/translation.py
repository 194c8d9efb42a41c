"""WGSL of users' kernels: unchanged, or translated from C."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import NamedTuple

from browsergpu.kernels.c_text.parser import Parser
from browsergpu.kernels.c_text.tree import Declaration, Function
from browsergpu.kernels.c_text.writer import WGSL, Scope, Writer

_OF_WGSL = re.compile(
    r"\b(let|var|fn|override|select|bitcast|vec[234][fiuh]?|mat[234]x[234]f?|array<|f32|i32|u32|f16"
    r"|loop|alias)\b|->\s*\w+\s*\{"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Preamble(NamedTuple):
    """A translated preamble.

    It has its WGSL, the kinds of its functions, the WGSL names of its declarations, and the shader
    files that it needs.
    """

    text: str = ""
    functions: Mapping[str, Function] = {}
    constants: Mapping[str, str] = {}
    renamed: Mapping[str, str] = {}
    includes: frozenset[str] = frozenset()


class Translated(NamedTuple):
    """Statements in WGSL, and the shader files that they need."""

    text: str
    includes: frozenset[str]


def is_wgsl(text: str) -> bool:
    """Whether a text has words that only WGSL has."""
    return _OF_WGSL.search(_COMMENT.sub(" ", text)) is not None


def check(text: str, letters: Container[str]) -> None:
    """Raise CError if a text is neither WGSL nor supported C."""
    if not is_wgsl(text):
        Parser(text, letters).statements()


def check_preamble(text: str, letters: Container[str]) -> None:
    """Raise CError if a preamble is neither WGSL nor supported C."""
    if text.strip() and not is_wgsl(text):
        Parser(text, letters).declarations()


def translated(
    text: str, values: Mapping[str, str], letters: Mapping[str, str], preamble: Preamble,
    raw: Mapping[str, str],
) -> Translated:  # fmt: skip
    """Translate statements that assign to outputs.

    Parameters
    ----------
    values : Mapping
        Kinds of the available variables.
    letters : Mapping
        Kinds of the template types.
    raw : Mapping
        Kinds of the arrays that are indexed.
    """
    if is_wgsl(text):
        return Translated(_with_names(text, preamble.renamed), preamble.includes)
    scope = Scope(
        {**preamble.constants, **values, "i": "place", **{f"raw {name}": "" for name in raw}},
        dict(raw), letters, dict(preamble.functions), preamble.renamed, set(preamble.includes),
    )  # fmt: skip
    writer = Writer(scope)
    writer.statements(Parser(text, letters).statements())
    return Translated(writer.text(), frozenset(scope.includes))


def expression(
    text: str, values: Mapping[str, str], letters: Mapping[str, str], preamble: Preamble, kind: str
) -> Translated:
    """Translate an expression to the given kind."""
    if is_wgsl(text):
        return Translated(_with_names(text, preamble.renamed), preamble.includes)
    scope = Scope(
        {**preamble.constants, **values, "i": "place"}, {}, letters, dict(preamble.functions),
        preamble.renamed, set(preamble.includes),
    )  # fmt: skip
    made = Writer(scope).expression(Parser(text, letters).expression(), kind)
    return Translated(made, frozenset(scope.includes))


_DECLARED = re.compile(
    r"^\s*(?:fn|const|struct|alias|override|var(?:<[^>]*>)?)\s+(\w+)", re.MULTILINE
)


def preamble_of(text: str, letters: Mapping[str, str], prefix: str) -> Preamble:
    """Translate a preamble and prefix its names, so that two kernels' names do not clash."""
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
