"""Image filters and resizing.

Images have the shape [H, W] or [H, W, C], and are floats from 0 to 1 or uint8.
"""

from browsergpu.functions.images.filters import (
    brightness,
    contrast,
    gaussian_blur,
    grayscale,
    invert,
    sharpen,
    sobel,
    threshold,
)
from browsergpu.functions.images.sizes import resize

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
