"""Arrays as images on the page, and as HTML in notebooks."""

from __future__ import annotations

import sys

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant
from browsergpu.core.above import register
from browsergpu.core.element_types import FLOAT32, UINT8
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.device import canvas


@constant
def draw(x: Array, /, *, canvas_id: str = "gpu-canvas") -> None:
    """Show an array as an image on a canvas.

    Parameters
    ----------
    x : Array
        Shape [height, width] (grey) or [height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGBA)
        channels. Floats are clamped to 0 to 1, uint8 is from 0 to 255, and bool is black and white.
    canvas_id : str, optional
        The id of the canvas.

    Raises
    ------
    InvalidType
        If ``x`` is not an array of these dtypes. The class is a TypeError.
    InvalidArgument
        If ``x`` has another shape, or there is no canvas with this id. The class is a ValueError.
    Unsupported
        If another kind of context uses the canvas.

    Notes
    -----
    The image stays on the GPU, and the canvas takes its size. In the notebook, the image is an
    output of its cell, one for each ``canvas_id``. In a worker of another page, the image appears
    when Python next waits or returns. So an animation awaits something, such as ``asyncio.sleep``,
    after each image.
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


def html(x: Array) -> str | None:
    """Return an array's HTML for a notebook, or None for a small array."""
    from browsergpu.functions.interchange import summary  # when it is first needed

    return summary.html(x)


register("display", sys.modules[__name__])
