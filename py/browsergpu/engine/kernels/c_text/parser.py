"""Parser of C: from text to a syntax tree."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.c_text.tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Cast,
    CError,
    Choice,
    Declaration,
    Declarator,
    Expression,
    ExpressionStatement,
    Field,
    For,
    Function,
    If,
    Index,
    Jump,
    Name,
    Number,
    Statement,
    Unary,
    While,
)

#: Names of types in C and CuPy, and the letter of their computation.
TYPES = {
    "float": "f", "float32": "f", "double": "f", "float64": "f", "int": "i", "int32": "i",
    "int32_t": "i", "ptrdiff_t": "i", "unsigned": "u", "uint32": "u", "uint32_t": "u",
    "size_t": "u", "bool": "b", "void": "",
}  # fmt: skip
#: Unsupported types and keywords, and what to use instead.
_UNSUPPORTED = {
    **dict.fromkeys(("char", "short", "int8", "int16", "uint8", "uint16"), "int or unsigned int"),
    **dict.fromkeys(("long", "int64_t", "int64", "uint64", "uint64_t"), "int, or size_t"),
    **dict.fromkeys(("half", "float16", "__half"), "float"),
    **dict.fromkeys(("switch", "goto"), "if, for or while"),
    **dict.fromkeys(("template", "struct", "class", "typedef"), "functions of plain types"),
    **dict.fromkeys(("__shared__", "__syncthreads"), "RawKernel, with WGSL's var<workgroup>"),
}  # fmt: skip
_IGNORED = {
    "const", "__device__", "__forceinline__", "inline", "static", "__restrict__", "signed",
    "__host__", "constexpr", "__constant__",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|//[^\n]*|/\*.*?\*/|\\\n)|(?P<line>\n)"
    r"|(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[fFuUlL]*)"
    r"|(?P<name>[A-Za-z_]\w*(?:::\w+)*)"
    r"|(?P<sign><<=|>>=|\+\+|--|->|&&|\|\||[<>=!]=|<<|>>|[-+*/%&|^]=|[-+*/%<>=!~&|^?:;,.(){}\[\]#])",
    re.DOTALL,
)
_PRECEDENCE = {
    sign: precedence
    for precedence, signs in enumerate((
        ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="),
        ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
    ), 1)
    for sign in signs
}  # fmt: skip
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")


class Token(NamedTuple):
    """A token of kind "number", "name", "sign" or, at the end, ""."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> list[Token]:
    """Split a text into tokens, without spaces and comments."""
    found, line, at = [], 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CError(f"unexpected character {text[at]!r}", line)
        at, kind, piece = match.end(), match.lastgroup or "", match[0]
        if kind not in ("space", "line"):
            found.append(Token(kind, piece, line))
        line += piece.count("\n")
    return [*found, Token("", "", line)]


