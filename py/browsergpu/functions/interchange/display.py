"""Arrays as images on the page, and as HTML in notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant
from browsergpu.engine.core.above import register
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.device import canvas
from browsergpu.engine.gpu import platform

if TYPE_CHECKING:
    from browsergpu.functions.images.picture import Picture
    from browsergpu.functions.images.plot_view import PlotView
    from browsergpu.functions.images.pointer import Place, PointerEvent


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
    on_pointer: Callable[[PointerEvent], object] | None = None,
) -> Picture | None:
    """Show an array as an image on a canvas, or return the image outside of a page.

    Parameters
    ----------
    x : Array
        Shape [height, width] (gray) or [height, width, channels] with 1 (gray), 3 (RGB) or 4 (RGBA)
        channels. Floats are clamped to 0 to 1, uint8 is from 0 to 255, and bool is black and white.
        With one of the options ``cmap``, ``vmin``, ``vmax`` and ``nan``, other integers too.
    canvas_id : str, optional
        The id of the canvas, or the name of the returned image.
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
    on_pointer : callable, optional
        A function that is called with a :class:`PointerEvent` when a mouse button, pen or finger is
        put down on the image, moves, and is released. The function of the newest image counts, so a
        function that draws again passes itself again.

    Returns
    -------
    Picture or None
        None in a page. Elsewhere the image, which Jupyter shows, and which ``save(path)`` writes to
        a PNG file.

    Raises
    ------
    InvalidType
        If ``x`` is not an array of these dtypes, or an option has another type. The class is a
        TypeError.
    InvalidArgument
        If ``x`` has another shape, an option is invalid, an image with colors has an option for
        images without color, or there is no canvas with this id. The class is a ValueError.
    Unsupported
        If another kind of context uses the canvas, no page sends pointer input to Python, or
        outside of a page, axes, a colorbar or a title need Pillow.

    Notes
    -----
    The image stays on the GPU, and the canvas takes its size. In the notebook, the image is an
    output of its cell, one for each ``canvas_id``. In a worker of another page, the image appears
    when Python next waits or returns. So an animation awaits something, such as ``asyncio.sleep``,
    after each image.

    In the notebook, a cursor that rests on the image shows row, column and value: the original
    ones, before ``cmap`` and interpolation. They are read from the GPU then, while no cell runs. A
    drawing keeps no array alive, so an array that was freed or has changed since shows no values.

    ``on_pointer`` runs at once while no cell runs, and otherwise in the next ``draw`` of the cell
    that shows the image, after the image was painted. So a loop gets input even if it never waits.
    An exception is raised there, and ends the input until the next ``draw``.

    Examples
    --------
    A brush. Each event has all positions since the previous one::

        rows, columns = bg.arange(64)[:, None], bg.arange(64)
        image = bg.zeros((64, 64))

        def paint(event):
            for x, y in event.points:
                image[(rows - y) ** 2 + (columns - x) ** 2 < 9] = 1
            bg.draw(image, interpolation="nearest", on_pointer=paint)

        bg.draw(image, interpolation="nearest", on_pointer=paint)
    """
    from browsergpu.functions.images import drawing, pointer  # when it is first needed

    op = "draw"
    pointer.check(op, on_pointer)
    colors = drawing.Colors(cmap, vmin, vmax, nan)
    parts = drawing.Parts(colorbar, axes, title, interpolation)
    if not platform.IN_PYODIDE:
        if on_pointer is not None:
            raise pointer.without_page(op)
        image, _ = drawing.picture(op, x, lambda: None, colors=colors, parts=parts)
        return returned(op, image, canvas_id)

    def find() -> Any:
        return canvas.find(op, canvas_id)

    image, place = drawing.picture(op, x, find, colors=colors, parts=parts)
    show(op, find(), canvas_id, image, x=x, on_pointer=on_pointer, place=place)
    if on_pointer is not None:
        pointer.deliver()  # only in a page, where no other thread waits for the user's code
    return None


def returned(op: str, image: Array, canvas_id: str) -> Picture:
    """Return the image that a page would show on the canvas."""
    from browsergpu.functions.images.picture import Picture

    if not isinstance(canvas_id, str):
        raise InvalidType(op, "canvas_id", canvas_id, "a str, the name of the image")
    return Picture(image, canvas_id)


def show(
    op: str,
    target: Any,
    canvas_id: str,
    image: Array,
    *,
    x: Array | None = None,
    on_pointer: Any = None,
    place: Place | None = None,
    view: PlotView | None = None,
) -> None:
    """Paint a float32 image on a found canvas.

    ``x`` is the array with the values of the image, at ``place``. Pointer input is for
    ``on_pointer``, zoom and pan for ``view``.
    """
    from browsergpu.functions.images import drawn, plot_view, pointer

    packed = apply.packed(image)  # held until it is drawn
    height, width, channels = (*packed.shape, 1)[:3]
    owner = pointer.owner_of(canvas_id)
    pointer.listen(op, target, canvas_id, owner, on_pointer, place)
    plot_view.follow(target, canvas_id, owner, view)
    canvas.draw(image.device, op, canvas_id, packed.node.storage.buffer, height, width, channels)
    drawn.remember(canvas_id, owner, x, place)


def html(x: Array) -> str | None:
    """Return an array's HTML for a notebook, or None for a small array."""
    from browsergpu.functions.interchange import summary  # when it is first needed

    return summary.html(x)


register("display", sys.modules[__name__])
