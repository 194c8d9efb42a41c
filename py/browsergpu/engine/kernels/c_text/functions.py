"""C functions, and their equivalents in WGSL and in shader files."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """A function's equivalent.

    Attributes
    ----------
    text : str
        The WGSL with placeholders for the arguments.
    takes, kind : str
        The kinds of the arguments and of the result. "" is the common kind of the arguments.
    includes : tuple of str
        The shader files that the text needs.
    """

    text: str
    takes: str = "f"
    kind: str = "f"
    includes: tuple[str, ...] = ()


CONSTANTS = {
    "M_PI": "3.14159265358979", "M_PI_2": "1.57079632679490", "M_PI_4": "0.785398163397448",
    "M_E": "2.71828182845905", "M_SQRT2": "1.41421356237310", "M_SQRT1_2": "0.707106781186548",
    "M_LN2": "0.693147180559945", "M_LN10": "2.30258509299405", "M_1_PI": "0.318309886183791",
    "M_2_PI": "0.636619772367581", "M_2_SQRTPI": "1.12837916709551",
}  # fmt: skip

_OWN = ("lib/c_text.wgsl",)
_ONE = {
    name: Known(f"{name}({{0}})")
    for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "exp", "exp2", "log", "log2", "sqrt", "floor", "ceil", "trunc",
    )
} | {
    "fabs": Known("abs({0})"), "rint": Known("round({0})"), "nearbyint": Known("round({0})"),
    "rsqrt": Known("inverseSqrt({0})"), "log10": Known("(log({0}) * 0.4342944819)"),
    "round": Known("round_away({0})", includes=_OWN),
    "log1p": Known("log1p_of({0})", includes=("lib/chance/stream.wgsl",)),
    "expm1": Known("expm1_of({0})", includes=("lib/chance/stream.wgsl",)),
    "cbrt": Known("cube_root({0})", includes=_OWN),
    "isnan": Known("is_nan({0})", kind="b", includes=("lib/floats.wgsl",)),
    "isinf": Known("is_infinite({0})", kind="b", includes=_OWN),
    "isfinite": Known("!is_nan({0} - {0})", kind="b", includes=("lib/floats.wgsl",)),
    "exp10": Known("exp2(3.321928094887 * {0})"),
    "abs": Known("abs({0})", "", ""),
    "erf": Known("special_erf({0})", includes=("lib/special/errors.wgsl",)),
    "erfc": Known("special_erfc({0})", includes=("lib/special/errors.wgsl",)),
    "normcdf": Known("(0.5 * special_erfc(-0.70710678 * {0}))",
                     includes=("lib/special/errors.wgsl",)),
    "lgamma": Known("special_gammaln({0})", includes=("lib/special/gammas.wgsl",)),
    "tgamma": Known("special_gamma({0})", includes=("lib/special/gammas.wgsl",)),
}  # fmt: skip
_TWO = {
    "pow": Known("power_of({0}, {1})", includes=_OWN), "atan2": Known("atan2({0}, {1})"),
    "fmin": Known("min({0}, {1})"), "fmax": Known("max({0}, {1})"),
    "fmod": Known("({0} % {1})"), "hypot": Known("length(vec2f({0}, {1}))"),
    "copysign": Known("with_sign({0}, {1})", includes=_OWN),
    "min": Known("min({0}, {1})", "", ""), "max": Known("max({0}, {1})", "", ""),
    "fdim": Known("max({0} - {1}, 0.0)"),
}  # fmt: skip
_THREE = {"fma": Known("fma({0}, {1}, {2})")}
_BY_COUNT: dict[int, dict[str, Known]] = {1: _ONE, 2: _TWO, 3: _THREE}


def known(name: str, count: int) -> Known | None:
    """Look up a function by name and number of arguments. Names like ``sqrtf`` match too."""
    there = _BY_COUNT.get(count, {})
    if name in there:
        return there[name]
    if name.endswith("f"):
        return there.get(name.removeprefix("__").removesuffix("f"))
    return None