class Parser(Shown):
    """Recursive parser of statements and expressions. ``letters`` are template type names."""

    def __init__(self, text: str, letters: Container[str]) -> None:
        self._tokens = tokens(text)
        self._at = 0
        self._letters = letters

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _is(self, text: str) -> bool:
        return self._next.text == text and self._next.kind in ("sign", "name")

    def _accept(self, text: str) -> bool:
        is_there = self._is(text)
        self._at += is_there
        return is_there

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            found = repr(self._next.text) if self._next.kind else "the end"
            raise CError(f"expected {text!r} before {found}", self._next.line)

    def _is_type(self, ahead: int = 0) -> bool:
        token = self._tokens[self._at + ahead]
        return token.kind == "name" and (token.text in TYPES or token.text in self._letters)

    def _type(self) -> str:
        """Parse a type. Return the letter of its computation, or its template name."""
        token = self._take()
        if token.text == "unsigned":
            self._accept("int")
        if self._is("*") or self._is("&"):
            raise CError("pointers and references are not supported", token.line)
        return TYPES.get(token.text, token.text)

    def statements(self, end: str = "") -> tuple[Statement, ...]:
        """Parse all statements up to ``end`` or the end of the text. The last ";" is optional."""
        found = []
        while not (self._is(end) if end else not self._next.kind):
            if not self._next.kind:
                raise CError(f"expected {end!r} before the end", self._next.line)
            if not self._accept(";"):
                found.append(self._statement())
        return tuple(found)

    def _statement(self) -> Statement:
        line = self._next.line
        if self._accept("{"):
            found = Block(line, self.statements("}"))
            self._expect("}")
            return found
        if self._accept("if"):
            return self._if(line)
        if self._accept("for"):
            return self._for(line)
        if self._accept("while"):
            return While(line, self._condition(), self._block(), False)
        if self._accept("do"):
            body = self._block()
            self._expect("while")
            made = While(line, self._condition(), body, True)
            self._end()
            return made
        for word in ("break", "continue", "return"):
            if self._accept(word):
                is_bare = word != "return" or self._is(";") or not self._next.kind
                jump = Jump(line, word, None if is_bare else self.expression())
                self._end()
                return jump
        made_simple = self._simple()
        self._end()
        return made_simple

    def _end(self) -> None:
        if self._next.kind and not self._is("}"):
            self._expect(";")

    def _block(self) -> Block:
        line, one = self._next.line, self._statement()
        return one if isinstance(one, Block) else Block(line, (one,))

    def _condition(self) -> Expression:
        self._expect("(")
        found = self.expression()
        self._expect(")")
        return found

    def _if(self, line: int) -> If:
        condition, yes = self._condition(), self._block()
        no: Block | If | None = None
        if self._accept("else"):
            at = self._next.line
            no = self._if(at) if self._accept("if") else self._block()
        return If(line, condition, yes, no)

    def _for(self, line: int) -> For:
        self._expect("(")
        first = None if self._is(";") else self._simple()
        self._expect(";")
        condition = None if self._is(";") else self.expression()
        self._expect(";")
        after = None if self._is(")") else self._simple()
        self._expect(")")
        return For(line, first, condition, after, self._block())

    def _simple(self) -> Declaration | Assignment | ExpressionStatement:
        """Parse a declaration, an assignment or a call."""
        token = self._next
        is_constant = False
        while self._next.text in _IGNORED:
            is_constant |= self._take().text in ("const", "constexpr", "__constant__")
        self._check_supported()
        if self._is_type() and self._tokens[self._at + 1].text != "(":
            return self._declaration(token.line, is_constant)
        for sign in ("++", "--"):
            if self._accept(sign):
                return Assignment(token.line, self._postfix(), f"{sign[0]}=", Number("1", "I"))
        target = self.expression()
        for sign in ("++", "--"):
            if self._accept(sign):
                return Assignment(token.line, target, f"{sign[0]}=", Number("1", "I"))
        if self._next.text in _ASSIGNMENTS:
            sign = self._take().text
            return Assignment(token.line, target, sign, self.expression())
        return ExpressionStatement(token.line, target)

    def _check_supported(self) -> None:
        if self._next.kind == "name" and (instead := _UNSUPPORTED.get(self._next.text)):
            raise CError(f"{self._next.text!r} is not translated; use {instead}", self._next.line)
        if self._is("#"):
            raise CError(
                "preprocessor lines ('#') are not translated; write the code out", self._next.line
            )

    def _declaration(self, line: int, is_constant: bool) -> Declaration:
        kind = self._type()
        while self._next.text in _IGNORED:
            self._take()
        variables = []
        while True:
            name = self._name()
            length = None
            if self._accept("["):
                length = self.expression()
                self._expect("]")
            value = self.expression() if self._accept("=") else None
            variables.append(Declarator(name, length, value))
            if not self._accept(","):
                return Declaration(line, kind, tuple(variables), is_constant)

    def _name(self) -> str:
        token = self._take()
        if token.kind != "name" or token.text in TYPES:
            raise CError(f"expected a name, got {token.text!r}", token.line)
        return token.text

    def expression(self, precedence: int = 0) -> Expression:
        """Parse an expression of operators with a higher precedence than ``precedence``."""
        left = self._unary()
        while (own := _PRECEDENCE.get(self._next.text, 0)) > precedence:
            sign = self._take().text
            left = Binary(sign, left, self.expression(own))
        if precedence == 0 and self._accept("?"):
            yes = self.expression()
            self._expect(":")
            return Choice(left, yes, self.expression())
        return left

    def _unary(self) -> Expression:
        token = self._next
        if token.text in ("++", "--"):
            raise CError(f"{token.text!r} is not supported within an expression", token.line)
        if token.text in ("*", "&"):
            raise CError("pointers are not supported", token.line)
        if token.kind == "sign" and token.text in ("-", "+", "!", "~"):
            self._take()
            return Unary(token.text, self._unary())
        if self._is("(") and self._is_type(1) and self._closes_cast():
            self._take()
            kind = self._type()
            self._expect(")")
            return Cast(kind, self._unary(), token.line)
        return self._postfix()

    def _closes_cast(self) -> bool:
        after = self._tokens[self._at + 2].text
        return after == ")" or (after == "int" and self._tokens[self._at + 3].text == ")")

    def _postfix(self) -> Expression:
        found = self._primary()
        while True:
            line = self._next.line
            if self._accept("["):
                found = Index(found, self.expression(), line)
                self._expect("]")
            elif self._accept("."):
                name = self._name()
                if self._accept("("):
                    found = Call(name, self._arguments(), line, found)
                else:
                    found = Field(found, name)
            elif self._is("->"):
                raise CError("pointers are not supported", line)
            else:
                return found

    def _primary(self) -> Expression:
        self._check_supported()
        token = self._take()
        if token.kind == "number":
            return _literal(token)
        if token.text == "(":
            found = self.expression()
            self._expect(")")
            return found
        if token.text in ("true", "false"):
            return Number(token.text, "b")
        if token.text in ("static_cast", "reinterpret_cast"):
            self._expect("<")
            kind = self._type()
            self._expect(">")
            return Cast(kind, self._condition(), token.line)
        if token.kind != "name":
            found_text = repr(token.text) if token.kind else "the end"
            raise CError(f"expected an expression before {found_text}", token.line)
        name = token.text.removeprefix("std::")
        if self._accept("("):
            arguments = self._arguments()
            if name in TYPES or name in self._letters:
                if len(arguments) != 1:
                    raise CError(f"{name} takes 1 argument, got {len(arguments)}", token.line)
                return Cast(TYPES.get(name, name), arguments[0], token.line)
            return Call(name, arguments, token.line)
        return Name(name, token.line)

    def _arguments(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while not self._accept(")"):
            if found:
                self._expect(",")
            found.append(self.expression())
        return tuple(found)

    def declarations(self) -> tuple[Function | Declaration, ...]:
        """Parse the functions and constants of a preamble."""
        found: list[Function | Declaration] = []
        while self._next.kind:
            if self._accept(";"):
                continue
            line = self._next.line
            is_constant = False
            while self._next.text in _IGNORED:
                is_constant |= self._take().text in ("const", "constexpr", "__constant__")
            self._check_supported()
            if not self._is_type():
                raise CError("expected a function or a constant", line)
            if self._tokens[self._at + 2].text == "(" or self._tokens[self._at + 3].text == "(":
                found.append(self._function(line))
            else:
                found.append(self._declaration(line, True))
                self._end()
        return tuple(found)

    def _function(self, line: int) -> Function:
        kind = self._type()
        while self._next.text in _IGNORED:
            self._take()
        name = self._name()
        self._expect("(")
        parameters: list[tuple[str, str]] = []
        while not self._accept(")"):
            if parameters:
                self._expect(",")
            while self._next.text in _IGNORED:
                self._take()
            self._check_supported()
            if not self._is_type():
                raise CError(f"expected a type, got {self._next.text!r}", self._next.line)
            parameters.append((self._type(), self._name()))
        return Function(line, kind, name, tuple(parameters), self._block())


def _literal(token: Token) -> Number:
    text = token.text
    if text[:2] in ("0x", "0X"):
        digits = text.rstrip("uUlL")
        is_unsigned = "u" in text[len(digits) :].lower()
        return Number(digits + "u" * is_unsigned, "u" if is_unsigned else "I")
    digits = text.rstrip("fFuUlL")
    suffix = text[len(digits) :].lower()
    is_float = any(sign in digits for sign in ".eE")
    if is_float or "f" in suffix:
        digits = digits if is_float else f"{digits}.0"
        return Number(digits, "F")
    if len(digits) > 1 and digits[0] == "0":
        raise CError(f"{text} is octal; write it as a decimal number", token.line)
    return Number(digits + "u" * ("u" in suffix), "u" if "u" in suffix else "I")
