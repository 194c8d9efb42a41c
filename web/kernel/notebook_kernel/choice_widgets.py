"""Widgets that choose one of several options."""

from collections.abc import Mapping
from typing import Any

from .widget import Change, State, Widget, equal

_NOTHING = object()


class _Choice(Widget):
    """Choice among `options`: values, (label, value) pairs, or a mapping of labels to values."""

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
        raise ValueError(
            f"{type(self).__name__} has {len(self._options)} options, "
            f"so index={index} is out of range"
        )

    index = State(None, _check_index)

    @property
    def options(self) -> Any:
        """The options."""
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
        """The chosen value."""
        return None if self.index is None else self._options[self.index][1]

    @value.setter
    def value(self, value: Any) -> None:
        for index, (_, one) in enumerate(self._options):
            if one is value or equal(one, value):
                self.index = index
                return
        raise ValueError(f"{type(self).__name__} has no option {value!r}")

    @property
    def label(self) -> str | None:
        """The label of the chosen option."""
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


class Dropdown(_Choice):
    """Drop-down list."""

    kind = "dropdown"


class RadioButtons(_Choice):
    """Column of radio buttons."""

    kind = "radio"


class ToggleButtons(_Choice):
    """Row of buttons, of which one stays pressed."""

    kind = "toggles"
