"""Element types: their names, sizes and NumPy counterparts. Knows nothing of the rest."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np


class DType(StrEnum):
    """The type of a tensor's elements. The plain string works wherever one is asked for.

    In GPU memory f32, i32, u32 and bool take a word each, f16 takes half of one and u8 a quarter.
    u8 is for pictures: 0..255 stands for 0..1 wherever it meets a float.
    """

    F32 = "f32"
    F16 = "f16"
    I32 = "i32"
    U32 = "u32"
    BOOL = "bool"
    U8 = "u8"

    @property
    def is_float(self) -> bool:
        """f32 or f16."""
        return self in (DType.F32, DType.F16)

    @property
    def is_whole(self) -> bool:
        """i32 or u32."""
        return self in (DType.I32, DType.U32)

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


_HOST: dict[DType, np.dtype[Any]] = {
    DType.F32: np.dtype(np.float32),
    DType.F16: np.dtype(np.float16),
    DType.I32: np.dtype(np.int32),
    DType.U32: np.dtype(np.uint32),
    DType.BOOL: np.dtype(np.bool_),
    DType.U8: np.dtype(np.uint8),
}
_DEVICE: dict[DType, np.dtype[Any]] = {**_HOST, DType.BOOL: np.dtype(np.uint32)}
