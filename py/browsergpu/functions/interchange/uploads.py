"""Uploads of a file's bytes in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.arrays.lazy.node import room
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.tensors import transfers
from browsergpu.functions.interchange.file_parts import FileParts, JoinedParts
from browsergpu.functions.nn.inputs import memory

#: Bytes of a piece, which is all that Python's memory holds of the file.
_PIECE = 1 << 22


@exclusive
def upload(
    op: str, data: np.ndarray | FileParts | JoinedParts, kind: ElementType, shape: Shape,
    device: Any = None,
) -> Array:  # fmt: skip
    """Return an array of 4-byte elements, whose bytes are uploaded in pieces.

    Parameters
    ----------
    op : str
        Name of the operation, for errors.
    data : array of uint8, FileParts or JoinedParts
        The bytes of the elements. Missing ones of the last element become 0.
    kind : ElementType
        The type, of 4 bytes.
    shape : tuple of int
        The shape.
    device : Device, optional
        The device. The current device by default.
    """
    tracer = current(device)
    tracer.device.check_open(op)
    made = Array(room(tracer.device, op, kind, shape), tracer)
    target = memory(made)
    for begin in range(0, 4 * product(shape), _PIECE):
        piece = np.asarray(data[begin : begin + _PIECE], order="C")
        if piece.size % 4:
            piece = np.concatenate([piece, np.zeros(-piece.size % 4, np.uint8)])
        transfers.write(tracer.device, target.buffer, target.offset + begin, piece.data)
    return made
