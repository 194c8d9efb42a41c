"""What C text is parsed to: expressions and statements, with the lines where they begin."""

from __future__ import annotations

from dataclasses import dataclass


class CError(Exception):
    """C that is not understood: what, and the line where it is."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")


@dataclass(frozen=True, slots=True)
class Number:
    """A literal: its text in WGSL, and its kind: "I" and "F" fit to what is beside them."""

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
    """An operation of two operands."""

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
    """A function or, where ``owner`` is there, a method of something."""

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
class Declared:
    """A variable of a declaration: its length where it is an array, and its first value."""

    name: str
    length: Expression | None
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Declaration:
    """``float a = 1, b[4];``"""

    line: int
    kind: str
    variables: tuple[Declared, ...]
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """``target sign value``: the sign is "=", "+=" and so on; ``++`` and ``--`` are these of 1."""

    line: int
    target: Expression
    sign: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Effect:
    """An expression by itself: a call."""

    line: int
    value: Expression


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in braces."""

    line: int
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    """``if``, with ``else`` or without."""

    line: int
    condition: Expression
    yes: Block
    no: Block | If | None


@dataclass(frozen=True, slots=True)
class For:
    """``for``, whose first and next statement may be missing."""

    line: int
    first: Statement | None
    condition: Expression | None
    next: Statement | None
    body: Block


@dataclass(frozen=True, slots=True)
class While:
    """``while``, or ``do`` with the condition behind the body."""

    line: int
    condition: Expression
    body: Block
    is_after: bool


@dataclass(frozen=True, slots=True)
class Jump:
    """``break``, ``continue`` or ``return``, which may have a value."""

    line: int
    word: str
    value: Expression | None = None


Statement = Declaration | Assignment | Effect | Block | If | For | While | Jump


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a preamble."""

    line: int
    kind: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Block
