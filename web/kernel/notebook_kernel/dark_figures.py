"""Prints figures of Matplotlib on dark paper, unless the user gave them a style.

Black and grey data become light, as in boxplots. White data beside them keeps the figure white.
Only the printed image is dark. The figure keeps its colours, and `savefig` writes them.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from matplotlib import colors, rcParams, rcParamsDefault
from matplotlib.artist import Artist
from matplotlib.collections import Collection, QuadMesh
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

from . import screen

#: A user who changes one of these settings has chosen a style.
_STYLE = (
    *("figure.facecolor", "axes.facecolor", "axes.edgecolor", "axes.labelcolor", "text.color"),
    *("axes.titlecolor", "xtick.color", "ytick.color", "xtick.labelcolor", "ytick.labelcolor"),
    *("grid.color", "legend.facecolor", "legend.edgecolor", "legend.labelcolor"),
    *("savefig.facecolor", "axes.prop_cycle", "patch.edgecolor", "lines.color"),
)
#: Data with less contrast than this on dark paper would be invisible; grey data become light.
_CONTRAST = 1.7
_WHITE, _BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
_NOTHING = ("None", "none", "", " ", None)

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
    """Return the changes, none if coloured data would be invisible on dark paper."""
    figure.draw_without_rendering()  # makes all ticks
    frame: dict[int, Artist] = {id(figure.patch): figure.patch}
    for axes in figure.findobj(lambda one: hasattr(one, "spines") and hasattr(one, "xaxis")):
        parts = [axes.patch, *axes.spines.values()]
        for axis in _axes_of(axes):
            parts += [*axis.get_ticklines(), *axis.get_ticklines(minor=True)]
        frame |= {id(part): part for part in parts}
    covered = {id(axes) for axes in figure.axes if _is_covered(axes)}
    kept: set[int] = set()
    for legend in figure.findobj(lambda one: hasattr(one, "get_frame")):
        if id(legend.axes) in covered:
            kept |= {id(part) for part in legend.findobj()}
        else:
            frame[id(legend.get_frame())] = legend.get_frame()
    changes: list[Change] = []
    data: list[Change] = []
    has_light = False
    for artist in figure.findobj(lambda one: id(one) not in kept):
        is_covered = id(getattr(artist, "axes", None)) in covered
        if id(artist) in frame or isinstance(artist, Text):
            changes += [] if _has_ground(artist, is_covered) else _of_frame(artist)
        for part in _data_of(artist) if artist.get_visible() and id(artist) not in frame else ():
            lost = [color for color in part.colors if _is_dark(color)]
            has_light |= any(_is_white(color) for color in part.colors)
            if is_covered or not lost:
                continue
            if not all(_is_grey(color) for color in lost):
                return []
            data.append((part.setter, [_in_ink(color) for color in part.colors], part.old))
    # Black and white data would look alike.
    return [] if data and has_light else [*changes, *data]


def _is_covered(axes: Any) -> bool:
    """Whether an image covers the paper of the axes, so that what is drawn on it stays."""
    return bool(axes.images) or any(
        isinstance(one, QuadMesh) or getattr(one, "filled", False) for one in axes.collections
    )


def _has_ground(artist: Any, is_covered: bool) -> bool:
    """Whether the artist is a text on an image, or in a box of its own."""
    if not isinstance(artist, Text):
        return False
    box = artist.get_bbox_patch()
    return (is_covered and artist in artist.axes.texts) or (
        box is not None and box.get_fill() and box.get_facecolor()[3] > 0
    )


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


class _Part(NamedTuple):
    """Colours of an artist of the data, all for one setter."""

    colors: list[Any]
    setter: Callable[[Any], Any]
    old: Any


def _data_of(artist: Any) -> Iterator[_Part]:
    """Return the colours of an artist of the data that lie on the paper."""
    if isinstance(artist, Annotation) and artist.arrow_patch is not None:
        yield from _data_of(artist.arrow_patch)
    elif isinstance(artist, Line2D):
        if artist.get_linestyle() not in _NOTHING and artist.get_xdata(orig=False).size:
            yield _single(artist.get_color(), artist.set_color)
        if artist.get_marker() not in _NOTHING:
            # The marker's own settings may be "auto", which is the line's colour.
            face, edge = artist._markerfacecolor, artist._markeredgecolor
            yield _single(artist.get_markerfacecolor(), artist.set_markerfacecolor, face)
            yield _single(artist.get_markeredgecolor(), artist.set_markeredgecolor, edge)
    elif isinstance(artist, Patch):
        if artist.get_fill():
            yield _single(artist.get_facecolor(), artist.set_facecolor)
        if artist.get_linewidth():
            yield _single(artist.get_edgecolor(), artist.set_edgecolor)
    elif isinstance(artist, Collection) and artist.get_array() is None and artist.get_paths():
        faces, edges = artist.get_facecolor(), artist.get_edgecolor()
        if len(faces):
            yield _Part(list(faces), artist.set_facecolor, faces)
        else:
            yield _Part(list(edges), artist.set_edgecolor, edges)


def _single(color: Any, setter: Callable[[Any], Any], old: Any = None) -> _Part:
    """Return the part for a setter of one colour."""
    return _Part([color], lambda new: setter(new[0]), [color if old is None else old])


def _in_ink(color: Any) -> Any:
    """Return the colour for dark paper."""
    return (*_rgb(screen.INK), colors.to_rgba(color)[3]) if _is_dark(color) else color


def _is_grey(color: Any) -> bool:
    rgb = _rgb(color)
    return max(rgb) - min(rgb) < 0.05


def _is_white(color: Any) -> bool:
    return bool(colors.to_rgba(color)[3]) and _is_grey(color) and _luminance(_rgb(color)) > 0.7


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
