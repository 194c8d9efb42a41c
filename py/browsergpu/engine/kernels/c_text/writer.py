"""Writer of WGSL from a syntax tree of C. C's implicit conversions become explicit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.c_text import functions
from browsergpu.engine.kernels.c_text.tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Cast,
    CError,
    Choice,
    Declaration,
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

#: The WGSL types of the kinds. A kind is the letter of a computation, see ElementType.computed.
WGSL = {"f": "f32", "i": "i32", "u": "u32", "b": "bool", "c": "vec2f"}
#: Order of the kinds in conversions between operands. Literals adapt to the other operand.
_RANKS = {"b": 0, "I": 1, "i": 2, "u": 3, "F": 4, "f": 5, "c": 6}
#: Names that WGSL reserves and C programs use.
RESERVED = frozenset((
    "active", "alias", "as", "async", "auto", "await", "class", "common", "const_cast", "default",
    "delete", "diagnostic", "discard", "do", "enum", "explicit", "export", "extends", "extern",
    "external", "fallthrough", "filter", "final", "finally", "fn", "friend", "from", "get",
    "goto", "handle", "highp", "impl", "implements", "import", "inline", "interface",
    "instanceof", "let", "loop", "lowp", "macro", "match", "mediump", "meta", "mod", "module",
    "move", "mut", "mutable", "namespace", "new", "nil", "null", "of", "override", "package",
    "packoffset", "pass", "patch", "pixelfragment", "precise", "precision", "premerge", "priv",
    "protected", "pub", "public", "readonly", "ref", "regardless", "register", "require",
    "requires", "resource", "restrict", "self", "set", "shared", "sizeof", "smooth", "snorm",
    "static", "super", "target", "template", "this", "throw", "trait", "try", "type", "typename",
    "typeof", "union", "unless", "unorm", "unsafe", "use", "using", "var", "varying", "virtual",
    "volatile", "where", "with", "writeonly", "yield",
))  # fmt: skip
_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")


@dataclass(frozen=True, slots=True)
class Text:
    """An expression in WGSL and its kind, "?" if unknown."""

    text: str
    kind: str


@dataclass(slots=True)
class Scope:
    """Meanings of names: kinds of values and of arrays' elements, template types, functions."""

    values: dict[str, str]
    arrays: dict[str, str] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    #: Names that are replaced in WGSL.
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: Shader files with the functions that the text calls.
    includes: set[str] = field(default_factory=set)

    def inner(self) -> Scope:
        """Return the scope of a block."""
        return Scope(
            dict(self.values), dict(self.arrays), self.letters, self.functions, self.renamed,
            self.includes,
        )  # fmt: skip

    def kind(self, name: str) -> str:
        """Return the kind in which a type is computed."""
        return self.letters.get(name, name)


