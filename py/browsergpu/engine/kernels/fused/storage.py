"""WGSL that reads, writes and casts four elements of each type at once."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.engine.core.element_types import BOOL, FLOAT16, ElementType

WORD = 32  # bits
#: The WGSL type of four values, by the letter of their computation.
WGSL = {
    "f": "vec4f",
    "i": "vec4i",
    "u": "vec4u",
    "b": "vec4<bool>",
    "c": "C",
    "I": "Long",
    "U": "Long",
}
#: A binding's element type for four neighbouring elements, by the bits of one. Elements of 64 bits
#: need two vec4u.
FOUR = {8: "u32", 16: "vec2u", 32: "vec4u", 64: "vec4u"}
#: The struct members with the two words of an element.
_PARTS = {"c": ("re", "im"), "I": ("low", "high"), "U": ("low", "high")}
INCLUDES = ("lib/fused/words.wgsl", "lib/fused/conversions.wgsl", "lib/fused/complex.wgsl")


def read_four(kind: ElementType, name: str, at: str) -> str:
    """Return the ``at``-th group of four elements of a binding with an element type of FOUR."""
    if kind.bits == 64:
        return f"{_prefix(kind)}_from_words({name}[2u * ({at})], {name}[2u * ({at}) + 1u])"
    return _decoded(kind, f"{name}[{at}]")


def read_each(kind: ElementType, name: str, at: str) -> str:
    """Return the elements at four indices (a vec4u) of a binding of words."""
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
    """Return the element at one index of a binding of words, four times."""
    if kind.bits == 64:
        return _of_one(kind, *(f"{name}[2u * {at}{offset}]" for offset in ("", " + 1u")))
    shift = {8: 2, 16: 1, 32: 0}[kind.bits]
    if shift == 0:
        return _decoded(kind, f"vec4u({name}[{at}])")
    bits = f"vec4u({name}[{at} >> {shift}u] >> (({at} & {(1 << shift) - 1}u) * {kind.bits}u))"
    return _of_bits(kind, bits)


def of_parameter(kind: ElementType, words: list[str]) -> str:
    """Return a number from its words. Types of 64 bits have two words."""
    if kind.bits == 64:
        return _of_one(kind, *words)
    if kind.computed == "f":
        return f"vec4f(bitcast<f32>({words[0]}))"
    if kind.computed == "i":
        return f"vec4i(bitcast<i32>({words[0]}))"
    return f"vec4<bool>({words[0]} != 0u)" if kind is BOOL else f"vec4u({words[0]})"


def write_four(kind: ElementType, name: str, at: str, value: str) -> str:
    """Return statements that write four neighbouring elements."""
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


def words_of_each(kind: ElementType) -> str:
    """Return the type of a binding's words that :func:`write_each` writes."""
    return "u32" if kind.bits >= WORD else "atomic<u32>"


def existing(by_fours: bool, n: str = "params.n") -> list[str]:
    """Return the conditions under which each of four elements exists. Empty means always."""
    return ["" if by_fours or not lane else f"4u * i + {lane}u < {n}" for lane in range(4)]


def write_each(kind: ElementType, name: str, at: str, value: str, inside: Sequence[str]) -> str:
    """Return statements that write elements at four indices of a binding of words.

    Parameters
    ----------
    kind : ElementType
        The type of the elements.
    name : str
        The binding. Elements of less than 32 bits need atomic words, because other threads may
        write to the same word.
    at : str
        The indices, a vec4u.
    value : str
        The four values.
    inside : sequence of str
        The condition for each of the four writes. Empty means always.
    """
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
    """Return four elements of up to 32 bits as words. Their upper bits are undefined."""
    if kind is FLOAT16:
        return f"exact_half_bits({value})"
    if kind.computed == "b":
        return f"vec4u({value})"
    return f"bitcast<vec4u>({value})" if kind.computed in "fi" else value


def converted(value: str, source: ElementType, target: ElementType) -> str:
    """Return a value cast to another type.

    Floats are truncated and clamped to the range of the integer type, and NaN becomes 0. Integers
    keep their lowest bits. All numbers but 0 are true. Only the real part of a complex number is
    kept.
    """
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
    # Bools and smaller types of the same signedness need no narrowing.
    fits = start == "b" or (
        start == target.computed and source.bits <= target.bits and start != "c"
    )
    return changed if fits else narrowed(changed, target)


def _converted_wide(value: str, source: ElementType, target: ElementType) -> str:
    """Return a value cast from or to a 64-bit integer."""
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
    """Return the name of the function that selects between values of a type."""
    return f"{_prefix(kind)}_select" if kind.computed in _PARTS else "select"


def _prefix(kind: ElementType) -> str:
    """Return the prefix of the functions of a type with two words."""
    return "c" if kind.computed == "c" else "wide"


def _of_two(kind: ElementType, low: str, high: str) -> str:
    """Return four elements from their words."""
    if kind.computed == "c":
        return f"C(bitcast<vec4f>({low}), bitcast<vec4f>({high}))"
    return f"Long({low}, {high})"


def _of_one(kind: ElementType, low: str, high: str) -> str:
    """Return one element, four times, from its words."""
    if kind.computed == "c":
        return f"C(vec4f(bitcast<f32>({low})), vec4f(bitcast<f32>({high})))"
    return f"Long(vec4u({low}), vec4u({high}))"


def narrowed(value: str, kind: ElementType) -> str:
    """Return a computed value narrowed to a type's bits."""
    if kind is FLOAT16:
        return f"rounded_to_half({value})"
    if kind.bits < 32 and kind.computed == "i":
        by = 32 - kind.bits
        return f"(({value} << vec4u({by}u)) >> vec4u({by}u))"
    if kind.bits < 32 and kind.computed == "u":
        return f"({value} & vec4u({(1 << kind.bits) - 1}u))"
    return value


def converted_kind(value: str, source: str, target: str) -> str:
    """Return a value converted between two of the computations "f", "i", "u" and "b"."""
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
    """Return values from the words of four neighbouring elements."""
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
    """Return values of fewer than 32 bits from the lowest bits of four words."""
    if kind is FLOAT16:
        return f"halves_in({bits})"
    if kind.computed == "u":
        return f"({bits} & vec4u({(1 << kind.bits) - 1}u))"
    by = 32 - kind.bits
    return f"(bitcast<vec4i>({bits} << vec4u({by}u)) >> vec4u({by}u))"
