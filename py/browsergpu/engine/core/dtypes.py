"""Dtypes of tensors: names, sizes and NumPy counterparts."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np


class DType(StrEnum):
    """The dtype of a tensor.

    Arguments also accept the plain string and NumPy's names: ``np.float32``, ``np.dtype("f4")``,
    ``"float32"``, ``"f4"``. "u8" is this one-byte dtype, not NumPy's uint64.

    In GPU memory, an element of f32, i32, u32 or bool takes a word, f16 half a word and u8 a
    quarter. u8 is an integer from 0 to 255. Only image functions read it as 0..1.
    """

    F32 = "f32"
    F16 = "f16"
    I32 = "i32"
    U32 = "u32"
    BOOL = "bool"
    U8 = "u8"

    # A program's key is hashed at each call. Enum's hash is Python code, str's is not, and equal
    # strings have equal hashes.
    __hash__ = str.__hash__

    @classmethod
    def _missing_(cls, value: object) -> DType | None:
        """Return the dtype for NumPy's names of it."""
        if isinstance(value, str):
            return _BY_NUMPYS_NAME.get(value)
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, _SCALARS)):
            return _BY_NUMPY.get(np.dtype(value).newbyteorder("="))
        return None

    @property
    def is_float(self) -> bool:
        """Whether the dtype is f32 or f16."""
        return self in (DType.F32, DType.F16)

    @property
    def is_whole(self) -> bool:
        """Whether the dtype is i32 or u32."""
        return self in (DType.I32, DType.U32)

    @property
    def computed_as(self) -> DType:
        """The dtype of arithmetic: f32 for floats, u32 for u8, else the dtype itself."""
        if self.is_float:
            return DType.F32
        return DType.U32 if self is DType.U8 else self

    def device_bytes(self, n: int) -> int:
        """Return the bytes of n elements on the GPU."""
        return n * _DEVICE[self].itemsize

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype on the host."""
        return _HOST[self]

    @property
    def device_numpy(self) -> np.dtype[Any]:
        """The NumPy dtype with the same bytes as on the GPU."""
        return _DEVICE[self]


FLOATS = (DType.F32, DType.F16)
#: Integers without conversion for arithmetic. u8 is computed as u32.
WHOLE = (DType.I32, DType.U32)
NUMBERS = (*FLOATS, *WHOLE, DType.U8)

#: Types that arguments accept for a DType.
DTypeLike: TypeAlias = DType | str | np.dtype[Any] | type[np.generic] | type[bool]

_HOST: dict[DType, np.dtype[Any]] = {
    DType.F32: np.dtype(np.float32),
    DType.F16: np.dtype(np.float16),
    DType.I32: np.dtype(np.int32),
    DType.U32: np.dtype(np.uint32),
    DType.BOOL: np.dtype(np.bool_),
    DType.U8: np.dtype(np.uint8),
}
_DEVICE: dict[DType, np.dtype[Any]] = {**_HOST, DType.BOOL: np.dtype(np.uint32)}
_SCALARS = (np.generic, bool)
_BY_NUMPY = {numpy: dtype for dtype, numpy in _HOST.items()}
# "float32", "f4" and, with a byte order, "<f4" or ">f4".
_BY_NUMPYS_NAME = {
    name: dtype
    for dtype, numpy in _HOST.items()
    for name in (numpy.name, *(order + numpy.str[1:] for order in ("", "<", ">", "=", "|")))
}
