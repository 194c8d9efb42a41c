"""The elementwise operations of arrays: what each is in WGSL, and which types it takes and gives.

An expression is of vec4s, four neighbouring elements at once, by what they are computed in ("f",
"i", "u", "b", "c", and in wide.py "I", "U": see ElementType). ``{0}``, ``{1}`` and ``{2}`` are its
operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from browsergpu.core.element_types import (
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
from browsergpu.core.errors import InvalidArgument
from browsergpu.kernels.fused import wide

Types = tuple[ElementType, ...]
#: The operands' types as they come -> those that they are cast to first, and the result's; None
#: where the operation has no such operands.
Rule = Callable[[Types], tuple[Types, ElementType] | None]

_BOTH_WIDE = {INT64, UINT64}


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """WGSL that somebody wrote for one overload: ``body``, between the lines before it and those
    after it, which begin with a line break; errors in it are told by ``file`` and its lines, and
    where it was first ``recorded``. ``knows_place``: it names the element's place in the result."""

    file: str
    before: str
    body: str
    after: str
    expression: str
    recorded: str
    knows_place: bool
    #: The shader files that it needs.
    includes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation. ``expressions`` by what the last operand is computed in, or both where they
    are of int64 and uint64; ``includes`` are the shader files that they need, but for those of
    complex numbers and of 64 bits, which need ``of_complex`` and ``of_wide``."""

    name: str
    rule: Rule
    expressions: Mapping[str, str]
    includes: tuple[str, ...] = ()
    of_complex: tuple[str, ...] = ()
    of_wide: tuple[str, ...] = ()
    #: Instead of expressions, what makes the text of an overload of its number and types.
    write: Callable[[int, Types], Written] | None = None


def _common(types: Types) -> ElementType:
    return reduce(promoted, types)


def _to(types: Types, kind: ElementType, result: ElementType) -> tuple[Types, ElementType]:
    return (kind,) * len(types), result


def numbers(types: Types) -> tuple[Types, ElementType] | None:
    """Numbers give their common type; bools count as numbers nowhere else than in int8."""
    kind = _common(types)
    kind = INT8 if kind is BOOL else kind
    return _to(types, kind, kind)


def anything(types: Types) -> tuple[Types, ElementType] | None:
    """Numbers or bools give their common type."""
    kind = _common(types)
    return _to(types, kind, kind)


def signed(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`anything` but bool."""
    return None if _common(types) is BOOL else anything(types)


def floats(types: Types) -> tuple[Types, ElementType] | None:
    """Floats and complex numbers give their common type; whole numbers and bools float32."""
    kind = _common(types)
    kind = kind if kind.kind in "fc" else FLOAT32
    return _to(types, kind, kind)


