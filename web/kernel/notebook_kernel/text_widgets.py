"""Text: fields for it, lines of it, and markup."""

from typing import Any

from .widget import State, Widget


class _Textual(Widget):
    value = State("", lambda _, text: str(text))

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "value": self.value}


class Text(_Textual):
    """A field for text."""

    kind = "text"
    continuous_update = State(True)

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "continuous_update": self.continuous_update}


class Textarea(Text):
    """A field for lines of text."""

    kind = "textarea"
    rows = State(4)

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "rows": self.rows}


class Label(_Textual):
    """A line of text."""

    kind = "label"


class HTML(_Textual):
    """Markup; what could act is left out."""

    kind = "html"
