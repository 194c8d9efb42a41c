"""Pictures: filters and sizes of arrays of [H, W] or [H, W, C], floats from 0 to 1 or uint8."""

from browsergpu.arrays.functions.pictures.filters import (
    brightness,
    contrast,
    gaussian_blur,
    grayscale,
    invert,
    sharpen,
    sobel,
    threshold,
)
from browsergpu.arrays.functions.pictures.sizes import resize

__all__ = [
    "brightness",
    "contrast",
    "gaussian_blur",
    "grayscale",
    "invert",
    "resize",
    "sharpen",
    "sobel",
    "threshold",
]
