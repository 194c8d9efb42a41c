"""Base class of all controls below a cell. Names and signatures are ipywidgets'.

Python has a widget's state. The page shows it, and sends changes by the user (`receive`).
"""

import contextlib
import itertools
import json
from collections.abc import Callable
from typing import Any

from . import channel, outputs

MIME = "application/vnd.browsergpu.widget"
# Arguments of ipywidgets that only change a control's appearance there.
LOOKS = {
    "layout", "style", "orientation", "tooltip", "icon", "button_style", "bar_style", "indent",
    "readout_format", "description_tooltip", "tabbable", "placeholder", "tooltips", "icons",
    "show_repeat",
}  # fmt: skip

_ids = itertools.count(1)
_widgets: dict[str, "Widget"] = {}


class Change(dict[str, Any]):
    """An observer's argument: `name`, `old`, `new`, `owner`, `type`, as keys and as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class State:
    """An attribute that the page shows. `check(widget, value)` returns the value to store."""

    def __init__(self, default: Any, check: Callable[[Any, Any], Any] | None = None) -> None:
        self._default = default
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, widget: "Widget | None", owner: type) -> Any:
        return self if widget is None else widget._state.get(self._name, self._default)

    def __set__(self, widget: "Widget", value: Any) -> None:
        if self._check is not None:
            value = self._check(widget, value)
        widget._change(self._name, value)


class Widget:
    """Base class of all widgets."""

    kind = ""
    _first = "value"  # the name of a positional argument
    description = State("", lambda _, text: str(text))
    disabled = State(False, lambda _, value: bool(value))

    def __init__(self, *args: Any, **given: Any) -> None:
        self._id = f"widget-{next(_ids)}"
        self._state: dict[str, Any] = {}
        self._shown = False
        self._observers: list[tuple[Callable[..., Any], Any]] = []
        _widgets[self._id] = self
        if args:
            given[self._first] = args[0]
        unknown = [name for name in given if not self._has(name) and name not in LOOKS]
        if len(args) > 1 or unknown:
            what = ", ".join(unknown) or "more than one argument without a name"
            raise TypeError(f"{type(self).__name__} does not take {what}")
        # Bounds come before the values between them.
        for name in sorted(given, key=lambda name: (name == self._first, name == "min")):
            setattr(self, name, given[name])

    def _has(self, name: str) -> bool:
        return isinstance(getattr(type(self), name, None), State | property)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self._state.items())
        return f"{type(self).__name__}({told})"

    # -- page ------------------------------------------------------------------------------------

    def _told(self) -> dict[str, Any]:
        """Return the state for the page."""
        return {"description": self.description, "disabled": self.disabled}

    def _tree(self) -> dict[str, Any]:
        self._shown = True
        return {"id": self._id, "kind": self.kind, "state": self._told()}

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, str]:
        return {MIME: json.dumps(self._tree()), "text/plain": repr(self)}

    def _tell(self, _changed: str = "") -> None:
        if self._shown:
            send(self._id, "state", state=self._told())

    def _take(self, event: dict[str, Any]) -> None:
        """Handle an action of the user."""
        if "value" in event:
            self.value = event["value"]
            self._tell()

    # -- Python ----------------------------------------------------------------------------------

    def _change(self, name: str, value: Any) -> None:
        old = getattr(self, name)
        self._state[name] = value
        if old is value or equal(old, value):
            return
        self._tell(name)
        change = Change(name=name, old=old, new=value, owner=self, type="change")
        for handler, names in list(self._observers):
            if names is None or name in names:
                handler(change)

    def observe(self, handler: Callable[..., Any], names: Any = None, type: str = "change") -> None:
        """Call `handler(change)` when one of the named attributes, or any, changes."""
        self._observers.append((handler, _names(names)))

    def unobserve(
        self, handler: Callable[..., Any], names: Any = None, type: str = "change"
    ) -> None:
        """Undo an `observe` with the same arguments."""
        with contextlib.suppress(ValueError):
            self._observers.remove((handler, _names(names)))

    def unobserve_all(self, name: Any = None) -> None:
        """Remove all observers."""
        self._observers.clear()

    def close(self) -> None:
        """Remove the widget."""
        _widgets.pop(self._id, None)
        send(self._id, "close")


def _names(names: Any) -> tuple[str, ...] | None:
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal. Values that cannot be compared are not."""
    try:
        return bool(one == other)
    except Exception:
        return False


def send(widget: str, message_type: str, **message: Any) -> None:
    """Send a widget's message to the page, for the active run."""
    shown = outputs.active()
    channel.send(
        type=message_type, id=0 if shown is None else shown.run_id, widget=widget, **message
    )


def receive(widget: str, event: str) -> None:
    """Handle an action of the user, as JSON. Exceptions of handlers are raised."""
    found = _widgets.get(widget)
    if found is not None:
        found._take(json.loads(event))
