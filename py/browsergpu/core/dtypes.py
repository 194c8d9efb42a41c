"""Element types: their names, sizes and NumPy counterparts. Knows nothing of the rest."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np


class DType(StrEnum):
    """The type of a tensor's elements. Wherever one is asked for, the plain string works, and so
    does NumPy's name of it: ``np.float32``, ``np.dtype("f4")``, ``"float32"``, ``"f4"``. The string
    "u8" is this type of one byte, not NumPy's uint64, which the GPU does not have.

    In GPU memory f32, i32, u32 and bool take a word each, f16 takes half of one and u8 a quarter.
    u8 is a whole number from 0 to 255; to the image functions alone it stands for 0..1.
    """

    F32 = "f32"
    F16 = "f16"
    I32 = "i32"
    U32 = "u32"
    BOOL = "bool"
    U8 = "u8"

    # Equal strings have equal hashes, and a program's key is hashed at each call: Enum's own is
    # Python code, and of the member's name.
    __hash__ = str.__hash__

    @classmethod
    def _missing_(cls, value: object) -> DType | None:
        """The dtype that NumPy knows by another name."""
        if isinstance(value, str):
            return _BY_NUMPYS_NAME.get(value)
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, _SCALARS)):
            return _BY_NUMPY.get(np.dtype(value).newbyteorder("="))
        return None

    @property
    def is_float(self) -> bool:
        """f32 or f16."""
        return self in (DType.F32, DType.F16)

    @property
    def is_whole(self) -> bool:
        """i32 or u32."""
        return self in (DType.I32, DType.U32)

    @property
    def computed_as(self) -> DType:
        """The dtype in which arithmetic on it is done: f32 for floats, u32 for u8, else itself."""
        if self.is_float:
            return DType.F32
        return DType.U32 if self is DType.U8 else self

    def device_bytes(self, n: int) -> int:
        """Bytes that n elements take on the GPU."""
        return n * _DEVICE[self].itemsize

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of what is read and written on the host."""
        return _HOST[self]

    @property
    def device_numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of the same bytes as on the GPU."""
        return _DEVICE[self]


FLOATS = (DType.F32, DType.F16)
#: Whole numbers that are computed as they are; u8 is computed as u32.
WHOLE = (DType.I32, DType.U32)
NUMBERS = (*FLOATS, *WHOLE, DType.U8)

#: What stands for a DType in an argument.
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
