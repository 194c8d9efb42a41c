"""Arrays as images on the page, and as HTML in notebooks."""

from __future__ import annotations

import sys
from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant
from browsergpu.core.above import register
from browsergpu.device import canvas


@constant
def draw(
    x: Array,
    /,
    *,
    canvas_id: str = "gpu-canvas",
    cmap: Any = None,
    vmin: float | None = None,
    vmax: float | None = None,
    colorbar: bool = False,
    axes: bool = False,
    nan: Any = None,
    interpolation: str | None = None,
    title: str | None = None,
) -> None:
    """Show an array as an image on a canvas.

    Parameters
    ----------
    x : Array
        Shape [height, width] (gray) or [height, width, channels] with 1 (gray), 3 (RGB) or 4 (RGBA)
        channels. Floats are clamped to 0 to 1, uint8 is from 0 to 255, and bool is black and white.
        With one of the options ``cmap``, ``vmin``, ``vmax`` and ``nan``, other integers too.
    canvas_id : str, optional
        The id of the canvas.
    cmap : str or array_like, optional
        A colormap of Matplotlib for an image without color: viridis, plasma, inferno, magma,
        cividis, gray, turbo, coolwarm or RdBu, or its reverse (``"viridis_r"``). Or colors from 0
        to 1 on the host, of shape [n, 3] or [n, 4]. The default is gray.
    vmin, vmax : float, optional
        The values with the first and the last color. With a ``cmap`` or one of them, the default is
        the least or the greatest finite value. Otherwise it is 0 and 1, and 255 for uint8.
    colorbar : bool, optional
        Whether to show the colors with their values. Unless ``vmin`` and ``vmax`` are given or 0
        and 1, this reads two numbers from the GPU, and waits.
    axes : bool, optional
        Whether to label rows and columns.
    nan : str or tuple of float, optional
        The color of NaN and infinities in an image without color: "#rrggbb", "#rrggbbaa", or 3 or 4
        numbers from 0 to 1. They are transparent by default with a ``cmap``, ``vmin`` or ``vmax``.
    interpolation : {"nearest", "bilinear"}, optional
        Enlarges an image narrower than 256 pixels by the least whole number that makes it at least
        as wide. "bilinear" interpolates the values before they get colors. With axes, a colorbar or
        a title, the default is "nearest".
    title : str, optional
        Text above the image.

    Raises
    ------
    InvalidType
        If ``x`` is not an array of these dtypes, or an option has another type. The class is a
        TypeError.
    InvalidArgument
        If ``x`` has another shape, an option is invalid, an image with colors has an option for
        images without color, or there is no canvas with this id. The class is a ValueError.
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
    from browsergpu.functions.images import drawing  # when it is first needed

    shown = drawing.picture(
        op,
        x,
        lambda: canvas.find(op, canvas_id),
        colors=drawing.Colors(cmap, vmin, vmax, nan),
        parts=drawing.Parts(colorbar, axes, title, interpolation),
    )
    packed = apply.packed(shown)  # held until it is drawn
    height, width, channels = (*packed.shape, 1)[:3]
    canvas.draw(x.device, op, canvas_id, packed.node.storage.buffer, height, width, channels)


def html(x: Array) -> str | None:
    """Return an array's HTML for a notebook, or None for a small array."""
    from browsergpu.functions.interchange import summary  # when it is first needed

    return summary.html(x)


register("display", sys.modules[__name__])
