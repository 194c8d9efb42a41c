"""How elements of each type are read from words, written to them and changed into another type: the
WGSL of four at once."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.core.element_types import BOOL, FLOAT16, ElementType

WORD = 32  # bits
#: What values are in WGSL, by what they are computed in.
WGSL = {
    "f": "vec4f",
    "i": "vec4i",
    "u": "vec4u",
    "b": "vec4<bool>",
    "c": "C",
    "I": "Long",
    "U": "Long",
}
#: The words of four neighbouring elements, as a binding's element type.
FOUR = {8: "u32", 16: "vec2u", 32: "vec4u", 64: "vec4u"}
#: What stands for two words of an element, and their names in it.
_PARTS = {"c": ("re", "im"), "I": ("low", "high"), "U": ("low", "high")}
INCLUDES = ("lib/fused/words.wgsl", "lib/fused/conversions.wgsl", "lib/fused/complex.wgsl")


def read_four(kind: ElementType, name: str, at: str) -> str:
    """The ``at``-th four elements of a binding of FOUR."""
    if kind.bits == 64:
        return f"{_prefix(kind)}_from_words({name}[2u * ({at})], {name}[2u * ({at}) + 1u])"
    return _decoded(kind, f"{name}[{at}]")


def read_each(kind: ElementType, name: str, at: str) -> str:
    """The elements at four places (a vec4u) of a binding of words."""
    if kind.bits == 64:
        low, high = (
            ", ".join(f"{name}[2u * {at}.{lane}{offset}]" for lane in "xyzw")
            for offset in ("", " + 1u")
        )
        return _of_two(kind, f"vec4u({low})", f"vec4u({high})")
    shift = {8: 2, 16: 1, 32: 0}[kind.bits]
    words = ", ".join(
        f"{name}[{at}.{lane}]" if shift == 0 else f"{name}[{at}.{lane} >> {shift}u]"
        for lane in "xyzw"
    )
    if shift == 0:
        return _decoded(kind, f"vec4u({words})")
    bits = f"(vec4u({words}) >> (({at} & vec4u({(1 << shift) - 1}u)) * {kind.bits}u))"
    return _of_bits(kind, bits)


def read_one(kind: ElementType, name: str, at: str) -> str:
    """The element at one place of a binding of words, four times."""
    if kind.bits == 64:
        return _of_one(kind, *(f"{name}[2u * {at}{offset}]" for offset in ("", " + 1u")))
    shift = {8: 2, 16: 1, 32: 0}[kind.bits]
    if shift == 0:
        return _decoded(kind, f"vec4u({name}[{at}])")
    bits = f"vec4u({name}[{at} >> {shift}u] >> (({at} & {(1 << shift) - 1}u) * {kind.bits}u))"
    return _of_bits(kind, bits)


def of_parameter(kind: ElementType, words: list[str]) -> str:
    """A number given by its words: of one of 64 bits, two."""
    if kind.bits == 64:
        return _of_one(kind, *words)
    if kind.computed == "f":
        return f"vec4f(bitcast<f32>({words[0]}))"
    if kind.computed == "i":
        return f"vec4i(bitcast<i32>({words[0]}))"
    return f"vec4<bool>({words[0]} != 0u)" if kind is BOOL else f"vec4u({words[0]})"


def write_four(kind: ElementType, name: str, at: str, value: str) -> str:
    """Statements that write four neighbouring elements."""
    if kind.bits == 64:
        return (
            f"{name}[2u * {at}] = {_prefix(kind)}_low_words({value}); "
            f"{name}[2u * {at} + 1u] = {_prefix(kind)}_high_words({value});"
        )
    if kind is FLOAT16:
        return f"{name}[{at}] = halves_of({value});"
    words = _bits(kind, value)
    packed = {8: f"bytes_of({words})", 16: f"shorts_of({words})", 32: words}[kind.bits]
    return f"{name}[{at}] = {packed};"


def write_each(kind: ElementType, name: str, at: str, value: str, inside: Sequence[str]) -> str:
    """Statements that write elements at four places (a vec4u) of a binding of words, as far as
    conditions say that they are there; of elements smaller than a word, which another thread's may
    lie beside, of atomic words."""
    lines = ["" if kind.bits == 64 else f"let w = {_bits(kind, value)};"]
    for lane, condition in zip("xyzw", inside, strict=True):
        place = f"{at}.{lane}"
        if kind.bits == 64:
            found = "".join(
                f"{name}[2u * {place} + {n}u] = bitcast<u32>({value}.{part}.{lane}); "
                for n, part in enumerate(_PARTS[kind.computed])
            )
        elif kind.bits == 32:
            found = f"{name}[{place}] = w.{lane};"
        else:
            shift = {8: 2, 16: 1}[kind.bits]
            word, mask = f"&{name}[{place} >> {shift}u]", f"{(1 << kind.bits) - 1}u"
            by = f"(({place} & {(1 << shift) - 1}u) * {kind.bits}u)"
            found = (
                f"atomicAnd({word}, ~({mask} << {by})); "
                f"atomicOr({word}, (w.{lane} & {mask}) << {by});"
            )
        lines.append(f"if ({condition}) {{ {found} }}" if condition else found)
    return " ".join(lines)


def _bits(kind: ElementType, value: str) -> str:
    """Four elements of up to 32 bits as words, whose bits above are of no account."""
    if kind is FLOAT16:
        return f"exact_half_bits({value})"
    if kind.computed == "b":
        return f"vec4u({value})"
    return f"bitcast<vec4u>({value})" if kind.computed in "fi" else value


def converted(value: str, source: ElementType, target: ElementType) -> str:
    """A value as another type. Floats are cut off towards 0 and clamped to what a whole number can
    be, NaN becomes 0; whole numbers keep their lowest bits; anything but 0 is true; of a complex
    number the real part is taken."""
    if source is target:
        return value
    if source.computed in "IU" or target.computed in "IU":
        return _converted_wide(value, source, target)
    if source.computed == "c":
        if target.computed == "b":
            return f"(are_true({value}.re) | are_true({value}.im))"
        value = f"{value}.re"
    start = "f" if source.computed == "c" else source.computed
    if start == "f" and target.computed in "iu" and target.bits < 32:
        low, high = _BOUNDS[target.computed, target.bits]
        return f"{WGSL[target.computed]}(clamped({value}, {low}.0, {high}.0))"
    changed = value
    if target.computed == "c":
        changed = f"C({converted_kind(value, start, 'f')}, vec4f())"
    elif start != target.computed:
        changed = converted_kind(value, start, target.computed)
    # What a bool or a smaller type of the same sign comes to fits.
    fits = start == "b" or (
        start == target.computed and source.bits <= target.bits and start != "c"
    )
    return changed if fits else narrowed(changed, target)


def _converted_wide(value: str, source: ElementType, target: ElementType) -> str:
    """:func:`converted` of or to a whole number of 64 bits."""
    sign = {"I": "signed", "U": "unsigned"}
    if source.computed in "IU":
        if target.computed in "IU":
            return value
        if target.computed == "b":
            return f"wide_true({value})"
        if target.computed in "fc":
            number = f"wide_{sign[source.computed]}_float({value})"
            return f"C({number}, vec4f())" if target.computed == "c" else narrowed(number, target)
        low = f"{value}.low"
        return narrowed(f"bitcast<vec4i>({low})" if target.computed == "i" else low, target)
    if source.computed == "i":
        return f"wide_of_signed({value})"
    if source.computed in "ub":
        return f"wide_of_unsigned({value if source.computed == 'u' else f'vec4u({value})'})"
    number = f"{value}.re" if source.computed == "c" else value
    return f"wide_{sign[target.computed]}_of_float({number})"


def select_of(kind: ElementType) -> str:
    """The function that selects between values of a type."""
    return f"{_prefix(kind)}_select" if kind.computed in _PARTS else "select"


def _prefix(kind: ElementType) -> str:
    """What the functions begin with of a type of two words."""
    return "c" if kind.computed == "c" else "wide"


def _of_two(kind: ElementType, low: str, high: str) -> str:
    """Four elements of their words."""
    if kind.computed == "c":
        return f"C(bitcast<vec4f>({low}), bitcast<vec4f>({high}))"
    return f"Long({low}, {high})"


def _of_one(kind: ElementType, low: str, high: str) -> str:
    """Four elements alike of the words of one."""
    if kind.computed == "c":
        return f"C(vec4f(bitcast<f32>({low})), vec4f(bitcast<f32>({high})))"
    return f"Long(vec4u({low}), vec4u({high}))"


def narrowed(value: str, kind: ElementType) -> str:
    """What is left of a computed value in a type of fewer bits."""
    if kind is FLOAT16:
        return f"rounded_to_half({value})"
    if kind.bits < 32 and kind.computed == "i":
        by = 32 - kind.bits
        return f"(({value} << vec4u({by}u)) >> vec4u({by}u))"
    if kind.bits < 32 and kind.computed == "u":
        return f"({value} & vec4u({(1 << kind.bits) - 1}u))"
    return value


def converted_kind(value: str, source: str, target: str) -> str:
    """A value computed in one of "fiub" as another of them."""
    match source, target:
        case _, "b":
            return f"are_true({value})" if source == "f" else f"({value} != {WGSL[source]}())"
        case "f", "i":
            return f"whole_signed({value})"
        case "f", "u":
            return f"whole_unsigned({value})"
        case "u", "f":
            return f"nearest_float({value})"
        case ("i", "u") | ("u", "i"):
            return f"bitcast<{WGSL[target]}>({value})"
        case _:
            return value if source == target else f"{WGSL[target]}({value})"


_BOUNDS = {
    ("i", 8): (-128, 127),
    ("i", 16): (-32768, 32767),
    ("u", 8): (0, 255),
    ("u", 16): (0, 65535),
}


def _decoded(kind: ElementType, words: str) -> str:
    """Values of the words of four neighbouring elements."""
    if kind is FLOAT16:
        return f"widened({words})"
    if kind.bits == 8:
        return _of_bits(kind, f"bytes_in({words})")
    if kind.bits == 16:
        return _of_bits(kind, f"shorts_in({words})")
    if kind.computed == "b":
        return f"({words} != vec4u())"
    return words if kind.computed == "u" else f"bitcast<{WGSL[kind.computed]}>({words})"


def _of_bits(kind: ElementType, bits: str) -> str:
    """Values of fewer than 32 bits, from the lowest bits of four words."""
    if kind is FLOAT16:
        return f"halves_in({bits})"
    if kind.computed == "u":
        return f"({bits} & vec4u({(1 << kind.bits) - 1}u))"
    by = 32 - kind.bits
    return f"(bitcast<vec4i>({bits} << vec4u({by}u)) >> vec4u({by}u))"
