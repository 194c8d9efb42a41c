"""Declarations of custom kernels' parameters, and their arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from browsergpu.arrays.numbers import python_number, typed_number
from browsergpu.arrays.upload import element_type
from browsergpu.arrays.value import Value
from browsergpu.engine.core.element_types import DEFAULTS, INT32, ElementType, beside_number
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, two_devices
from browsergpu.engine.core.showing import Description
from browsergpu.engine.kernels.fused.custom import PLACE_NAME

_DECLARED = re.compile(r"\s*(raw\s+)?(?:const\s+)?(\w+)\s+([A-Za-z_]\w*)\s*")
_LETTER = re.compile("[A-Z]")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name, its type or a letter for one, and whether it is ``raw``.

    The kernel reads a raw array by indices.
    """

    name: str
    kind: ElementType | str
    is_raw: bool = False


def parameters(op: str, argument: str, text: Any) -> tuple[Parameter, ...]:
    """Parse declarations such as ``"float32 x, T y"``.

    Types are NumPy's dtype names or letters. A letter is the same type for all of its parameters.
    """
    expected = '"dtype name, …", such as "float32 x, raw T y"'
    if not isinstance(text, str):
        raise InvalidType(op, argument, text, expected)
    if not text.strip():
        return ()
    found = [_DECLARED.fullmatch(part) for part in text.split(",")]
    made = []
    for match in found:
        if match is None:
            raise InvalidArgument(op, argument, text, expected)
        raw, kind, name = match.groups()
        found_kind = kind if _LETTER.fullmatch(kind) else element_type(op, kind)
        _check_words(op, argument, found_kind)
        made.append(Parameter(name, found_kind, raw is not None))
    return tuple(made)


#: Types of Python's numbers in WGSL.
_OF_NUMBERS = DEFAULTS | {int: INT32}


def _check_words(op: str, argument: str, kind: ElementType | str) -> None:
    """Raise InvalidType for 64-bit integers, which WGSL does not have."""
    if not isinstance(kind, str) and kind.computed in "IU":
        advice = "WGSL has no 64 bits. Cast the array with .astype('int32')."
        raise InvalidType(op, argument, kind.numpy, "a dtype of WGSL", advice)


def check_names(op: str, declared: Sequence[Parameter]) -> None:
    """Raise InvalidArgument if a name is declared twice, or has another meaning."""
    names = [one.name for one in declared]
    letters = {one.kind for one in declared if isinstance(one.kind, str)}
    for name in names:
        if names.count(name) > 1 or name == PLACE_NAME or name in letters:
            expected = f"a unique name, and not {PLACE_NAME}, the index of the element"
            raise InvalidArgument(op, "params", name, expected)


def of_letters(
    declared: Sequence[Parameter], letters: Mapping[str, ElementType]
) -> tuple[ElementType, ...]:
    """Return the types of parameters, with the types that letters stand for."""
    return tuple([letters[one.kind] if isinstance(one.kind, str) else one.kind for one in declared])


def bound_letters(
    declared: Sequence[Parameter], kinds: Sequence[ElementType]
) -> dict[str, ElementType]:
    """Return the type of each letter, for parameters of these types."""
    return {
        one.kind: kind
        for one, kind in zip(declared, kinds, strict=True)
        if isinstance(one.kind, str)
    }


def arguments(
    op: str, declared: Sequence[Parameter], given: Sequence[Any], *, needs_array: bool = True
) -> tuple[list[Any], list[ElementType]]:
    """Check the arguments of parameters, and return them and their types.

    An array must have the declared type, and a number is converted to it. Raises InvalidType
    otherwise.
    """
    if len(given) != len(declared):
        names = ", ".join(one.name for one in declared)
        raise InvalidType(
            op,
            "args",
            Description(f"{len(given)} arguments"),
            f"{len(declared)} arguments, {names}",
        )
    values = [_value(op, one.name, value) for one, value in zip(declared, given, strict=True)]
    letters: dict[str, ElementType] = {}
    pairs = list(zip(declared, values, strict=True))
    for one, value in sorted(pairs, key=lambda pair: not isinstance(pair[1], Value)):
        own = value.node.kind if isinstance(value, Value) else None
        expected = one.kind
        if isinstance(expected, str):
            expected = letters.setdefault(expected, own or _OF_NUMBERS[type(value)])
            _check_words(op, one.name, expected)
        fits = own is expected if own else beside_number(expected, type(value)) is expected
        if not fits:
            shown = Description(own.name) if own else value
            letter = f", which {one.kind} stands for" if isinstance(one.kind, str) else ""
            raise InvalidType(op, one.name, shown, f"{expected.name}{letter}")
    arrays = [value for value in values if isinstance(value, Value)]
    for one, value in pairs:
        if one.is_raw and not isinstance(value, Value):
            raise InvalidType(op, one.name, value, "an array, as the parameter is raw")
    if not arrays and not needs_array:
        return values, list(of_letters(declared, letters))
    if not arrays:
        raise InvalidType(op, "args", given, "have at least one array")
    if any(array.tracer is not arrays[0].tracer for array in arrays):
        raise two_devices(op, "args")
    return values, list(of_letters(declared, letters))


def _value(op: str, name: str, value: Any) -> Any:
    """Return an array unchanged, and a number as Python's."""
    if isinstance(value, Value):
        return value
    number = python_number(value)
    if number is None and (typed := typed_number(value)) is not None:
        number = typed[1]
    if number is None:
        raise InvalidType(op, name, value, "an array (asarray makes one) or a number")
    return number
