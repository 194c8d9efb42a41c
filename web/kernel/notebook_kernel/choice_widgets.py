"""Boxes to tick, text, choices and buttons."""

from collections.abc import Callable, Mapping
from typing import Any

from .widget import Change, State, Widget, equal


class Checkbox(Widget):
    """A box to tick."""

    kind = "checkbox"
    value = State(False, lambda _, value: bool(value))

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "value": self.value}


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


class Label(_Textual):
    """A line of text."""

    kind = "label"


class HTML(_Textual):
    """Markup; what could act is left out."""

    kind = "html"


class Dropdown(Widget):
    """A choice of `options`: values, pairs of label and value, or a mapping of these."""

    kind = "dropdown"
    _first = "options"

    def __init__(self, *args: Any, **given: Any) -> None:
        self._options: list[tuple[str, Any]] = []
        value = given.pop("value", _NOTHING)
        index = given.pop("index", _NOTHING)
        super().__init__(*args, **given)
        if value is not _NOTHING:
            self.value = value
        elif index is not _NOTHING:
            self.index = index

    def _check_index(self, index: Any) -> Any:
        if index is None or 0 <= index < len(self._options):
            return index
        raise ValueError(f"Dropdown has {len(self._options)} options, so index={index} is none")

    index = State(None, _check_index)

    @property
    def options(self) -> Any:
        """What can be chosen."""
        return tuple(self._options)

    @options.setter
    def options(self, options: Any) -> None:
        pairs = options.items() if isinstance(options, Mapping) else options
        self._options = [
            (str(one[0]), one[1]) if isinstance(one, tuple) and len(one) == 2 else (str(one), one)
            for one in pairs
        ]
        self.index = 0 if self._options else None
        self._tell()

    @property
    def value(self) -> Any:
        """What is chosen."""
        return None if self.index is None else self._options[self.index][1]

    @value.setter
    def value(self, value: Any) -> None:
        for index, (_, one) in enumerate(self._options):
            if one is value or equal(one, value):
                self.index = index
                return
        raise ValueError(f"Dropdown has no option {value!r}")

    @property
    def label(self) -> str | None:
        """The label of what is chosen."""
        return None if self.index is None else self._options[self.index][0]

    def _change(self, name: str, value: Any) -> None:
        old = self.value if name == "index" and (self.index or 0) < len(self._options) else None
        super()._change(name, value)
        if name == "index" and not equal(old, self.value):
            change = Change(name="value", old=old, new=self.value, owner=self, type="change")
            for handler, names in list(self._observers):
                if names is not None and "value" in names:
                    handler(change)

    def _told(self) -> dict[str, Any]:
        labels = [label for label, _ in self._options]
        return {**super()._told(), "options": labels, "value": self.index}

    def _take(self, event: dict[str, Any]) -> None:
        self.index = event["value"]


_NOTHING = object()


class Button(Widget):
    """A button; `on_click` says what it does."""

    kind = "button"
    _first = "description"

    def __init__(self, *args: Any, **given: Any) -> None:
        self._handlers: list[Callable[[Any], Any]] = []
        super().__init__(*args, **given)

    def on_click(self, callback: Callable[[Any], Any], remove: bool = False) -> None:
        """Call `callback(button)` at each click, or no more."""
        if not remove:
            self._handlers.append(callback)
        elif callback in self._handlers:
            self._handlers.remove(callback)

    def click(self) -> None:
        """Do what a click does."""
        for handler in list(self._handlers):
            handler(self)

    def _take(self, event: dict[str, Any]) -> None:
        for _ in range(event.get("clicks", 0)):
            self.click()
