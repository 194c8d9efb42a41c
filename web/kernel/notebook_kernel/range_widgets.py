"""Sliders for a range."""

from typing import Any

from .number_widgets import FloatSlider, IntSlider
from .widget import State, Widget


def _pair(widget: Any, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(f"{type(widget).__name__} takes two numbers, not {value!r}")
    low, high = (min(max(widget.check(widget, one), widget.min), widget.max) for one in value)
    if low > high:
        raise ValueError(f"{type(widget).__name__} takes the lower number first, not {value!r}")
    return low, high


class _Range(Widget):
    kind = "range"
    min: Any
    max: Any

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        if not args and "value" not in given:
            quarter = (self.max - self.min) / 4
            kind = type(self.min)
            self.value = (kind(self.min + quarter), kind(self.max - quarter))


class IntRangeSlider(_Range, IntSlider):
    """Slider for a range of integers, the lower one first."""

    value = State((25, 75), _pair)


class FloatRangeSlider(_Range, FloatSlider):
    """Slider for a range of floats, the lower one first."""

    value = State((2.5, 7.5), _pair)