def real_floats(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`floats`, but not complex numbers."""
    return None if _common(types) is COMPLEX64 else floats(types)


def real_numbers(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`numbers`, but not complex numbers."""
    return None if _common(types) is COMPLEX64 else numbers(types)


def real(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`anything`, but not complex numbers."""
    return None if _common(types) is COMPLEX64 else anything(types)


def whole(types: Types) -> tuple[Types, ElementType] | None:
    """Whole numbers and bools give their common type."""
    kind = _common(types)
    return anything(types) if kind.kind in "biu" else None


def whole_numbers(types: Types) -> tuple[Types, ElementType] | None:
    """Whole numbers, bools as int8, give their common type."""
    kind = _common(types)
    return numbers(types) if kind.kind in "biu" else None


def comparison(types: Types) -> tuple[Types, ElementType] | None:
    """Anything gives bool, compared in the common type; int64 and uint64, which have none of whole
    numbers, as they are."""
    if {*types} == _BOTH_WIDE:
        return types, BOOL
    return _to(types, _common(types), BOOL)


def order(types: Types) -> tuple[Types, ElementType] | None:
    """:func:`comparison`, but not of complex numbers."""
    return None if _common(types) is COMPLEX64 else comparison(types)


def truths(types: Types) -> tuple[Types, ElementType] | None:
    """The truth of anything gives bool."""
    return _to(types, BOOL, BOOL)


def magnitude(types: Types) -> tuple[Types, ElementType] | None:
    """Complex numbers give float32, others their own type."""
    (kind,) = types
    return types, FLOAT32 if kind is COMPLEX64 else kind


def choice(types: Types) -> tuple[Types, ElementType] | None:
    """A truth, and two of anything, which give their common type."""
    kind = promoted(types[1], types[2])
    return (BOOL, kind, kind), kind


def _wide(types: Types) -> Types:
    """Whole numbers of 32 bits or more: unsigned ones where the first operand is so."""
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


def _function(name: str, file: str, of_complex: str) -> Operation:
    """A function of one float or complex number, and its files in lib/math/ and lib/complex/."""
    expressions = {"f": f"np_{name}({{0}})", "c": f"c_{name}({{0}})"}
    return Operation(name, floats, expressions, _math(file), _complex(of_complex))


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
        # NVIDIA's compiler (580.159) takes max(abs(a), b) of integers for max(a, b).
        "f": "abs({0})", "i": "select({0}, -{0}, {0} < vec4i())", "u": "{0}", "b": "{0}",
        "c": "np_hypot({0}.re, {0}.im)",
    }, of_complex=_math("roots")),
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
    Operation("conj", signed, {"c": "C({0}.re, -{0}.im)", **_all("{0}")}),
    Operation("where", choice, {
        **_all("select({2}, {1}, {0})", "fiub"), "c": "c_select({2}, {1}, {0})",
    }),
    Operation("pow", numbers, {
        "f": "np_pow({0}, {1})", "i": "power_signed({0}, {1})", "u": "power_unsigned({0}, {1})",
        "c": "c_pow({0}, {1})",
    }, (*_math("powers"), *_INTEGERS), _complex("powers")),
    *(
        _function(name, file, of_complex)
        for file, of_complex, names in (
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
    Operation("relu", real_floats, {"f": "maximum({0}, vec4f())"}, _EXTREMES),
    *(
        Operation(name, real_floats, {"f": f"np_{name}({{0}}, {{1}})"}, _math(file))
        for name, file in {
            "atan2": "arcs", "hypot": "roots", "logaddexp": "logarithms", "nextafter": "signs",
        }.items()
    ),
)  # fmt: skip


def _also_wide(row: Operation) -> Operation:
    """An operation that knows whole numbers of 64 bits, where there is such a one."""
    found = wide.EXPRESSIONS.get(row.name)
    if found is None:
        return row
    both = {**row.expressions, **found.by_letter}
    return replace(row, expressions=both, of_wide=found.includes)


OPERATIONS: Mapping[str, Operation] = {row.name: _also_wide(row) for row in _ROWS}

#: Of an index and its axis' extent, where it is on that: a place inside.
PLACE_OF_INDEX = _also_wide(Operation("index", lambda types: (_wide(types), UINT32), {
    "i": "places_of_signed({0}, {1})", "u": "places_of_unsigned({0}, {1})",
}, ("lib/fused/places.wgsl",)))  # fmt: skip


#: :data:`PLACE_OF_INDEX` of an index, the axis' extent, the check's number and, as a loaded array,
#: the buffer that an index outside is noted in. Body writes its text.
CHECKED_PLACE = Operation(
    "index", lambda types: (_wide(types), UINT32), {}, ("lib/fused/faults.wgsl",),
    of_wide=("lib/wide/faults.wgsl",),
)  # fmt: skip

#: Whether an index is on an axis of an extent.
IS_INSIDE = _also_wide(Operation("is_inside", lambda types: (_wide(types), BOOL), {
    "i": "is_inside_signed({0}, {1})", "u": "({0} < {1})",
}, ("lib/fused/inside.wgsl",)))  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """An operation on operands of certain types. ``number`` stands for it on a tape."""

    number: int
    operation: Operation
    given: Types
    cast_to: Types
    result: ElementType
    written: Written | None = None

    @property
    def expression(self) -> str:
        """Its WGSL; "" of a change of type."""
        if self.written is not None:
            return self.written.expression
        letters = "".join(kind.computed for kind in self.cast_to)
        last = letters if {*self.cast_to} == _BOTH_WIDE else letters[-1]
        return self.operation.expressions.get(last, "")

    @property
    def includes(self) -> tuple[str, ...]:
        """The shader files that this needs."""
        if self.written is not None:
            return self.written.includes
        if self.cast_to[-1].computed == "c":
            return self.operation.of_complex
        if self.cast_to[-1].computed in "IU":
            return self.operation.of_wide
        return self.operation.includes


#: Overloads that there can be, of which a program of everyday has hundreds: as many as a tape can
#: tell apart, less its other entries.
MOST_OVERLOADS = 65_000

#: Overloads by their numbers, and by operation and types; made when they are first used.
_made: list[Overload] = []
_known: dict[tuple[Operation, Types], Overload | None] = {}
_casts = {kind: Operation("astype", anything, {}) for kind in TYPES}


def overload(name: str, types: Types) -> Overload | None:
    """An operation for operands of these types; None where it does not take them."""
    return overload_of(OPERATIONS[name], types)


def resolved(name: str, types: Types) -> Overload:
    """Return an operation for operands of types that it takes."""
    found = overload(name, types)
    assert found is not None, f"{name} does not take {types}"
    return found


def overload_of(operation: Operation, types: Types) -> Overload | None:
    """:func:`overload` of an operation that may have no name here."""
    key = operation, types
    if key not in _known:
        found = operation.rule(types)
        _known[key] = None if found is None else _make(operation, types, *found)
    return _known[key]


def cast(source: ElementType, target: ElementType) -> Overload:
    """The change of a type."""
    key = _casts[target], (source,)
    if key not in _known:
        _known[key] = _make(_casts[target], (source,), (target,), target)
    made = _known[key]
    assert made is not None
    return made


def numbered(number: int) -> Overload:
    """The overload of that number."""
    return _made[number]


def _make(operation: Operation, given: Types, cast_to: Types, result: ElementType) -> Overload:
    number = len(_made)
    if number >= MOST_OVERLOADS:
        raise InvalidArgument(operation.name, "kernels", number, f"at most {MOST_OVERLOADS}")
    written = None if operation.write is None else operation.write(number, cast_to)
    made = Overload(number, operation, given, cast_to, result, written)
    _made.append(made)
    return made
