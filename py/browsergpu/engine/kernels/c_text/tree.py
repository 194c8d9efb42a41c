"""Syntax tree of C: expressions and statements with their lines."""

from __future__ import annotations

from dataclasses import dataclass


class CError(Exception):
    """Unsupported C: a message and the line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")


@dataclass(frozen=True, slots=True)
class Number:
    """A literal in WGSL. The kinds "I" and "F" adapt to the other operand."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x``, ``!x``, ``~x`` or ``+x``."""

    sign: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice:
    """``condition ? yes : no``."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Cast:
    """``(type)x``, ``type(x)`` or ``static_cast<type>(x)``."""

    kind: str
    operand: Expression
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function call, or a method call if ``owner`` is set."""

    function: str
    arguments: tuple[Expression, ...]
    line: int
    owner: Expression | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """``array[at]``."""

    array: Expression
    at: Expression
    line: int


@dataclass(frozen=True, slots=True)
class Field:
    """``value.name``."""

    owner: Expression
    name: str


Expression = Number | Name | Unary | Binary | Choice | Cast | Call | Index | Field


@dataclass(frozen=True, slots=True)
class Declarator:
    """A variable of a declaration. ``length`` is set for arrays."""

    name: str
    length: Expression | None
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Declaration:
    """``float a = 1, b[4];``"""

    line: int
    kind: str
    variables: tuple[Declarator, ...]
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """``target sign value`` with "=", "+=" and so on. ``++`` and ``--`` add or subtract 1."""

    line: int
    target: Expression
    sign: str
    value: Expression


@dataclass(frozen=True, slots=True)
class ExpressionStatement:
    """An expression statement, usually a call."""

    line: int
    value: Expression


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in braces."""

    line: int
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    """``if`` with an optional ``else``."""

    line: int
    condition: Expression
    yes: Block
    no: Block | If | None


@dataclass(frozen=True, slots=True)
class For:
    """``for`` with optional first and next statements."""

    line: int
    first: Statement | None
    condition: Expression | None
    next: Statement | None
    body: Block


@dataclass(frozen=True, slots=True)
class While:
    """``while``, or ``do`` with the condition after the body."""

    line: int
    condition: Expression
    body: Block
    is_after: bool


@dataclass(frozen=True, slots=True)
class Jump:
    """``break``, ``continue`` or ``return`` with an optional value."""

    line: int
    word: str
    value: Expression | None = None


Statement = Declaration | Assignment | ExpressionStatement | Block | If | For | While | Jump


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a preamble."""

    line: int
    kind: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Block
