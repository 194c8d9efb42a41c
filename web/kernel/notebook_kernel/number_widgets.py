"""Sliders, fields and bars for numbers."""

import math
from collections.abc import Callable
from typing import Any

from .widget import State, Widget


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
    """A number. Subclasses define whether it is an integer and bounded."""

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
        raise ValueError(f"min={value} is above max={widget.max}")
    return value


def _highest(widget: Any, value: Any) -> Any:
    value = widget.check(widget, value)
    if "min" in widget._state and value < widget.min:
        raise ValueError(f"max={value} is below min={widget.min}")
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
    """Slider for a float."""

    kind = "slider"
    max = State(10.0, _highest)
    step = State(0.1)


def _power(widget: Any, value: Any) -> Any:
    value = widget.check(widget, value)
    return min(max(value, widget.base**widget.min), widget.base**widget.max)


class FloatLogSlider(FloatSlider):
    """Slider for powers of `base`. `min`, `max` and `step` apply to the exponent."""

    base = State(10.0, _check)
    max = State(4.0, _highest)
    value = State(1.0, _power)

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "base": self.base, "value": math.log(self.value, self.base)}

    def _take(self, event: dict[str, Any]) -> None:
        super()._take({"value": self.base ** event["value"]})


class IntSlider(_Bounded):
    """Slider for an integer."""

    kind = "slider"
    check = staticmethod(_whole)
    min = State(0, _lowest)
    max = State(100, _highest)
    value = State(0, _between)
    step = State(1)


class Play(IntSlider):
    """Player that steps through integers, one each `interval` milliseconds."""

    kind = "play"
    interval = State(100, _check)
    repeat = State(False, lambda _, value: bool(value))

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "interval": self.interval, "repeat": self.repeat}


class BoundedFloatText(_Bounded):
    """Field for a bounded float."""

    kind = "number"


class BoundedIntText(IntSlider):
    """Field for a bounded integer."""

    kind = "number"


class FloatText(_Number):
    """Field for a float."""

    kind = "number"
    value = State(0.0, _check)
    step = State(None)
    continuous_update = State(False)


class IntText(FloatText):
    """Field for an integer."""

    check = staticmethod(_whole)
    value = State(0, _check)


class FloatProgress(_Bounded):
    """Progress bar for a float."""

    kind = "progress"


class IntProgress(IntSlider):
    """Progress bar for an integer."""

    kind = "progress"


def is_finite(*numbers: Any) -> bool:
    """Whether all are finite numbers."""
    return all(
        isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one)
        for one in numbers
    )
