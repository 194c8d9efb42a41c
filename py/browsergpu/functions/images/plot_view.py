"""Zoom and pan of plots: input of the page, and plots drawn anew from their samples.

A row of input is ``["zoom", x, y, factor]``, ``["pan", dx, dy]`` or ``["all"]``, with positions and
movements in pixels of the canvas. ``web/app/cells/picture-view.js`` sends them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.gpu import platform
from browsergpu.functions.images import pointer
from browsergpu.functions.images.figures import Frame
from browsergpu.functions.images.plots import HEIGHT, WIDTH, Axis, Plot

#: Puts the picture of a plot on its canvas.
Show = Callable[[Array, "PlotView"], None]
# The canvases whose newest image is a plot.
_marked: set[str] = set()


class PlotView(Shown):
    """A plot on a canvas, and the ranges of its axes that are shown."""

    def __init__(self, plot: Plot, x: Axis, y: Axis, show: Show) -> None:
        self._plot, self._show = plot, show
        self._whole = self._shown = x, y
        self._frame: Frame | None = None

    def draw(self) -> None:
        """Show the plot."""
        picture, self._frame = self._plot.picture(*self._shown)
        self._show(picture, self)

    def look_as(self, former: PlotView) -> None:
        """Show the ranges of a former plot of the canvas, if the user has chosen them."""
        are_log = [axis.is_log for axis in self._whole]
        if former._shown != former._whole and are_log == [one.is_log for one in former._shown]:
            self._shown = former._shown

    def keep_samples(self) -> None:
        """Copy the samples, so that later writes do not change the plot."""
        self._plot = self._plot.kept()

    @exclusive
    def take(self, rows: list[Any]) -> None:
        """Zoom and pan, and draw the plot once."""
        before = self._shown
        for kind, *numbers in rows:
            if kind == "all":
                self._shown = self._whole
            elif kind == "pan":
                self._pan(*numbers)
            elif kind == "zoom":
                self._zoom(*numbers)
        if self._shown != before:
            self.draw()

    def _pan(self, dx: float, dy: float) -> None:
        x, y = self._shown
        self._shown = self._allowed(x.moved(-dx / (WIDTH - 1)), y.moved(dy / (HEIGHT - 1)))

    def _zoom(self, x: float, y: float, factor: float) -> None:
        """Zoom around a position; only in the x axis below the curves, only in y beside them."""
        across, up = self._parts(x, y)
        x_axis, y_axis = self._shown
        if up >= 0 or across < 0:
            y_axis = y_axis.zoomed(min(max(up, 0), 1), factor)
        if across >= 0:
            x_axis = x_axis.zoomed(min(across, 1), factor)
        self._shown = self._allowed(x_axis, y_axis)

    def _allowed(self, x: Axis, y: Axis) -> tuple[Axis, Axis]:
        return x.within(self._whole[0]), y.within(self._whole[1])

    def _parts(self, x: float, y: float) -> tuple[float, float]:
        """Return a position as parts of the axes, from 0 to 1 on the curves."""
        frame = self._frame
        assert frame is not None  # drawn before
        across = (x - frame.left - 0.5) / (WIDTH - 1)
        return across, 1 - (y - frame.top - 0.5) / (HEIGHT - 1)

    def value_at(self, x: float, y: float) -> str:
        """Return the values of both axes at a position, or "" beside the curves."""
        parts = self._parts(x, y)
        if not all(0 <= part <= 1 for part in parts):
            return ""
        names = zip(("x", "y"), self._shown, parts, strict=True)
        return ", ".join(f"{name} = {axis.at(part):.6g}" for name, axis, part in names)


def follow(canvas: Any, canvas_id: str, owner: int | None, view: PlotView | None) -> None:
    """Pass zoom and pan of the canvas's next image to ``view``, or end it for a drawing."""
    if view is None and canvas_id not in _marked:
        return
    if owner is None or view is None:
        _marked.discard(canvas_id)
        platform.mark_plot(canvas, None)
        if owner is not None and isinstance(pointer.listener_of(canvas_id, owner), PlotView):
            pointer.forget(canvas_id, owner)
        return
    _marked.add(canvas_id)
    if not platform.mark_plot(canvas, owner):
        return
    if pointer.listener_of(canvas_id, owner) is not view:
        view.keep_samples()
        pointer.keep(canvas_id, owner, view)


def former(canvas_id: str) -> PlotView | None:
    """Return the plot that the running code has drawn on a canvas before."""
    owner = pointer.owner_of(canvas_id)
    found = None if owner is None else pointer.listener_of(canvas_id, owner)
    return found if isinstance(found, PlotView) else None
