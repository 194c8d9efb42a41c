"""Elementwise operations of arrays: their WGSL expressions and type rules.

An expression computes vec4s of four neighbouring elements. Its key is the letter of the computation
("f", "i", "u", "b", "c", and in wide.py "I" and "U", see ElementType.computed). ``{0}``, ``{1}``
and ``{2}`` stand for the operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from browsergpu.engine.core.element_types import (
    BOOL,
    COMPLEX64,
    FLOAT32,
    INT8,
    INT32,
    INT64,
    TYPES,
    UINT32,
    UINT64,
    ElementType,
    promoted,
)
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.kernels.fused import wide

Types = tuple[ElementType, ...]
#: A function from the operands' types to the types that they are cast to first, and the result's
#: type. It returns None if the operation does not accept the types.
Rule = Callable[[Types], tuple[Types, ElementType] | None]

_BOTH_WIDE = {INT64, UINT64}


@dataclass(frozen=True, slots=True, eq=False)
class CustomCode:
    """The WGSL of a custom operation for one overload.

    Attributes
    ----------
    file : str
        The file name in compiler errors. Line numbers count from the start of ``body``.
    before, body, after : str
        The user's code, and the generated code around it. ``after`` starts with a line break.
    expression : str
        The expression that calls the code.
    recorded : str
        The user's source line that recorded the operation first.
    knows_place : bool
        Whether the code uses the index of the element.
    includes : tuple of str, optional
        The shader files that the code needs.
    """

    file: str
    before: str
    body: str
    after: str
    expression: str
    recorded: str
    knows_place: bool
    includes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Operation:
    """An elementwise operation.

    Attributes
    ----------
    name : str
        The name of the function.
    rule : callable
        The types of operands and result.
    expressions : Mapping
        The WGSL expressions by the letter of the last operand's computation. The keys "IU" and "UI"
        are for int64 with uint64.
    includes : tuple of str, optional
        The shader files that the expressions need.
    complex_includes, wide_includes : tuple of str, optional
        The same for complex numbers and for 64-bit integers.
    write : callable, optional
        A function that returns the code of a custom operation for an overload's number and types,
        instead of expressions.
    """

    name: str
    rule: Rule
    expressions: Mapping[str, str]
    includes: tuple[str, ...] = ()
    complex_includes: tuple[str, ...] = ()
    wide_includes: tuple[str, ...] = ()
    write: Callable[[int, Types], CustomCode] | None = None


def _common(types: Types) -> ElementType:
    return reduce(promoted, types)


def _to(types: Types, kind: ElementType, result: ElementType) -> tuple[Types, ElementType]:
    return (kind,) * len(types), result


def numbers(types: Types) -> tuple[Types, ElementType] | None:
    """Compute numbers in their common type, and bools in int8."""
    kind = _common(types)
    kind = INT8 if kind is BOOL else kind
    return _to(types, kind, kind)


def anything(types: Types) -> tuple[Types, ElementType] | None:
    """Compute all types in their common type."""
    kind = _common(types)
    return _to(types, kind, kind)


def signed(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`anything`, except for bool."""
    return None if _common(types) is BOOL else anything(types)


def floats(types: Types) -> tuple[Types, ElementType] | None:
    """Compute floats and complex numbers in their common type, integers and bools in float32."""
    kind = _common(types)
    kind = kind if kind.kind in "fc" else FLOAT32
    return _to(types, kind, kind)


