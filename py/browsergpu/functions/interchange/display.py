"""Arrays as pictures on the page."""

from __future__ import annotations

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant
from browsergpu.core.element_types import FLOAT32, UINT8
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.device import canvas


@constant
def draw(x: Array, /, *, canvas_id: str = "gpu-canvas") -> None:
    """Shows an array [height, width], in grey, or [height, width, channels], of 1 (grey), 3 (RGB)
    or 4 channels (RGBA), on a canvas. The picture stays on the GPU. In the notebook it is an output
    of its cell, one for each ``canvas_id`` that the cell draws on.

    Floats are from 0 to 1, values outside are clamped; uint8 from 0 to 255; bool is black and
    white. The canvas takes the picture's size. In a worker of another page the picture appears when
    Python next waits or returns: an animation awaits something (``asyncio.sleep``) after each one.

    Raises InvalidType, a TypeError, for other dtypes, InvalidArgument, a ValueError, for other
    shapes and where there is no canvas of that id, and Unsupported where the canvas is taken by
    another kind of context.
    """
    op = "draw"
    if not isinstance(x, Array):
        raise InvalidType(op, "x", x, "an array (asarray makes one)")
    kind = x.node.kind
    if kind.kind not in "fb" and kind is not UINT8:
        raise InvalidType(op, "x", kind.numpy, "floats from 0 to 1, uint8 or bool")
    height, width, channels = (*x.shape, 1)[:3] if x.ndim in (2, 3) else (0, 0, 0)
    largest = x.device.limits["maxTextureDimension2D"]
    if channels not in (1, 3, 4) or not (1 <= height <= largest and 1 <= width <= largest):
        expected = "have shape (height, width) or (height, width, 1, 3 or 4)"
        advice = f"A side has 1 to {largest} pixels."
        raise InvalidArgument(op, "x", x, expected, advice)
    shown = apply.cast_to(op, x, FLOAT32, copy=False)
    if kind is UINT8:
        shown = shown / 255
    packed = apply.packed(shown)  # held until it is drawn
    canvas.draw(x.device, op, canvas_id, packed.node.storage.buffer, height, width, channels)
