"""Dark looks of Plotly, Altair and Bokeh for figures that have no style of the user's."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from . import screen

_LINE, _GRID = "#8a8f93", "#3b4145"
#: Colours that would be invisible on dark paper.
_LOST = {"black", "#000", "#000000", "rgb(0,0,0)", "rgba(0,0,0,1)", "k", "navy", "midnightblue"}
#: Plotly tests longer lists of colours only as far as this.
_MOST_COLORS = 1000


def dark_html(html: str) -> str:
    """Return the HTML of a dark figure. The page draws its frame dark by the attribute."""
    return f'<div data-paper="dark" style="background: {screen.PAPER}">{html}</div>'


def _is_lost(color: Any) -> bool:
    return isinstance(color, str) and color.replace(" ", "").lower() in _LOST


# -- Plotly --------------------------------------------------------------------------------------


def dark_plotly(figure: dict[str, Any]) -> dict[str, Any] | None:
    """Return the figure with Plotly's dark template; None if the user chose its look."""
    from plotly.io import templates

    layout = figure.get("layout") or {}
    is_plain = templates.default == "plotly" and not any(
        name in layout for name in ("paper_bgcolor", "plot_bgcolor")
    )
    default = templates["plotly"].to_plotly_json()
    if not is_plain or layout.get("template") != default:
        return None
    own = {name: part for name, part in layout.items() if name != "template"}
    if any(_is_lost(color) for color in _plotly_colors([figure.get("data"), own])):
        return None
    dark = json.dumps(templates["plotly_dark"].to_plotly_json()).replace(
        "rgb(17,17,17)", screen.PAPER
    )
    return {**figure, "layout": {**layout, "template": json.loads(dark)}}


def _plotly_colors(part: Any, name: str = "") -> Iterator[Any]:
    """Return the colours that a figure names."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _plotly_colors(value, key)
    elif isinstance(part, list | tuple):
        if name.endswith("color"):
            yield from part[:_MOST_COLORS]
        elif part and isinstance(part[0], dict | list | tuple):
            for value in part:
                yield from _plotly_colors(value, name)
    elif name.endswith("color"):
        yield part


# -- Altair --------------------------------------------------------------------------------------

_ALTAIR: dict[str, dict[str, Any]] = {
    "view": {"stroke": _GRID},
    "title": {"color": screen.INK, "subtitleColor": screen.INK},
    "style": {"guide-label": {"fill": screen.INK}, "guide-title": {"fill": screen.INK}},
    "axis": {"domainColor": _LINE, "gridColor": _GRID, "tickColor": _LINE},
    "header": {"labelColor": screen.INK, "titleColor": screen.INK},
    "text": {"color": screen.INK},
    "rule": {"color": screen.INK},
}


def dark_altair(spec: dict[str, Any]) -> dict[str, Any] | None:
    """Return the Vega-Lite specification with dark paper; None if the user chose its look."""
    from altair.vegalite.v6.theme import themes

    config = spec.get("config") or {}
    is_plain = themes.active == "default" and not any("background" in one for one in (spec, config))
    without_data = {name: part for name, part in spec.items() if name not in ("data", "datasets")}
    if not is_plain or any(_is_lost(value) for value in _strings(without_data)):
        return None
    return {**spec, "config": {"background": screen.PAPER, **_merged(_ALTAIR, config)}}


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Return both mappings, `over` preferred, with the mappings in them merged too."""
    both = {
        name: _merged(under[name], over[name])
        for name in under.keys() & over.keys()
        if isinstance(under[name], dict) and isinstance(over[name], dict)
    }
    return {**under, **over, **both}


def _strings(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _strings(value)
    elif isinstance(part, list):
        for value in part:
            yield from _strings(value)


# -- Bokeh ---------------------------------------------------------------------------------------

_BOKEH = {
    "Plot": {
        "background_fill_color": screen.PAPER,
        "border_fill_color": screen.PAPER,
        "outline_line_color": _GRID,
    },
    "Grid": {"grid_line_color": _GRID},
    "Axis": {
        "axis_line_color": _LINE,
        "major_tick_line_color": _LINE,
        "minor_tick_line_color": _LINE,
        "major_label_text_color": screen.INK,
        "axis_label_text_color": screen.INK,
    },
    "CategoricalAxis": {"group_text_color": screen.INK, "subgroup_text_color": screen.INK},
    "Legend": {
        "label_text_color": screen.INK,
        "title_text_color": screen.INK,
        "border_line_color": _GRID,
        "background_fill_color": screen.PAPER,
    },
    "BaseColorBar": {
        "title_text_color": screen.INK,
        "major_label_text_color": screen.INK,
        "background_fill_color": screen.PAPER,
    },
    "Title": {"text_color": screen.INK},
    "Label": {"text_color": screen.INK},
    "LabelSet": {"text_color": screen.INK},
    "Text": {"text_color": screen.INK},
    "Span": {"line_color": screen.INK},
    "Whisker": {"line_color": screen.INK},
}
_BOKEH_PAPERS = {"background_fill_color", "border_fill_color"}


def dark_bokeh(shown: Any) -> Any:
    """Return Bokeh's theme for dark paper; None if the user chose a look for what is shown."""
    from bokeh.io import curdoc
    from bokeh.themes import Theme, default

    roots = getattr(shown, "roots", None) or (shown if isinstance(shown, list) else [shown])
    models = {model for root in roots for model in root.references()}
    if curdoc().theme is not default or not all(_is_plain(model) for model in models):
        return None
    return Theme(json={"attrs": _BOKEH})


def _is_plain(model: Any) -> bool:
    """Whether a model of Bokeh can be shown on dark paper."""
    from bokeh.models.annotations import BoxAnnotation, PolyAnnotation
    from bokeh.models.glyph import Glyph
    from bokeh.models.widgets import Widget

    if isinstance(model, Widget):
        return False  # its labels are black
    if isinstance(model, BoxAnnotation | PolyAnnotation):
        return True  # mostly what a tool selects, which has light fill
    if isinstance(model, Glyph):
        color = getattr(model, "fill_color", getattr(model, "line_color", None))
        return not _is_lost(getattr(color, "value", color))
    changed = model.properties_with_values(include_defaults=False)
    return not _BOKEH_PAPERS & changed.keys() and not any(
        _is_lost(color) for color in _bokeh_colors(changed.items())
    )


def _bokeh_colors(properties: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    for name, value in properties:
        if name.endswith("color"):
            yield getattr(value, "value", value)
