"""What kernels of one's own have in common: their operations from text, and their application."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from browsergpu.arrays.apply import recorded
from browsergpu.arrays.array import Array
from browsergpu.arrays.declarations import Parameter, bound_letters, of_letters
from browsergpu.core.element_types import ElementType
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.kernels.fused.operations import Operation, Types, overload_of
from browsergpu.kernels.fused.written import Typed, operations

_NAME = re.compile(r"[A-Za-z_]\w*")


@lru_cache(maxsize=1024)
def operations_of(
    name: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...], body: str,
    includes: tuple[str, ...] = (),
) -> tuple[Operation, ...]:  # fmt: skip
    """The same text gives the same operations, so that its kernels are compiled once. ``includes``
    are the shader files whose functions it calls."""

    def typed(types: Types) -> Typed:
        letters = bound_letters(inputs, types)
        return Typed(of_letters(outputs, letters), letters)

    return operations(
        name, tuple(one.name for one in inputs), tuple(one.name for one in outputs), body, typed,
        includes,
    )  # fmt: skip


def applied(
    name: str, made: tuple[Operation, ...], values: list[Any], kinds: list[ElementType]
) -> tuple[Array, ...]:
    """The values of operations on arrays and numbers of these types."""
    like = next(value for value in values if isinstance(value, Array))
    overloads = [overload_of(operation, tuple(kinds)) for operation in made]
    return tuple([recorded(name, like, one, values, kinds) for one in overloads if one])


def check_text(op: str, argument: str, value: Any) -> None:
    """Raises InvalidType for what is no text, or has none."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidType(op, argument, value, "WGSL as text")


def check_name(op: str, name: Any) -> None:
    """Raises InvalidType for what is not the name of a kernel."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidType(op, "name", name, "a name of letters, digits and _")


def check_letters(op: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...]) -> None:
    """Raises InvalidArgument where an output's letter stands at no input."""
    known = {one.kind for one in inputs}
    for one in outputs:
        if isinstance(one.kind, str) and one.kind not in known:
            expected = "a letter that stands at an input, too, or a dtype"
            raise InvalidArgument(op, "out_params", one.kind, expected)
