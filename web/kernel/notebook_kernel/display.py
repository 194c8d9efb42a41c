"""Values to MIME bundles, by the same `_repr_*_` methods that Jupyter calls."""

import base64
import io
import sys
from collections.abc import Callable, Mapping
from typing import Any

from . import outputs

TEXT_METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "text/latex": "_repr_latex_",
}
BINARY_METHODS = {"image/png": "_repr_png_", "image/jpeg": "_repr_jpeg_"}


def mime_bundle(value: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """How `value` can be shown: data by MIME type (binary in base64) and metadata.

    A `_repr_*_` method that raises or returns None is passed over: text/plain is always there.
    """
    data: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    figure = _figure_png(value)
    if figure is not None:
        data["image/png"] = figure
    if not isinstance(value, type):
        _add_bundle(value, data, metadata)
        for mime, name in TEXT_METHODS.items():
            _add(data, mime, _call(value, name))
        for mime, name in BINARY_METHODS.items():
            _add(data, mime, _call(value, name))
    if "text/plain" not in data:
        data["text/plain"] = repr(value)
    return data, metadata


def _method(value: Any, name: str) -> Callable[..., Any] | None:
    # Looked up on the type: an object that answers every attribute has no such method.
    if getattr(type(value), name, None) is None:
        return None
    method = getattr(value, name, None)
    return method if callable(method) else None


def _call(value: Any, name: str) -> Any:
    method = _method(value, name)
    if method is None:
        return None
    try:
        result = method()
    except Exception:
        return None
    return result[0] if isinstance(result, tuple) and result else result


def _add(data: dict[str, str], mime: str, content: Any) -> None:
    if mime in data:
        return
    if isinstance(content, bytes | bytearray | memoryview):
        data[mime] = base64.b64encode(content).decode("ascii")
    elif isinstance(content, str):
        data[mime] = content


def _add_bundle(value: Any, data: dict[str, str], metadata: dict[str, Any]) -> None:
    method = _method(value, "_repr_mimebundle_")
    if method is None:
        return
    try:
        result = method(include=None, exclude=None)
    except Exception:
        return
    if isinstance(result, tuple) and len(result) == 2:
        result, extra = result
        if isinstance(extra, Mapping):
            metadata.update(extra)
    if isinstance(result, Mapping):
        for mime, content in result.items():
            _add(data, mime, content)


def _figure_png(value: Any) -> str | None:
    figures = sys.modules.get("matplotlib.figure")
    if figures is None or not isinstance(value, figures.Figure):
        return None
    picture = io.BytesIO()
    value.savefig(picture, format="png", bbox_inches="tight")
    return base64.b64encode(picture.getvalue()).decode("ascii")


def display(*values: Any) -> None:
    """Show each value below the running cell, as richly as it can be shown."""
    shown = outputs.active()
    for value in values:
        data, metadata = mime_bundle(value)
        if shown is not None:
            shown.display(data, metadata)
