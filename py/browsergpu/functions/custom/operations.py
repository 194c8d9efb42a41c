"""Operations of custom kernels: their checks, and their application to arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from browsergpu.arrays.apply import recorded
from browsergpu.arrays.array import Array
from browsergpu.arrays.x64 import check_x64
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.engine.kernels.c_text import translation
from browsergpu.engine.kernels.c_text.tree import CError
from browsergpu.engine.kernels.fused.custom import Typed, operations
from browsergpu.engine.kernels.fused.operations import Operation, Types, overload_of
from browsergpu.functions.custom.declarations import Parameter, bound_letters, of_letters

_NAME = re.compile(r"[A-Za-z_]\w*")


@lru_cache(maxsize=1024)
def operations_of(
    name: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...], body: str,
    includes: tuple[str, ...] = (), preamble: str = "",
) -> tuple[Operation, ...]:  # fmt: skip
    """Return the operations of a body. Equal arguments give the same objects.

    So their kernels are compiled once. ``includes`` are the shader files with functions that the
    body calls, and ``preamble`` has the user's functions.
    """

    def typed(types: Types) -> Typed:
        letters = bound_letters(inputs, types)
        return Typed(of_letters(outputs, letters), letters)

    return operations(
        name, tuple(one.name for one in inputs), tuple(one.name for one in outputs), body, typed,
        includes, preamble,
    )  # fmt: skip


def applied(
    name: str, made: tuple[Operation, ...], values: list[Any], kinds: list[ElementType]
) -> tuple[Array, ...]:
    """Apply operations to arrays and numbers of these types."""
    like = next(value for value in values if isinstance(value, Array))
    overloads = [overload_of(operation, tuple(kinds)) for operation in made]
    return tuple([recorded(name, like, one, values, kinds) for one in overloads if one])


def check_text(op: str, argument: str, value: Any, letters: Container[str] = ()) -> None:
    """Check that a value is WGSL or C that can be translated.

    Raises InvalidType if it is not text or empty, and InvalidArgument for other C. ``letters``
    stand for types.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidType(op, argument, value, "WGSL or C as text")
    _check_c(op, argument, value, letters, translation.check)


def check_preamble(op: str, value: Any, letters: Container[str]) -> None:
    """Check functions as :func:`check_text`. The text may be empty."""
    if not isinstance(value, str):
        raise InvalidType(op, "preamble", value, "WGSL or C as text")
    _check_c(op, "preamble", value, letters, translation.check_preamble)


def _check_c(
    op: str, argument: str, value: str, letters: Container[str], check: Callable[..., None]
) -> None:
    try:
        check(value, letters)
    except CError as error:
        raise not_understood(op, argument, error) from None
    if not translation.is_wgsl(value) and re.search(r"\b(double|float64)\b", value):
        check_x64(op, argument, np.dtype(np.float64))


def not_understood(op: str, argument: str, error: CError) -> InvalidArgument:
    """Return the error for C that cannot be translated."""
    return InvalidArgument(
        op, argument, Description(str(error)), "WGSL, or C for one element that can be translated",
        "docs/coming-from-cupy.md lists what is translated.",
    )  # fmt: skip


def refuse_options(op: str, **given: Any) -> None:
    """Raise InvalidArgument for options of CuPy that are for the CUDA compiler."""
    for name, value in given.items():
        if value not in (None, "", ()):
            raise InvalidArgument(op, name, value, "the default, as there is no CUDA compiler")


def check_name(op: str, name: Any) -> None:
    """Raise InvalidType if a value is not the name of a kernel."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidType(op, "name", name, "a name of letters, digits and _")


def letters_of(declared: Sequence[Parameter]) -> set[str]:
    """Return the letters that stand for types."""
    return {one.kind for one in declared if isinstance(one.kind, str)}


def check_letters(op: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...]) -> None:
    """Raise InvalidArgument if the letter of an output is at no input."""
    known = {one.kind for one in inputs}
    for one in outputs:
        if isinstance(one.kind, str) and one.kind not in known:
            expected = "a dtype, or the letter of an input"
            raise InvalidArgument(op, "out_params", one.kind, expected)
