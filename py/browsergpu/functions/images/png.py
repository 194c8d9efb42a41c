"""PNG files of images on the host."""

from __future__ import annotations

import struct
import zlib

import numpy as np

#: The color type of a PNG with so many channels.
_COLOR_TYPES = {1: 0, 3: 2, 4: 6}


def encode(pixels: np.ndarray) -> bytes:
    """Return the PNG file of uint8 pixels [height, width, 1, 3 or 4]: gray, RGB or RGBA."""
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with its filter, 0
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows.tobytes())) + _chunk(b"IEND", b"")
    )  # fmt: skip


def _chunk(name: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check
