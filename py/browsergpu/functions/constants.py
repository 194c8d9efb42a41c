"""Dtypes and mathematical constants of the array namespace.

The dtypes are NumPy's classes, so ``float32(3)`` is a number. Arrays have no float64 and
complex128: float32 and complex64 replace them, as ``set_x64`` describes.
"""

from math import e, inf, nan, pi

import numpy as np

bool = np.bool_
int8 = np.int8
int16 = np.int16
int32 = np.int32
int64 = np.int64
uint8 = np.uint8
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
float16 = np.float16
float32 = np.float32
float64 = np.float64
complex64 = np.complex64
complex128 = np.complex128
newaxis = None

__all__ = [
    "bool",
    "complex64",
    "complex128",
    "e",
    "float16",
    "float32",
    "float64",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "nan",
    "newaxis",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