def real_floats(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`floats`, except for complex numbers."""
    return None if _common(types) is COMPLEX64 else floats(types)


def real_numbers(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`numbers`, except for complex numbers."""
    return None if _common(types) is COMPLEX64 else numbers(types)


def real(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`anything`, except for complex numbers."""
    return None if _common(types) is COMPLEX64 else anything(types)


def whole(types: Types) -> tuple[Types, ElementType] | None:
    """Compute integers and bools in their common type."""
    kind = _common(types)
    return anything(types) if kind.kind in "biu" else None


def whole_numbers(types: Types) -> tuple[Types, ElementType] | None:
    """Compute integers in their common type, and bools in int8."""
    kind = _common(types)
    return numbers(types) if kind.kind in "biu" else None


def comparison(types: Types) -> tuple[Types, ElementType] | None:
    """Compare in the common type and return bool.

    int64 and uint64 have no common integer type, so they are not cast.
    """
    if {*types} == _BOTH_WIDE:
        return types, BOOL
    return _to(types, _common(types), BOOL)


def order(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`comparison`, except for complex numbers."""
    return None if _common(types) is COMPLEX64 else comparison(types)


def truths(types: Types) -> tuple[Types, ElementType] | None:
    """Cast all types to bool and return bool."""
    return _to(types, BOOL, BOOL)


def magnitude(types: Types) -> tuple[Types, ElementType] | None:
    """Return float32 for complex numbers, and other types unchanged."""
    (kind,) = types
    return types, FLOAT32 if kind is COMPLEX64 else kind


def choice(types: Types) -> tuple[Types, ElementType] | None:
    """Choose by a bool between two values, in their common type."""
    kind = promoted(types[1], types[2])
    return (BOOL, kind, kind), kind


def _parts(types: Types) -> tuple[Types, ElementType] | None:
    """Join two floats to a complex number."""
    return None if _common(types).kind != "f" else ((FLOAT32, FLOAT32), COMPLEX64)


def _wide(types: Types) -> Types:
    """Return the first operand's type, widened to at least 32 bits, for all operands."""
    if types[0].bits == INT64.bits:
        return (types[0],) * len(types)
    return (UINT32 if types[0].kind == "u" else INT32,) * len(types)


def _all(expression: str, kinds: str = "fiu") -> dict[str, str]:
    return dict.fromkeys(kinds, expression)


_INTEGERS = ("lib/fused/integers.wgsl",)
_EXTREMES = ("lib/fused/extremes.wgsl",)


def _math(*names: str) -> tuple[str, ...]:
    return tuple(f"lib/math/{name}.wgsl" for name in names)


def _complex(*names: str) -> tuple[str, ...]:
    return tuple(f"lib/complex/{name}.wgsl" for name in names)


def _compared(name: str, sign: str) -> Operation:
    return Operation(name, order, _all(f"({{0}} {sign} {{1}})") | {
        "b": f"(vec4u({{0}}) {sign} vec4u({{1}}))",
    })  # fmt: skip


def _function(name: str, file: str, complex_file: str) -> Operation:
    """Return a function of a float or complex number, by its files in lib/math and lib/complex."""
    expressions = {"f": f"np_{name}({{0}})", "c": f"c_{name}({{0}})"}
    return Operation(name, floats, expressions, _math(file), _complex(complex_file))


_ROWS = (
    Operation("add", anything, _all("({0} + {1})") | {
        "b": "({0} | {1})", "c": "c_add({0}, {1})",
    }),
    Operation("subtract", signed, _all("({0} - {1})") | {"c": "c_subtract({0}, {1})"}),
    Operation("multiply", anything, _all("({0} * {1})") | {
        "b": "({0} & {1})", "c": "c_multiply({0}, {1})",
    }),
    Operation("divide", floats, {"f": "np_divide({0}, {1})", "c": "c_divide({0}, {1})"},
        _math("quotients"), _complex("quotients")),
    Operation("floor_divide", real_numbers, {
        "f": "np_floor_divide({0}, {1})",
        "i": "floor_divide_signed({0}, {1})",
        "u": "floor_divide_unsigned({0}, {1})",
    }, (*_math("remainders"), *_INTEGERS)),
    Operation("remainder", real_numbers, {
        "f": "np_remainder({0}, {1})",
        "i": "remainder_signed({0}, {1})",
        "u": "remainder_unsigned({0}, {1})",
    }, (*_math("remainders"), *_INTEGERS)),
    Operation("maximum", real, {
        "f": "maximum({0}, {1})", "b": "({0} | {1})", **_all("max({0}, {1})", "iu"),
    }, _EXTREMES),
    Operation("minimum", real, {
        "f": "minimum({0}, {1})", "b": "({0} & {1})", **_all("min({0}, {1})", "iu"),
    }, _EXTREMES),
    Operation("negative", signed, {
        "f": "(-{0})", "i": "(-{0})", "u": "(~{0} + vec4u(1u))", "c": "c_negative({0})",
    }),
    Operation("positive", signed, _all("{0}", "fiuc")),
    Operation("abs", magnitude, {
        # NVIDIA's compiler (580.159) compiles max(abs(a), b) of integers to max(a, b).
        "f": "abs({0})", "i": "select({0}, -{0}, {0} < vec4i())", "u": "{0}", "b": "{0}",
        "c": "np_hypot({0}.re, {0}.im)",
    }, complex_includes=_math("roots")),
    Operation("square", numbers, _all("({0} * {0})") | {"c": "c_multiply({0}, {0})"}),
    _function("sqrt", "roots", "roots"),
    _function("reciprocal", "quotients", "quotients"),
    Operation("floor", real, {"f": "np_floor({0})", **_all("{0}", "iub")}, _math("rounding")),
    Operation("ceil", real, {"f": "np_ceil({0})", **_all("{0}", "iub")}, _math("rounding")),
    Operation("trunc", real, {"f": "np_trunc({0})", **_all("{0}", "iub")}, _math("rounding")),
    Operation("round", signed, {
        "f": "np_round({0})", "c": "C(np_round({0}.re), np_round({0}.im))", **_all("{0}", "iu"),
    }, _math("rounding"), _math("rounding")),
    Operation("sign", signed, {
        "f": "np_sign({0})", "i": "sign({0})", "u": "min({0}, vec4u(1u))",
        "c": "c_sign({0})",
    }, _math("signs"), _complex("quotients")),
    Operation("copysign", real_floats, {"f": "np_copysign({0}, {1})"}, _math("signs")),
    Operation("signbit", lambda types: (types, BOOL) if types[0].kind == "f" else None, {
        "f": "np_signbit({0})",
    }, _math("signs")),
    Operation("isnan", lambda types: (types, BOOL), {
        "f": "np_isnan({0})", "c": "c_isnan({0})",
        **_all("vec4<bool>()", "iub"),
    }, _math("signs"), _complex("parts")),
    Operation("isinf", lambda types: (types, BOOL), {
        "f": "np_isinf({0})", "c": "c_isinf({0})",
        **_all("vec4<bool>()", "iub"),
    }, _math("signs"), _complex("parts")),
    Operation("isfinite", lambda types: (types, BOOL), {
        "f": "np_isfinite({0})", "c": "c_isfinite({0})",
        **_all("vec4<bool>(true)", "iub"),
    }, _math("signs"), _complex("parts")),
    Operation("equal", comparison, _all("({0} == {1})", "fiub") | {
        "b": "({0} == {1})", "c": "(({0}.re == {1}.re) & ({0}.im == {1}.im))",
    }),
    Operation("not_equal", comparison, _all("({0} != {1})", "iub") | {
        "f": "!({0} == {1})", "c": "!(({0}.re == {1}.re) & ({0}.im == {1}.im))",
    }),
    _compared("less", "<"),
    _compared("less_equal", "<="),
    _compared("greater", ">"),
    _compared("greater_equal", ">="),
    Operation("logical_and", truths, {"b": "({0} & {1})"}),
    Operation("logical_or", truths, {"b": "({0} | {1})"}),
    Operation("logical_xor", truths, {"b": "({0} != {1})"}),
    Operation("logical_not", truths, {"b": "!{0}"}),
    Operation("bitwise_and", whole, _all("({0} & {1})", "iub")),
    Operation("bitwise_or", whole, _all("({0} | {1})", "iub")),
    Operation("bitwise_xor", whole, {**_all("({0} ^ {1})", "iu"), "b": "({0} != {1})"}),
    Operation("bitwise_invert", whole, {**_all("(~{0})", "iu"), "b": "!{0}"}),
    Operation("bitwise_left_shift", whole_numbers, {
        "i": "shift_left_signed({0}, {1})", "u": "shift_left_unsigned({0}, {1})",
    }, _INTEGERS),
    Operation("bitwise_right_shift", whole_numbers, {
        "i": "shift_right_signed({0}, {1})", "u": "shift_right_unsigned({0}, {1})",
    }, _INTEGERS),
    Operation("real", magnitude, {"c": "{0}.re", **_all("{0}", "fiub")}),
    Operation("imag", magnitude, {
        "c": "{0}.im", "f": "vec4f()", "i": "vec4i()", "u": "vec4u()", "b": "vec4<bool>()",
    }),
    Operation("complex", _parts, {"f": "C({0}, {1})"}),
    Operation("conj", signed, {"c": "C({0}.re, -{0}.im)", **_all("{0}")}),
    Operation("where", choice, {
        **_all("select({2}, {1}, {0})", "fiub"), "c": "c_select({2}, {1}, {0})",
    }),
    Operation("pow", numbers, {
        "f": "np_pow({0}, {1})", "i": "power_signed({0}, {1})", "u": "power_unsigned({0}, {1})",
        "c": "c_pow({0}, {1})",
    }, (*_math("powers"), *_INTEGERS), _complex("powers")),
    *(
        _function(name, file, complex_file)
        for file, complex_file, names in (
            ("trigonometry", "hyperbolic", ("sin", "cos", "tan")),
            ("arcs", "arcs", ("asin", "acos", "atan")),
            ("hyperbolic", "hyperbolic", ("sinh", "cosh", "tanh")),
            ("inverse_hyperbolic", "arcs", ("asinh", "acosh", "atanh")),
            ("exponentials", "exponentials", ("exp", "expm1")),
            ("logarithms", "logarithms", ("log", "log1p", "log2", "log10")),
        )
        for name in names
    ),
    *(
        Operation(name, real_floats, {"f": f"np_{name}({{0}})"}, _math("gelu"))
        for name in ("gelu", "gelu_tanh", "ndtr", "sigmoid", "silu")
    ),
    Operation("erf", real_floats, {"f": "np_erf({0})"}, ("lib/special/errors.wgsl",)),
    Operation("relu", real_floats, {"f": "maximum({0}, vec4f())"}, _EXTREMES),
    *(
        Operation(name, real_floats, {"f": f"np_{name}({{0}}, {{1}})"}, _math(file))
        for name, file in {
            "atan2": "arcs", "hypot": "roots", "logaddexp": "logarithms", "nextafter": "signs",
        }.items()
    ),
)  # fmt: skip


def _with_wide(row: Operation) -> Operation:
    """Add the expressions for 64-bit integers, if there are any."""
    found = wide.EXPRESSIONS.get(row.name)
    if found is None:
        return row
    both = {**row.expressions, **found.by_letter}
    return replace(row, expressions=both, wide_includes=found.includes)


OPERATIONS: Mapping[str, Operation] = {row.name: _with_wide(row) for row in _ROWS}

#: The position of an index on an axis of a given extent, clamped to the axis.
PLACE_OF_INDEX = _with_wide(Operation("index", lambda types: (_wide(types), UINT32), {
    "i": "places_of_signed({0}, {1})", "u": "places_of_unsigned({0}, {1})",
}, ("lib/fused/places.wgsl",)))  # fmt: skip

#: :data:`PLACE_OF_INDEX` with a check. Its operands are the index, the extent, the number of the
#: check and, as a loaded array, the buffer that records an index out of bounds. Body writes its
#: expression.
CHECKED_PLACE = Operation(
    "index", lambda types: (_wide(types), UINT32), {}, ("lib/fused/faults.wgsl",),
    wide_includes=("lib/wide/faults.wgsl",),
)  # fmt: skip

#: Whether an index is within an axis of a given extent.
IS_INSIDE = _with_wide(Operation("is_inside", lambda types: (_wide(types), BOOL), {
    "i": "is_inside_signed({0}, {1})", "u": "({0} < {1})",
}, ("lib/fused/inside.wgsl",)))  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """An operation for operands of given types.

    Attributes
    ----------
    number : int
        The number of the overload in the entries of traces.
    operation : Operation
        The operation.
    given, cast_to : tuple of ElementType
        The types of the operands, before and after their casts.
    result : ElementType
        The type of the result.
    custom : CustomCode or None
        The code of a custom operation.
    """

    number: int
    operation: Operation
    given: Types
    cast_to: Types
    result: ElementType
    custom: CustomCode | None = None

    @property
    def expression(self) -> str:
        """The WGSL expression, or "" for a cast."""
        if self.custom is not None:
            return self.custom.expression
        letters = "".join(kind.computed for kind in self.cast_to)
        last = letters if {*self.cast_to} == _BOTH_WIDE else letters[-1]
        return self.operation.expressions.get(last, "")

    @property
    def includes(self) -> tuple[str, ...]:
        """The shader files that the expression needs."""
        if self.custom is not None:
            return self.custom.includes
        if self.cast_to[-1].computed == "c":
            return self.operation.complex_includes
        if self.cast_to[-1].computed in "IU":
            return self.operation.wide_includes
        return self.operation.includes


#: Maximum of overloads, so that their entries fit 16 bits. Typical programs have hundreds.
MOST_OVERLOADS = 65_000

#: Overloads by number, and by operation and types. They are created on first use.
_made: list[Overload] = []
_known: dict[tuple[Operation, Types], Overload | None] = {}
_casts = {kind: Operation("astype", anything, {}) for kind in TYPES}


def overload(name: str, types: Types) -> Overload | None:
    """Return an operation's overload for these types, or None if it does not accept them."""
    return overload_of(OPERATIONS[name], types)


def resolved(name: str, types: Types) -> Overload:
    """Return an operation's overload for types that it accepts."""
    found = overload(name, types)
    assert found is not None, f"{name} does not accept {types}"
    return found


def overload_of(operation: Operation, types: Types) -> Overload | None:
    """Like :func:`overload`, for any operation."""
    key = operation, types
    if key not in _known:
        found = operation.rule(types)
        _known[key] = None if found is None else _make(operation, types, *found)
    return _known[key]


def cast(source: ElementType, target: ElementType) -> Overload:
    """Return the overload that casts between types."""
    key = _casts[target], (source,)
    if key not in _known:
        _known[key] = _make(_casts[target], (source,), (target,), target)
    made = _known[key]
    assert made is not None
    return made


def numbered(number: int) -> Overload:
    """Return an overload by its number."""
    return _made[number]


def _make(operation: Operation, given: Types, cast_to: Types, result: ElementType) -> Overload:
    number = len(_made)
    if number >= MOST_OVERLOADS:
        raise InvalidArgument(operation.name, "kernels", number, f"at most {MOST_OVERLOADS}")
    written = None if operation.write is None else operation.write(number, cast_to)
    made = Overload(number, operation, given, cast_to, result, written)
    _made.append(made)
    return made
