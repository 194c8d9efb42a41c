"""Prints figures of Matplotlib on dark paper, unless the user gave them a style.

Only the printed image is dark. The figure keeps its colours, and `savefig` writes them.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from matplotlib import colors, rcParams, rcParamsDefault
from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from . import screen

#: A user who changes one of these settings has chosen a style.
_STYLE = (
    *("figure.facecolor", "axes.facecolor", "axes.edgecolor", "axes.labelcolor", "text.color"),
    *("axes.titlecolor", "xtick.color", "ytick.color", "xtick.labelcolor", "ytick.labelcolor"),
    *("grid.color", "legend.facecolor", "legend.edgecolor", "legend.labelcolor"),
    *("savefig.facecolor", "axes.prop_cycle", "patch.edgecolor", "lines.color"),
)
#: Data with less contrast than this on dark paper would be invisible.
_CONTRAST = 1.7
_WHITE, _BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)

Change = tuple[Callable[[Any], Any], Any, Any]  # a setter, the new value and the former one


@contextlib.contextmanager
def on_paper(figure: Any, is_dark: bool) -> Iterator[None]:
    """Give the figure dark paper and light text, and take them back at the end."""
    changes = _changes(figure) if is_dark and not _has_style(figure) else []
    for setter, new, _ in changes:
        setter(new)
    try:
        yield
    finally:
        for setter, _, old in changes:
            setter(old)


def _has_style(figure: Any) -> bool:
    papers = [figure.patch, *(axes.patch for axes in figure.axes)]
    return any(rcParams[name] != rcParamsDefault[name] for name in _STYLE) or any(
        _rgb(paper.get_facecolor()) != _WHITE for paper in papers
    )


def _changes(figure: Any) -> list[Change]:
    """Return the changes, none if data would be invisible on dark paper."""
    figure.draw_without_rendering()  # makes all ticks
    frame: dict[int, Artist] = {id(figure.patch): figure.patch}
    for axes in figure.findobj(lambda one: hasattr(one, "spines") and hasattr(one, "xaxis")):
        parts = [axes.patch, *axes.spines.values()]
        for axis in _axes_of(axes):
            parts += [*axis.get_ticklines(), *axis.get_ticklines(minor=True)]
        frame |= {id(part): part for part in parts}
    for legend in figure.findobj(lambda one: hasattr(one, "get_frame")):
        frame[id(legend.get_frame())] = legend.get_frame()
    changes: list[Change] = []
    for artist in figure.findobj():
        if id(artist) in frame or isinstance(artist, Text):
            changes += _of_frame(artist)
        elif artist.get_visible() and _is_lost(artist):
            return []
    return changes


def _axes_of(axes: Any) -> list[Any]:
    return [axis for name in ("xaxis", "yaxis", "zaxis") if (axis := getattr(axes, name, None))]


def _of_frame(artist: Any) -> list[Change]:
    """Return the changes of white paper and black lines or text."""
    if isinstance(artist, Text):
        color = artist.get_color()
        return [(artist.set_color, screen.INK, color)] if _rgb(color) == _BLACK else []
    if isinstance(artist, Line2D):
        color, edge = artist.get_color(), artist.get_markeredgecolor()
        found: list[Change] = []
        if _rgb(color) == _BLACK:
            found.append((artist.set_color, screen.INK, color))
        if _rgb(edge) == _BLACK:
            found.append((artist.set_markeredgecolor, screen.INK, edge))
        return found
    face, edge = artist.get_facecolor(), artist.get_edgecolor()
    found = []
    if _rgb(face) == _WHITE and face[3]:
        found.append((artist.set_facecolor, (*_rgb(screen.PAPER), face[3]), face))
    if _rgb(edge) == _BLACK and edge[3]:
        found.append((artist.set_edgecolor, (*_rgb(screen.INK), edge[3]), edge))
    return found


def _is_lost(artist: Artist) -> bool:
    """Whether an artist of the data has too little contrast on dark paper."""
    if isinstance(artist, Line2D):
        nothing = ("None", "none", "", " ", None)
        drawn = artist.get_linestyle() not in nothing and artist.get_xdata(orig=False).size
        marked = artist.get_marker() not in nothing
        shown = [artist.get_color()] * bool(drawn) + [artist.get_markerfacecolor()] * marked
        return any(_is_dark(color) for color in shown)
    if isinstance(artist, Patch):
        filled = artist.get_fill() and artist.get_facecolor()[3]
        return _is_dark(artist.get_facecolor() if filled else artist.get_edgecolor())
    if isinstance(artist, Collection) and artist.get_array() is None and artist.get_paths():
        faces, edges = artist.get_facecolor(), artist.get_edgecolor()
        return any(_is_dark(color) for color in (faces if len(faces) else edges))
    return False


def _rgb(color: Any) -> tuple[float, ...]:
    return tuple(colors.to_rgba(color)[:3])


def _is_dark(color: Any) -> bool:
    """Whether a visible colour has too little contrast with the paper."""
    if isinstance(color, str) and color == "none":
        return False
    if not colors.to_rgba(color)[3]:
        return False
    darker, lighter = sorted((_luminance(_rgb(color)), _luminance(_rgb(screen.PAPER))))
    return (lighter + 0.05) / (darker + 0.05) < _CONTRAST


def _luminance(rgb: tuple[float, ...]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
