"""Widgets for text: fields, labels and markup."""

from typing import Any

from .widget import State, Widget


class _Textual(Widget):
    value = State("", lambda _, text: str(text))

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "value": self.value}


class Text(_Textual):
    """Field for text."""

    kind = "text"
    continuous_update = State(True)

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "continuous_update": self.continuous_update}


class Textarea(Text):
    """Field for lines of text."""

    kind = "textarea"
    rows = State(4)

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "rows": self.rows}


class Label(_Textual):
    """Line of text."""

    kind = "label"


class HTML(_Textual):
    """Markup, without active content."""

    kind = "html"
