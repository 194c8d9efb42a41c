"""Controls below a cell, by ipywidgets' names and call shapes: sliders, buttons, boxes.

A widget's state is Python's; the page shows it, and sends what the person changes (`receive`).
"""

import contextlib
import itertools
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from . import channel, outputs, tracebacks

MIME = "application/vnd.browsergpu.widget"
# Of ipywidgets' own, these change only how a control looks there.
LOOKS = {
    "layout", "style", "orientation", "tooltip", "icon", "button_style", "bar_style", "indent",
    "readout_format", "description_tooltip", "tabbable", "placeholder",
}  # fmt: skip

_ids = itertools.count(1)
_widgets: dict[str, "Widget"] = {}


class Change(dict[str, Any]):
    """What an observer gets: `name`, `old`, `new`, `owner`, `type`, as keys and as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class State:
    """An attribute that the page shows; `check(widget, value)` gives the value that is kept."""

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
    """What all widgets have."""

    kind = ""
    _first = "value"  # what an argument without a name is
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
        # Bounds come before what stands between them.
        for name in sorted(given, key=lambda name: (name == self._first, name == "min")):
            setattr(self, name, given[name])

    def _has(self, name: str) -> bool:
        return isinstance(getattr(type(self), name, None), State | property)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self._state.items())
        return f"{type(self).__name__}({told})"

    # -- the page --------------------------------------------------------------------------------

    def _told(self) -> dict[str, Any]:
        """The state as the page takes it."""
        return {"description": self.description, "disabled": self.disabled}

    def _tree(self) -> dict[str, Any]:
        self._shown = True
        return {"id": self._id, "kind": self.kind, "state": self._told()}

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, str]:
        return {MIME: json.dumps(self._tree()), "text/plain": repr(self)}

    def _tell(self) -> None:
        if self._shown:
            _send(self._id, "state", state=self._told())

    def _take(self, event: dict[str, Any]) -> None:
        """The person did something."""
        if "value" in event:
            self.value = event["value"]
            self._tell()

    # -- Python ----------------------------------------------------------------------------------

    def _change(self, name: str, value: Any) -> None:
        old = getattr(self, name)
        self._state[name] = value
        if old is value or _equal(old, value):
            return
        self._tell()
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
        """Undo an `observe` of the same arguments."""
        with contextlib.suppress(ValueError):
            self._observers.remove((handler, _names(names)))

    def unobserve_all(self, name: Any = None) -> None:
        """Forget all observers."""
        self._observers.clear()

    def close(self) -> None:
        """Take the widget away."""
        _widgets.pop(self._id, None)
        _send(self._id, "close")


def _names(names: Any) -> tuple[str, ...] | None:
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False


def _send(widget: str, message_type: str, **message: Any) -> None:
    shown = outputs.active()
    channel.send(
        type=message_type, id=0 if shown is None else shown.run_id, widget=widget, **message
    )


def receive(widget: str, event: str) -> None:
    """Take what the person did on the page, as JSON. What its handlers raise is raised."""
    found = _widgets.get(widget)
    if found is not None:
        found._take(json.loads(event))


# -- values ------------------------------------------------------------------------------------


def _number(convert: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def check(widget: Any, value: Any) -> Any:
        if isinstance(value, str | bytes | bool):
            raise TypeError(f"{type(widget).__name__} takes a number, not {value!r}")
        number = convert(value)
        if number != value:
            raise TypeError(f"{type(widget).__name__} takes a whole number, not {value!r}")
        return number

    return check


_whole, _real = _number(int), _number(float)


class _Number(Widget):
    """A number; subclasses say whether it is whole and whether it has bounds."""

    check = staticmethod(_real)

    def _told(self) -> dict[str, Any]:
        names = ("value", "min", "max", "step", "continuous_update", "readout")
        more = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return {**super()._told(), "whole": self.check is _whole, **more}


def _between(widget: Any, value: Any) -> Any:
    return min(max(widget.check(widget, value), widget.min), widget.max)


def _lowest(widget: Any, value: Any) -> Any:
    value = widget.check(widget, value)
    if "max" in widget._state and value > widget.max:
        raise ValueError(f"min={value} lies above max={widget.max}")
    return value


def _highest(widget: Any, value: Any) -> Any:
    value = widget.check(widget, value)
    if "min" in widget._state and value < widget.min:
        raise ValueError(f"max={value} lies below min={widget.min}")
    return value


def _check(widget: Any, value: Any) -> Any:
    return widget.check(widget, value)


class _Bounded(_Number):
    min = State(0.0, _lowest)
    max = State(100.0, _highest)
    value = State(0.0, _between)
    step = State(None)
    continuous_update = State(True)
    readout = State(True)

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name in ("min", "max"):
            self.value = self.value  # within the new bounds


class FloatSlider(_Bounded):
    """A slider for a number."""

    kind = "slider"
    max = State(10.0, _highest)
    step = State(0.1)


class IntSlider(_Bounded):
    """A slider for a whole number."""

    kind = "slider"
    check = staticmethod(_whole)
    min = State(0, _lowest)
    max = State(100, _highest)
    value = State(0, _between)
    step = State(1)


class BoundedFloatText(_Bounded):
    """A field for a number between bounds."""

    kind = "number"


class BoundedIntText(IntSlider):
    """A field for a whole number between bounds."""

    kind = "number"


class FloatText(_Number):
    """A field for a number."""

    kind = "number"
    value = State(0.0, _check)
    step = State(None)
    continuous_update = State(False)


class IntText(FloatText):
    """A field for a whole number."""

    check = staticmethod(_whole)
    value = State(0, _check)


class FloatProgress(_Bounded):
    """A bar that shows how far something is."""

    kind = "progress"


class IntProgress(IntSlider):
    """A bar that shows how far something is."""

    kind = "progress"


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
            if one is value or _equal(one, value):
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
        if name == "index" and not _equal(old, self.value):
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


# -- boxes and outputs -------------------------------------------------------------------------


class Box(Widget):
    """Widgets together."""

    kind = "hbox"
    _first = "children"
    children = State((), lambda _, children: tuple(children))

    def _tree(self) -> dict[str, Any]:
        return {**super()._tree(), "children": [child._tree() for child in self.children]}

    def _tell(self) -> None:
        if self._shown:
            _send(self._id, "children", tree=self._tree())


class HBox(Box):
    """Widgets side by side."""


class VBox(Box):
    """Widgets one below the other."""

    kind = "vbox"


class Output(Widget):
    """A place for what is printed and displayed in `with output:`."""

    kind = "output"

    def __init__(self, **given: Any) -> None:
        self._entered: list[Any] = []
        self._sent = 0
        super().__init__(**given)

    def _deliver(self, **message: Any) -> None:
        self._sent += 1
        channel.send(widget=self._id, **message)

    def __enter__(self) -> "Output":
        before = outputs.active()
        run_id = 0 if before is None else before.run_id
        shown = outputs.Outputs(run_id, send=self._deliver)
        self._entered.append((shown, outputs.current.set(shown)))
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> bool:
        shown, token = self._entered.pop()
        shown.close()
        outputs.current.reset(token)
        if not isinstance(error, Exception):
            return False
        told = tracebacks.report(error)
        self._deliver(
            type="error", id=shown.run_id, name=told.name, message=told.message,
            traceback=told.trimmed, full=told.full,
        )  # fmt: skip
        return True

    def clear_output(self, wait: bool = False) -> None:
        """Empty the place, now or when the next output comes."""
        if self._entered:
            self._entered[-1][0].flush()
        _send(self._id, "clear", wait=wait)

    def capture(self, clear_output: bool = False, wait: bool = False) -> Callable[..., Any]:
        """A decorator: what the function puts out stands here."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            def captured(*args: Any, **kwargs: Any) -> Any:
                if clear_output:
                    self.clear_output(wait=wait)
                with self:
                    return function(*args, **kwargs)

            return captured

        return decorate

    def append_stdout(self, text: str) -> None:
        """Put text there."""
        with self:
            print(text, end="")


class Layout:
    """Taken, and without effect: the page lays controls out itself."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


def dlink(source: tuple[Any, str], target: tuple[Any, str], transform: Any = None) -> None:
    """Let `target` follow `source`; both are pairs of a widget and a name."""
    change = transform or (lambda value: value)

    def follow(_change: Any = None) -> None:
        setattr(target[0], target[1], change(getattr(*source)))

    source[0].observe(follow, names=source[1])
    follow()


def link(source: tuple[Any, str], target: tuple[Any, str]) -> None:
    """Let two widgets follow each other."""
    dlink(source, target)
    target[0].observe(lambda change: setattr(source[0], source[1], change["new"]), names=target[1])


def is_finite(*numbers: Any) -> bool:
    """Whether all are numbers and none is infinite."""
    return all(
        isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one)
        for one in numbers
    )