class Writer(Shown):
    """Writer of statements, each on the same line as in the C text."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._pieces: list[str] = []
        self._line = 1
        self._result = ""

    def text(self) -> str:
        """Return the written text."""
        return "".join(self._pieces)

    def _put(self, text: str, line: int = 0) -> None:
        if line > self._line:
            self._pieces.append("\n" * (line - self._line))
            self._line = line
        self._pieces.append(text + " ")

    def statements(self, several: Sequence[Statement]) -> None:
        """Write statements."""
        for one in several:
            self._statement(one)

    def function(self, made: Function) -> None:
        """Write a function of a preamble."""
        outer, self._scope = self._scope, self._scope.inner()
        scope = self._scope
        parameters = []
        for kind, name in made.parameters:
            computed = scope.kind(kind)
            scope.values[name] = computed
            parameters.append(f"{name}_given: {WGSL[computed]}")
        self._result = scope.kind(made.kind)
        after = f" -> {WGSL[self._result]}" if self._result else ""
        name = scope.renamed.get(made.name, made.name)
        self._put(f"fn {name}({', '.join(parameters)}){after} {{", made.line)
        for _, own in made.parameters:  # C functions may change their parameters
            self._put(f"var {own} = {own}_given;")
        self.statements(made.body.statements)
        self._put("}")
        self._scope, self._result = outer, ""

    def _block(self, block: Block) -> None:
        outer, self._scope = self._scope, self._scope.inner()
        self._put("{", block.line)
        self.statements(block.statements)
        self._put("}")
        self._scope = outer

    def _statement(self, one: Statement) -> None:
        if isinstance(one, Declaration):
            self.declaration(one)
        elif isinstance(one, Assignment):
            self._put(f"{self._assignment(one)};", one.line)
        elif isinstance(one, ExpressionStatement):
            value = self._expression(one.value)
            called = value.text if isinstance(one.value, Call) else f"_ = {value.text}"
            self._put(f"{called};", one.line)
        elif isinstance(one, Block):
            self._block(one)
        elif isinstance(one, If):
            self._put(f"if ({self._truth(one.condition)})", one.line)
            self._block(one.yes)
            if one.no is not None:
                self._put("else")
                if isinstance(one.no, If):
                    self._statement(one.no)
                else:
                    self._block(one.no)
        elif isinstance(one, For):
            self._for(one)
        elif isinstance(one, While):
            self._while(one)
        else:
            self._jump(one)

    def _jump(self, one: Jump) -> None:
        if one.word == "return" and not self._result and one.value is not None:
            raise CError("'return' with a value is not supported; assign to an output", one.line)
        if one.word == "return" and not self._result:
            raise CError("'return' is not supported here; use if", one.line)
        value = ""
        if one.value is not None:
            value = f" {self._as(self._expression(one.value), self._result)}"
        self._put(f"{one.word}{value};", one.line)

    def declaration(self, one: Declaration, word: str = "var") -> None:
        """Write variables, or constants of a preamble."""
        kind = self._scope.kind(one.kind)
        if not kind:
            raise CError("the type of a variable must not be 'void'", one.line)
        for variable in one.variables:
            name = self._scope.renamed.get(variable.name, variable.name)
            if name in RESERVED:
                name = f"{name}_"
                self._scope.renamed = {**self._scope.renamed, variable.name: name}
            if variable.length is not None:
                if variable.value is not None:
                    raise CError(
                        "array initializers are not supported; assign the elements", one.line
                    )
                length = self._expression(variable.length).text
                self._put(f"var {name}: array<{WGSL[kind]}, {length}>;", one.line)
                self._scope.arrays[variable.name] = kind
                continue
            first = ""
            if variable.value is not None:
                first = f" = {self._as(self._expression(variable.value), kind)}"
            elif word == "const":
                raise CError(f"the constant {variable.name} needs a value", one.line)
            self._put(f"{word} {name}: {WGSL[kind]}{first};", one.line)
            self._scope.values[variable.name] = kind
            self._scope.arrays.pop(variable.name, None)

    def _for(self, one: For) -> None:
        outer, self._scope = self._scope, self._scope.inner()
        self._put("{", one.line)
        if one.first is not None:
            self._statement(one.first)
        condition = "true" if one.condition is None else self._truth(one.condition)
        after = ""
        if isinstance(one.next, Assignment):
            after = self._assignment(one.next)
        elif one.next is not None:
            raise CError("the last part of 'for' must be an assignment", one.line)
        self._put(f"for (; {condition}; {after})")
        self._block(one.body)
        self._put("}")
        self._scope = outer

    def _while(self, one: While) -> None:
        condition = self._truth(one.condition)
        if not one.is_after:
            self._put(f"while ({condition})", one.line)
            self._block(one.body)
            return
        self._put("loop {", one.line)
        outer, self._scope = self._scope, self._scope.inner()
        self.statements(one.body.statements)
        self._scope = outer
        self._put(f"continuing {{ break if !({condition}); }} }}")

    def _assignment(self, one: Assignment) -> str:
        target, value = self._expression(one.target), self._expression(one.value)
        kind = target.kind
        if isinstance(one.target, Index) and kind == "b" and self._is_raw(one.target):
            place = target.text.removesuffix(" != 0u)").removeprefix("(")
            if one.sign != "=":
                raise CError("elements of bool arrays support only '='", one.line)
            return f"{place} = u32({self._as(value, 'b')})"
        if one.sign == "=":
            return f"{target.text} = {self._as(value, kind)}"
        common = self._operation(one.sign[:-1], target, value)
        if common.kind == kind:
            sign = one.sign[:-1]
            amount = self._as(value, "u" if sign in ("<<", ">>") else kind)
            return f"{target.text} {one.sign} {amount}"
        return f"{target.text} = {self._as(common, kind)}"

    def _is_raw(self, one: Index) -> bool:
        return isinstance(one.array, Name) and f"raw {one.array.text}" in self._scope.values

    def _truth(self, one: Expression) -> str:
        return self._as(self._expression(one), "b")

    def _as(self, value: Text, kind: str) -> str:
        """Convert a value to a kind."""
        if value.kind == kind or "?" in (value.kind, kind):
            return value.text
        if kind == "c":
            return f"vec2f({self._as(value, 'f')}, 0.0)"
        if value.kind == "c":
            return self._as(Text(f"{value.text}.x", "f"), kind)
        if value.kind == "I" and kind in "fiu" and not value.text.startswith("-"):
            return value.text if kind != "f" or not value.text.isdigit() else f"{value.text}.0"
        if value.kind == "F" and kind == "f":
            return value.text
        return f"{WGSL[kind]}({value.text})"

    def _expression(self, one: Expression) -> Text:
        if isinstance(one, Number):
            return Text(one.text, one.kind)
        if isinstance(one, Name):
            return self._name(one)
        if isinstance(one, Unary):
            return self._unary(one)
        if isinstance(one, Binary):
            return self._operation(
                one.sign, self._expression(one.left), self._expression(one.right)
            )
        if isinstance(one, Choice):
            yes, no = self._expression(one.yes), self._expression(one.no)
            kind = _common(yes.kind, no.kind)
            kind = {"I": "i", "F": "f"}.get(kind, kind)
            truth = self._truth(one.condition)
            return Text(f"select({self._as(no, kind)}, {self._as(yes, kind)}, {truth})", kind)
        if isinstance(one, Cast):
            return self._cast(one)
        if isinstance(one, Call):
            return self._call(one)
        if isinstance(one, Index):
            return self._index(one)
        return self._field(one)

    def _name(self, one: Name) -> Text:
        scope = self._scope
        if one.text == "i" and scope.values.get("i") == "place":
            return Text("i32(i)", "i")
        if one.text in scope.arrays:
            raise CError(f"{one.text} is an array; use its elements, {one.text}[...]", one.line)
        if one.text in functions.CONSTANTS and one.text not in scope.values:
            return Text(functions.CONSTANTS[one.text], "F")
        return Text(scope.renamed.get(one.text, one.text), scope.values.get(one.text, "?"))

    def _unary(self, one: Unary) -> Text:
        value = self._expression(one.operand)
        if one.sign == "!":
            return Text(f"!({self._as(value, 'b')})", "b")
        if value.kind == "b":
            value = Text(self._as(value, "i"), "i")
        if one.sign == "+":
            return value
        if one.sign == "-" and value.kind == "u":
            return Text(f"(0u - {value.text})", "u")
        return Text(f"({one.sign}{value.text})", value.kind)

    def _operation(self, sign: str, left: Text, right: Text) -> Text:
        if sign in ("&&", "||"):
            return Text(f"({self._as(left, 'b')} {sign} {self._as(right, 'b')})", "b")
        if sign in ("<<", ">>"):
            if left.kind in "bI":
                left = Text(self._as(left, "i"), "i")
            return Text(f"({left.text} {sign} {self._as(right, 'u')})", left.kind)
        both_bool = left.kind == right.kind == "b"
        if both_bool and sign in ("&", "|", "==", "!="):
            return Text(f"({left.text} {sign} {right.text})", "b")
        kind = _common(left.kind, right.kind)
        kind = "i" if kind == "b" else kind
        if kind == "c" and sign in "*/":
            name = "complex_product" if sign == "*" else "complex_quotient"
            self._scope.includes.add("lib/c_text.wgsl")
            pair = f"{self._as(left, 'c')}, {self._as(right, 'c')}"
            return Text(f"{name}({pair})", "c")
        text = f"({self._beside(left, kind)} {sign} {self._beside(right, kind)})"
        if sign == "%" and kind in "fF":
            raise CError("'%' takes integers; use fmod for floats", 1)
        return Text(text, "b" if sign in _COMPARISONS else kind)

    def _beside(self, value: Text, kind: str) -> str:
        """Convert an operand of an operation that is computed in ``kind``."""
        if value.kind in "IF" and (kind in "IF" or (value.kind == "I" and kind in "iuf")):
            return value.text
        return self._as(value, {"I": "i", "F": "f"}.get(kind, kind))

    def _cast(self, one: Cast) -> Text:
        kind = self._scope.kind(one.kind)
        if kind not in WGSL:
            raise CError(f"cannot cast to {one.kind!r}", one.line)
        value = self._expression(one.operand)
        if value.kind == kind:
            return value
        text = self._as(value, kind)
        return Text(text if text.endswith(")") else f"{WGSL[kind]}({value.text})", kind)

    def _index(self, one: Index) -> Text:
        if not isinstance(one.array, Name) or one.array.text not in self._scope.arrays:
            name = one.array.text if isinstance(one.array, Name) else "this expression"
            raise CError(f"{name} is not a raw parameter or an array", one.line)
        name, at = one.array.text, self._expression(one.at)
        kind = self._scope.arrays[name]
        place = at.text if at.kind in "uI" and not at.text.startswith("(-") else f"u32({at.text})"
        text = f"{self._scope.renamed.get(name, name)}[{place}]"
        if kind == "b" and self._is_raw(one):
            return Text(f"({text} != 0u)", "b")
        return Text(text, kind)

    def _field(self, one: Field) -> Text:
        owner = self._expression(one.owner)
        if owner.kind == "c" and one.name in "xy":
            return Text(f"{owner.text}.{one.name}", "f")
        return Text(f"{owner.text}.{one.name}", "?")

    def _call(self, one: Call) -> Text:
        scope = self._scope
        if one.owner is not None:
            return self._method(one)
        arguments = [self._expression(argument) for argument in one.arguments]
        if one.function in scope.functions:
            made = scope.functions[one.function]
            if len(arguments) != len(made.parameters):
                count = len(made.parameters)
                raise CError(
                    f"{one.function} takes {count} arguments, got {len(arguments)}", one.line
                )
            given = [
                self._as(value, scope.kind(kind))
                for value, (kind, _) in zip(arguments, made.parameters, strict=True)
            ]
            name = scope.renamed.get(made.name, made.name)
            return Text(f"{name}({', '.join(given)})", scope.kind(made.kind))
        known = functions.known(one.function, len(arguments))
        if known is None:
            if one.function.startswith("atomic") or one.function.startswith("__"):
                raise CError(f"{one.function} is not translated; use RawKernel", one.line)
            name = scope.renamed.get(one.function, one.function)
            return Text(f"{name}({', '.join(value.text for value in arguments)})", "?")
        scope.includes.update(known.includes)
        kind = known.kind
        if not kind:  # the operands' kind
            for value in arguments:
                kind = _common(kind or value.kind, value.kind)
            kind = {"I": "i", "F": "f", "b": "i"}.get(kind, kind)
        given = [self._as(value, known.takes or kind) for value in arguments]
        return Text(known.text.format(*given), kind)

    def _method(self, one: Call) -> Text:
        assert one.owner is not None
        owner = one.owner
        if isinstance(owner, Name) and one.function == "size":
            if owner.text in self._scope.arrays:
                name = self._scope.renamed.get(owner.text, owner.text)
                return Text(f"i32(arrayLength(&{name}))", "i")
            if owner.text == "_ind":
                return Text("i32(params.n)", "i")
        value = self._expression(owner)
        if value.kind == "c" and one.function in ("real", "imag"):
            return Text(f"{value.text}.{'xy'[one.function == 'imag']}", "f")
        raise CError(f"{one.function}() is not translated", one.line)


def _common(a: str, b: str) -> str:
    """Return the kind in which C computes an operation of two kinds."""
    if "?" in (a, b):
        return "?"
    if {a, b} == {"F", "i"} or {a, b} == {"F", "u"} or {a, b} == {"F", "b"}:
        return "f"
    return a if _RANKS[a] >= _RANKS[b] else b
