"""Buttons and check boxes."""

from collections.abc import Callable
from typing import Any

from .widget import State, Widget


class Checkbox(Widget):
    """Check box."""

    kind = "checkbox"
    value = State(False, lambda _, value: bool(value))

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "value": self.value}


class ToggleButton(Checkbox):
    """Button that stays pressed."""

    kind = "toggle"


class Button(Widget):
    """Button. `on_click` sets its handlers."""

    kind = "button"
    _first = "description"

    def __init__(self, *args: Any, **given: Any) -> None:
        self._handlers: list[Callable[[Any], Any]] = []
        super().__init__(*args, **given)

    def on_click(self, callback: Callable[[Any], Any], remove: bool = False) -> None:
        """Add or remove a handler, which is called as `callback(button)` at each click."""
        if not remove:
            self._handlers.append(callback)
        elif callback in self._handlers:
            self._handlers.remove(callback)

    def click(self) -> None:
        """Call the handlers as a click does."""
        for handler in list(self._handlers):
            handler(self)

    def _take(self, event: dict[str, Any]) -> None:
        for _ in range(event.get("clicks", 0)):
            self.click()
