"""Element types of arrays: GPU memory layout and type promotion.

Their names are NumPy's dtypes. 64-bit integers take two words each. float64 and complex128 are
demoted to float32 and complex64, as in JAX without x64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from browsergpu.engine.core.dtypes import DType


@dataclass(frozen=True, slots=True, eq=False)
class ElementType:
    """One of TYPES.

    Attributes
    ----------
    number : int
        Position in TYPES.
    numpy : np.dtype
        The NumPy dtype.
    bits : int
        Bits of an element in GPU memory. A bool takes a word of 0 or 1.
    computed : str
        The type of arithmetic: "f" float32, "i" int32, "u" uint32, "b" bool, "c" pairs of float32,
        "I" and "U" int64 and uint64 as pairs of words.
    dtype : DType or None
        The counterpart for functions that support fewer types.
    name : str
        NumPy's name.
    kind : str
        NumPy's kind letter: b, i, u, f or c.
    """

    number: int
    numpy: np.dtype[Any]
    bits: int
    computed: str
    dtype: DType | None = None
    name: str = field(init=False)
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        # Every operation asks for them, and NumPy computes the name anew.
        object.__setattr__(self, "name", self.numpy.name)
        object.__setattr__(self, "kind", self.numpy.kind)

    def device_bytes(self, n: int) -> int:
        """Return the bytes of n elements on the GPU."""
        return n * self.bits // 8

    @property
    def device_numpy(self) -> np.dtype[Any]:
        """The NumPy dtype with the same bytes as on the GPU."""
        return np.dtype(np.uint32) if self is BOOL else self.numpy

    def __repr__(self) -> str:
        return self.name


def _types() -> tuple[ElementType, ...]:
    rows: tuple[tuple[Any, int, str, DType | None], ...] = (
        (np.bool_, 32, "b", DType.BOOL),
        (np.int8, 8, "i", None),
        (np.int16, 16, "i", None),
        (np.int32, 32, "i", DType.I32),
        (np.uint8, 8, "u", DType.U8),
        (np.uint16, 16, "u", None),
        (np.uint32, 32, "u", DType.U32),
        (np.float16, 16, "f", DType.F16),
        (np.float32, 32, "f", DType.F32),
        (np.complex64, 64, "c", None),
        (np.int64, 64, "I", None),
        (np.uint64, 64, "U", None),
    )
    return tuple(
        ElementType(number, np.dtype(kind), bits, computed, dtype)
        for number, (kind, bits, computed, dtype) in enumerate(rows)
    )


TYPES = _types()
(
    BOOL, INT8, INT16, INT32, UINT8, UINT16, UINT32, FLOAT16, FLOAT32, COMPLEX64, INT64, UINT64,
) = TYPES  # fmt: skip

_BY_NUMPY = {kind.numpy: kind for kind in TYPES}
#: The types to which 64-bit floats are demoted.
DEMOTED: dict[np.dtype[Any], ElementType] = {
    np.dtype(np.float64): FLOAT32,
    np.dtype(np.complex128): COMPLEX64,
}
#: The type of a Python number combined with an array of a lower kind.
DEFAULTS: dict[type, ElementType] = {
    bool: BOOL,
    int: INT64,  # see set_default_whole
    float: FLOAT32,
    complex: COMPLEX64,
}
_RANK_OF_KIND = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_RANK_OF_NUMBER = {bool: 0, int: 1, float: 2, complex: 3}


def of_numpy(dtype: np.dtype[Any]) -> ElementType | None:
    """Return the type for a NumPy dtype of either byte order, or None if arrays cannot have it."""
    native = dtype.newbyteorder("=")
    return _BY_NUMPY.get(native) or DEMOTED.get(native)


@cache
def promoted(a: ElementType, b: ElementType) -> ElementType:
    """Return the result type of two types: NumPy's, demoted."""
    found = of_numpy(np.result_type(a.numpy, b.numpy))
    assert found is not None
    return found


@cache
def is_same_kind(source: ElementType, target: ElementType) -> bool:
    """Return whether NumPy's in-place operations may cast a type to another.

    For example, int32 may be cast to int8 or float16, but float32 may not be cast to int32.
    """
    return np.can_cast(source.numpy, target.numpy, "same_kind")


def beside_number(a: ElementType, number: type) -> ElementType:
    """Return the result type of an array with a Python bool, int, float or complex.

    It is the array's type, unless the number is of a higher kind (NEP 50).
    """
    return _BESIDE[a, number]


_BESIDE = {
    (kind, number): kind if rank <= _RANK_OF_KIND[kind.kind] else DEFAULTS[number]
    for kind in TYPES
    for number, rank in _RANK_OF_NUMBER.items()
}


def set_default_whole(kind: ElementType) -> ElementType:
    """Set the type of Python integers and of sums of small integers. Return the previous type."""
    before, DEFAULTS[int] = DEFAULTS[int], kind
    _BESIDE[BOOL, int] = kind
    return before


def wide_sum_of(kind: ElementType) -> ElementType:
    """Return the type for sums of bools and integers, at least as wide as the default type."""
    if kind.kind not in "biu" or kind.bits == INT64.bits:
        return kind
    is_wide = DEFAULTS[int] is INT64
    if kind.kind == "u":
        return UINT64 if is_wide else UINT32
    return INT64 if is_wide else INT32
