"""WGSL of a chain: elementwise operations on one array and numbers, for the epilogue of a product.

The chain computes what a generated kernel of its own would compute from the product's result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from struct import pack, unpack

from browsergpu.engine.core.element_types import FLOAT16, ElementType
from browsergpu.engine.kernels.base.chains import Chain, registered
from browsergpu.engine.kernels.fused import storage
from browsergpu.engine.kernels.fused.operations import CHECKED_PLACE
from browsergpu.engine.kernels.fused.source import (
    MOST_KERNELS,
    is_leaf,
    is_number,
    name_of,
    operands_of,
    overload_at,
    result_of,
)

#: Maximum of operations. Longer chains would take many registers of a product's kernel.
MOST_OPERATIONS = 24
_MOST_NAMES = 4  # maximum operations in a chain's name
#: The computations of values. 64-bit numbers need files with other names for the same functions.
_COMPUTED = "fiub"


def supports(entry: int) -> bool:
    """Return whether a chain can compute an operation."""
    overload = overload_at(entry)
    if overload is None or overload.custom is not None or overload.operation is CHECKED_PLACE:
        return False
    kinds = (*overload.given, *overload.cast_to, overload.result)
    return all(kind.computed in _COMPUTED for kind in kinds)


def is_constant(kind: ElementType, words: Sequence[int]) -> bool:
    """Return whether WGSL can express a number as a constant: no infinity, NaN or wide number."""
    if kind.computed not in _COMPUTED:
        return False
    return kind.computed != "f" or isfinite(_float(words[0]))


@lru_cache(maxsize=MOST_KERNELS)
def chain(code: tuple[int, ...], words: tuple[tuple[int, ...], ...]) -> str | None:
    """Return the name of the activation that computes a trace, or None if there are too many.

    Parameters
    ----------
    code
        The trace. Its first entry is the only array: the product. :func:`supports` holds for its
        operations.
    words
        The words of the numbers, in the order of their entries.
    """
    numbers = iter(words)
    lines: list[str] = []
    includes: dict[str, None] = {}
    for place, entry in enumerate(code):
        kind = result_of(entry)
        if is_leaf(entry):
            value = "v"
            if kind is FLOAT16:  # as the product's own kernel rounds it
                value = storage.narrowed(value, kind)
        elif is_number(entry):
            value = _constant(kind, next(numbers))
        else:
            value = _computed(entry, includes)
        lines.append(f"let v{place} = {value};")
    text = " ".join(lines)
    if "rounded_to_half" in text:
        includes["lib/halves.wgsl"] = None
    if _converts(code):
        includes["lib/fused/conversions.wgsl"] = None
    names = [name for entry in code if (name := name_of(entry))]
    shown = "+".join([*names[:_MOST_NAMES], *["…"] * (len(names) > _MOST_NAMES)])
    function = f"fn chained(v: vec4f) -> vec4f {{ {text} return v{len(code) - 1}; }}"
    return registered(Chain(function, tuple(includes)), shown, code)


def _computed(entry: int, includes: dict[str, None]) -> str:
    overload = overload_at(entry)
    assert overload is not None
    values = [
        storage.converted(f"v{at}", given, to)
        for at, given, to in zip(operands_of(entry), overload.given, overload.cast_to, strict=True)
    ]
    if not overload.expression:  # a cast
        return values[0]
    includes |= dict.fromkeys(overload.includes)
    value = overload.expression.format(*values)
    return storage.narrowed(value, overload.result) if overload.result.bits < 32 else value


def _converts(code: Sequence[int]) -> bool:
    return any(
        given is not to
        for entry in code
        if (overload := overload_at(entry)) is not None
        for given, to in zip(overload.given, overload.cast_to, strict=True)
    )


def _constant(kind: ElementType, words: Sequence[int]) -> str:
    if kind.computed == "b":
        return f"vec4<bool>({str(bool(words[0])).lower()})"
    word = words[0]
    if kind.computed == "f":
        return f"vec4f({_float(word)!r}f)"
    if kind.computed == "i":
        return f"bitcast<vec4i>(vec4u({word}u))"
    return f"vec4u({word}u)"


def _float(word: int) -> float:
    number: float = unpack("<f", pack("<I", word))[0]
    return number
