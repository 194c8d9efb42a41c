"""ONNX's types of elements, and the dtypes that arrays have for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.core.showing import Shown


@dataclass(frozen=True, slots=True, eq=False)
class NarrowType(Shown):
    """A type that arrays lack. Its values are stored as codes, and widened for arithmetic.

    Attributes
    ----------
    name : str
        ONNX's name.
    number : int
        ONNX's number.
    bits : int
        Bits of a value in a file.
    codes : np.dtype
        The dtype of the codes.
    wide : np.dtype
        The dtype for arithmetic.
    """

    name: str
    number: int
    bits: int
    codes: np.dtype[Any]
    wide: np.dtype[Any]

    def _facts(self) -> str:
        return self.name


#: NumPy's dtypes by ONNX's number.
DTYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.float32), 2: np.dtype(np.uint8), 3: np.dtype(np.int8), 4: np.dtype(np.uint16),
    5: np.dtype(np.int16), 6: np.dtype(np.int32), 7: np.dtype(np.int64), 9: np.dtype(np.bool_),
    10: np.dtype(np.float16), 11: np.dtype(np.float64), 12: np.dtype(np.uint32),
    13: np.dtype(np.uint64), 14: np.dtype(np.complex64), 15: np.dtype(np.complex128),
}  # fmt: skip
NUMBERS = {dtype: number for number, dtype in DTYPES.items()}
STRING = 8

_ROWS: tuple[tuple[int, str, int, Any, Any], ...] = (
    (16, "bfloat16", 16, np.uint16, np.float32),
    (17, "float8e4m3fn", 8, np.uint8, np.float32),
    (18, "float8e4m3fnuz", 8, np.uint8, np.float32),
    (19, "float8e5m2", 8, np.uint8, np.float32),
    (20, "float8e5m2fnuz", 8, np.uint8, np.float32),
    (21, "uint4", 4, np.uint8, np.uint8),
    (22, "int4", 4, np.int8, np.int8),
    (23, "float4e2m1", 4, np.uint8, np.float32),
    (24, "float8e8m0", 8, np.uint8, np.float32),
    (25, "uint2", 2, np.uint8, np.uint8),
    (26, "int2", 2, np.int8, np.int8),
)
NARROW: dict[int, NarrowType] = {
    number: NarrowType(name, number, bits, np.dtype(codes), np.dtype(wide))
    for number, name, bits, codes, wide in _ROWS
}
BFLOAT16, UINT4, INT4 = NARROW[16], NARROW[21], NARROW[22]


def type_of(number: int, where: str) -> np.dtype[Any] | NarrowType:
    """Return the type with ONNX's number. ``where`` names its place, for the error."""
    found = DTYPES.get(number) or NARROW.get(number)
    if found is None:
        name = "strings" if number == STRING else f"elements of ONNX's type {number}"
        raise Unsupported("onnx.load", f"{where} has {name}, which the GPU has not.")
    return found


def name_of(number: int) -> str:
    """Return a name for ONNX's number of a type."""
    if number in NARROW:
        return NARROW[number].name
    return DTYPES[number].name if number in DTYPES else "string" if number == STRING else "?"
