"""Figures of Matplotlib, Plotly, Altair and Bokeh, shown below their cells without set-up."""

import base64
import os
import struct
from typing import Any, NoReturn

from IPython.display import HTML, display

from . import after_import, screen


def install() -> None:
    """Prepare each library when it is imported."""
    after_import.call("matplotlib_inline.backend_inline", _matplotlib)
    after_import.call("plotly.io._renderers", _plotly)
    after_import.call("altair.vegalite.v6.display", _altair)
    after_import.call("bokeh.io", _bokeh)


# -- Matplotlib ----------------------------------------------------------------------------------


def _matplotlib() -> None:
    """Print figures with the screen's density, and on dark paper in the dark theme."""
    from IPython import get_ipython
    from IPython.core import pylabtools
    from matplotlib_inline.config import InlineBackend

    if pylabtools.print_figure.__module__ == __name__:
        return
    original = pylabtools.print_figure

    def print_figure(fig: Any, fmt: str = "png", *place: Any, **options: Any) -> Any:
        from . import dark_figures

        dense = fmt == "png" and options.get("base64") and "dpi" not in options
        density = screen.density if dense else 1.0
        if density != 1:
            options["dpi"] = fig.dpi * density
        with dark_figures.on_paper(fig, screen.is_dark):
            data = original(fig, fmt, *place, **options)
        if density == 1 or data is None:
            return data
        size = struct.unpack(">II", base64.b64decode(data[:64])[16:24])
        width, height = (round(pixels / density) for pixels in size)
        return data, {"width": width, "height": height}

    print_figure.__module__ = __name__
    pylabtools.print_figure = print_figure
    # The module's import has already chosen the formatters.
    formats = InlineBackend.instance()
    pylabtools.select_figure_formats(
        get_ipython(), formats.figure_formats, **formats.print_figure_kwargs
    )


# -- Plotly --------------------------------------------------------------------------------------

_OF_NOTEBOOKS = (
    *("plotly_mimetype", "jupyterlab", "nteract", "vscode", "notebook", "notebook_connected"),
    *("kaggle", "azure", "colab", "cocalc", "databricks", "browser", "iframe", "iframe_connected"),
)


def _plotly() -> None:
    """Make renderers for notebooks write HTML that is complete without earlier outputs."""
    from plotly.io._base_renderers import MimetypeRenderer
    from plotly.io._html import to_html
    from plotly.io._renderers import renderers

    class CellRenderer(MimetypeRenderer):  # type: ignore[misc]
        """Renderer of complete HTML, which loads Plotly's script from its CDN."""

        def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, str]:
            """Return the figure as HTML."""
            from .dark_templates import dark_html, dark_plotly

            dark = dark_plotly(fig_dict) if screen.is_dark else None
            # Only formulas need MathJax.
            has_formulas = "$" in repr(fig_dict.get("layout")) or "$" in repr(fig_dict.get("data"))
            html = to_html(
                dark or fig_dict,
                auto_play=False,
                include_plotlyjs="cdn",
                include_mathjax="cdn" if has_formulas else False,
                full_html=False,
                default_width="100%",
                default_height=525,
                validate=False,
            )
            return {"text/html": dark_html(html) if dark else html}

    for name in _OF_NOTEBOOKS:
        renderers[name] = CellRenderer()
    if "PLOTLY_RENDERER" not in os.environ:
        renderers.default = "notebook"


# -- Altair --------------------------------------------------------------------------------------


def _altair() -> None:
    """Draw charts on dark paper in the dark theme."""
    from altair.vegalite.v6.display import html_renderer, renderers

    def render(spec: dict[str, Any], **options: Any) -> dict[str, str]:
        from .dark_templates import dark_altair, dark_html

        has_look = "theme" in (options.get("embed_options") or {})
        dark = dark_altair(spec) if screen.is_dark and not has_look else None
        bundle = html_renderer(dark or spec, **options)
        return {**bundle, "text/html": dark_html(bundle["text/html"])} if dark else bundle

    for name in ("default", "html", "colab", "kaggle", "zeppelin"):
        renderers.register(name, render)
    renderers.enable("default")


# -- Bokeh ---------------------------------------------------------------------------------------


def _bokeh() -> None:
    """Make `show` write HTML that is complete without `output_notebook()`."""
    from bokeh.io.notebook import install_notebook_hook
    from bokeh.io.state import curstate

    def show_document(obj: Any, _state: Any, handle: Any = None) -> None:
        from bokeh.embed import file_html

        from .dark_templates import dark_bokeh, dark_html

        if handle:
            raise NotImplementedError(
                "show(notebook_handle=True) needs a connection from the figure to Python, which "
                "outputs here do not have. Show the figure again after changes."
            )
        theme = dark_bokeh(obj) if screen.is_dark else None
        # Bokeh's page fills its window, but a frame grows with its content.
        html = f"{file_html(obj, 'cdn', theme=theme)}<style>html, body {{ height: auto }}</style>"
        display(HTML(html if theme is None else dark_html(html)))

    install_notebook_hook("jupyter", _load_nothing, show_document, _refuse_application, True)
    curstate().output_notebook()


def _load_nothing(*_resources: Any) -> None:
    """Ignore `output_notebook()`: each output loads Bokeh's script."""


def _refuse_application(*_application: Any, **_options: Any) -> NoReturn:
    raise NotImplementedError(
        "show(application) needs a Bokeh server, which a browser cannot start. Show a figure "
        "or a layout."
    )
