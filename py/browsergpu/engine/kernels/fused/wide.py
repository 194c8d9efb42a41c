"""Elementwise operations of 64-bit integers, which WGSL lacks.

A number consists of two words. An expression computes four numbers at once, a ``Long`` of
shaders/lib/wide/words.wgsl. Its key is the operation's name and "I" (signed) or "U" (unsigned).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


def _files(*names: str) -> tuple[str, ...]:
    return tuple(f"lib/wide/{name}.wgsl" for name in ("words", *names))


#: The shader files for kernels with 64-bit integers.
WORDS = _files()
#: The shader files for conversions to and from other numbers.
CONVERSIONS = _files("conversions")


@dataclass(frozen=True, slots=True)
class WideExpressions:
    """The expressions of an operation and their shader files."""

    signed: str
    unsigned: str
    includes: tuple[str, ...] = field(default=WORDS)
    #: The expressions for (int64, uint64) and for (uint64, int64).
    mixed: tuple[str, str] | None = None

    @property
    def by_letter(self) -> Mapping[str, str]:
        """The expressions by the letters of their operands."""
        own = {"I": self.signed, "U": self.unsigned}
        return own if self.mixed is None else {**own, "IU": self.mixed[0], "UI": self.mixed[1]}


def _both(expression: str, *names: str) -> WideExpressions:
    return WideExpressions(expression, expression, _files(*names))


def _each(expression: str, *names: str) -> WideExpressions:
    signed, unsigned = (expression.replace("_SIGN", sign) for sign in ("_signed", "_unsigned"))
    return WideExpressions(signed, unsigned, _files(*names))


def _bits(sign: str) -> WideExpressions:
    return _both(f"Long({{0}}.low {sign} {{1}}.low, {{0}}.high {sign} {{1}}.high)")


def _compared(expression: str, mixed: str, others: str) -> WideExpressions:
    return replace(_each(expression), mixed=(mixed, others))


_BELOW = "wide_less_unsigned({0}, {1})"
_ABOVE = "wide_less_unsigned({1}, {0})"
_LESS = f"(wide_is_negative({{0}}) | {_BELOW})", f"(!wide_is_negative({{1}}) & {_BELOW})"
_GREATER = f"(!wide_is_negative({{0}}) & {_ABOVE})", f"(wide_is_negative({{1}}) | {_ABOVE})"
_SAME_BITS = "wide_equal({0}, {1})"
_EQUAL = f"(!wide_is_negative({{0}}) & {_SAME_BITS})", f"(!wide_is_negative({{1}}) & {_SAME_BITS})"


def _not(pair: tuple[str, str]) -> tuple[str, str]:
    return f"!{pair[0]}", f"!{pair[1]}"


_SAME = _both("{0}")
_NO, _YES = _both("vec4<bool>()"), _both("vec4<bool>(true)")

EXPRESSIONS: Mapping[str, WideExpressions] = {
    "add": _both("wide_add({0}, {1})"),
    "subtract": _both("wide_subtract({0}, {1})"),
    "multiply": _both("wide_multiply({0}, {1})", "products"),
    "square": _both("wide_multiply({0}, {0})", "products"),
    "floor_divide": _each("wide_floor_divide_SIGN({0}, {1})", "quotients"),
    "remainder": _each("wide_remainder_SIGN({0}, {1})", "quotients"),
    "pow": _each("wide_power_SIGN({0}, {1})", "powers"),
    "maximum": _each("wide_select({0}, {1}, wide_less_SIGN({0}, {1}))"),
    "minimum": _each("wide_select({1}, {0}, wide_less_SIGN({0}, {1}))"),
    "negative": _both("wide_negative({0})"),
    "abs": WideExpressions("wide_size({0})", "{0}"),
    "sign": WideExpressions("wide_sign_signed({0})", "Long(vec4u(wide_true({0})), vec4u())"),
    **dict.fromkeys(("positive", "floor", "ceil", "trunc", "round", "real", "conj"), _SAME),
    "imag": _both("Long(vec4u(), vec4u())"),
    "isnan": _NO,
    "isinf": _NO,
    "isfinite": _YES,
    "equal": _compared("wide_equal({0}, {1})", *_EQUAL),
    "not_equal": _compared("!wide_equal({0}, {1})", *_not(_EQUAL)),
    "less": _compared("wide_less_SIGN({0}, {1})", *_LESS),
    "less_equal": _compared("!wide_less_SIGN({1}, {0})", *_not(_GREATER)),
    "greater": _compared("wide_less_SIGN({1}, {0})", *_GREATER),
    "greater_equal": _compared("!wide_less_SIGN({0}, {1})", *_not(_LESS)),
    "bitwise_and": _bits("&"),
    "bitwise_or": _bits("|"),
    "bitwise_xor": _bits("^"),
    "bitwise_invert": _both("Long(~{0}.low, ~{0}.high)"),
    "bitwise_left_shift": _both("wide_shift_left({0}, {1})", "shifts"),
    "bitwise_right_shift": _each("wide_shift_right_SIGN({0}, {1})", "shifts"),
    "where": _both("wide_select({2}, {1}, {0})"),
    "index": _each("places_of_wide_SIGN({0}, {1})", "places"),
    "is_inside": _each("is_inside_wide_SIGN({0}, {1})", "places"),
}
