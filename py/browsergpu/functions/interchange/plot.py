"""Curves and points of arrays as images on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.device import canvas
from browsergpu.engine.gpu import platform
from browsergpu.functions.images import paper, plot_view, plots, pointer, series
from browsergpu.functions.images.plot_view import PlotView
from browsergpu.functions.interchange import display

if TYPE_CHECKING:
    from browsergpu.functions.images.picture import Picture

_SCALES = ("linear", "log")
_MOST_WIDTH = 100


@constant
def plot(
    *args: Any,
    color: Any = None,
    linewidth: int = 1,
    alpha: float = 1.0,
    label: Any = None,
    title: str | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    xscale: str = "linear",
    yscale: str = "linear",
    dark: bool | None = None,
    canvas_id: str = "gpu-canvas",
) -> Picture | None:
    """Show arrays as curves or points on a canvas, or return the image outside of a page.

    Parameters
    ----------
    *args : Array or str
        ``[x], y, [format]``, repeated for several curves. Arrays are real, of shape [n], and
        computed in float32. Without x, the samples are at 0, 1, 2, …. A format is Matplotlib's: a
        line ``"-"``, a marker ``"."``, ``"o"`` or ``","``, or both, and a color of one letter. The
        default is a line. NaN and infinities break lines.
    color : str, tuple of float or list, optional
        "#rrggbb", "#rrggbbaa", a letter of "bgrcmykw", "C0" to "C9", or 3 or 4 numbers from 0 to 1.
        A list has one for each curve. The default is Matplotlib's cycle, "C0" to "C9".
    linewidth : int, optional
        The width of lines in pixels (Matplotlib's is in points).
    alpha : float, optional
        The opacity of all curves, 0 to 1.
    label : str or list of str, optional
        The text of the legend, which is beside the axes. A list has one for each curve.
    title, xlabel, ylabel : str, optional
        Texts above the axes, below, and at the left, where it reads upwards.
    xlim, ylim : tuple of float, optional
        The ends of an axis. By default, the finite values with a margin of 5 % at each end.
    xscale, yscale : {"linear", "log"}, optional
        The scale of an axis. A log scale leaves out values up to 0.
    dark : bool, optional
        Whether the paper is dark and the texts are light. By default, as the notebook's theme: dark
        in the dark theme, unless a curve is too dark for it. Elsewhere light.
    canvas_id : str, optional
        The id of the canvas, or the name of the returned image. A plot replaces the image of its
        canvas, so a loop makes an animation.

    Returns
    -------
    Picture or None
        None in a page. Elsewhere the image, which Jupyter shows, and which ``save(path)`` writes to
        a PNG file.

    Raises
    ------
    InvalidType
        If an argument has another type. The class is a TypeError.
    InvalidArgument
        If an argument is invalid, or there is no canvas with this id. The class is a ValueError.
    Unsupported
        If another kind of context uses the canvas, or Pillow is missing outside of a page.

    Notes
    -----
    The samples stay on the GPU. Only automatic limits are read, two numbers for each curve and
    axis; with ``xlim`` and ``ylim``, nothing is read.

    In each column of pixels, a line covers all pixels between the least and the greatest height of
    the curve there. So the extreme of one sample among millions is visible. Edges are smooth: a
    pixel that is covered in part has a part of the color.

    In the notebook, the wheel and drags change the ranges of the axes, and the GPU draws the plot
    anew from its samples. So the plot keeps a copy of them in GPU memory until its cell runs again
    or is deleted. In a loop of plots, ranges that the user has chosen stay. Outside of a page,
    texts need Pillow.

    Examples
    --------
    A curve with a million samples, and every thousandth as a point::

        t = bg.linspace(0, 10, 1_000_000)
        y = bg.sin(t) * bg.exp(-t / 5)
        bg.plot(t, y, t[::1000], y[::1000] + 0.1, ".", label=["all", "some"], xlabel="s")
        bg.plot(t, y, xlim=(2, 2.01), ylim=(0.5, 0.7))  # a part, with all of its samples
    """
    op = "plot"
    found = series.parse(op, args, color, label)
    checks.integer(op, "linewidth", linewidth, 1, _MOST_WIDTH)
    opacity = checks.fraction(op, "alpha", alpha) if alpha != 1 else 1.0
    texts = {"title": title, "xlabel": xlabel, "ylabel": ylabel}
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise InvalidType(op, name, text, "a str or None")
    if dark is not None and not isinstance(dark, bool):
        raise InvalidType(op, "dark", dark, "a bool or None")
    for name, scale in (("xscale", xscale), ("yscale", yscale)):
        if scale not in _SCALES:
            raise InvalidArgument(op, name, scale, f"one of {', '.join(_SCALES)}")
    x_log, y_log = xscale == "log", yscale == "log"
    x_limits = plots.limits(op, "xlim", xlim, x_log)
    y_limits = plots.limits(op, "ylim", ylim, y_log)
    on = paper.choose(dark, [one.color for one in found])
    shown = plots.Plot(found, texts, linewidth, opacity, on)
    scales = {"x_log": x_log, "y_log": y_log}
    if not platform.IN_PYODIDE:
        ranges = plots.axes(found, x_limits, y_limits, **scales)
        return display.returned(op, shown.picture(*ranges)[0], canvas_id)
    canvas.find(op, canvas_id)
    ranges = plots.axes(found, x_limits, y_limits, **scales)

    tracer = found[0].y.tracer  # not the samples: the view has copies of its own

    def show(picture: Array, view: PlotView) -> None:
        target = canvas.find(op, canvas_id)
        known = view if tracer.captured is None else None
        display.show(op, target, canvas_id, picture, view=known)

    view = PlotView(shown, *ranges, show)
    former = plot_view.former(canvas_id)
    if former is not None:
        view.look_as(former)
    view.draw()
    pointer.deliver()  # only in a page, where no other thread waits for the user's code
    return None
