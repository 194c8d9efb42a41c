"""ipywidgets' names for the controls of this page. Elsewhere, the real package has them."""

from typing import NoReturn

from notebook_kernel.box_widgets import Accordion, Box, HBox, Output, Tab, VBox
from notebook_kernel.button_widgets import Button, Checkbox, ToggleButton
from notebook_kernel.choice_widgets import Dropdown, RadioButtons, ToggleButtons
from notebook_kernel.interact import (
    fixed,
    interact,
    interact_manual,
    interactive,
    interactive_output,
)
from notebook_kernel.number_widgets import (
    BoundedFloatText,
    BoundedIntText,
    FloatLogSlider,
    FloatProgress,
    FloatSlider,
    FloatText,
    IntProgress,
    IntSlider,
    IntText,
    Play,
)
from notebook_kernel.range_widgets import FloatRangeSlider, IntRangeSlider
from notebook_kernel.text_widgets import HTML, Label, Text, Textarea
from notebook_kernel.widget import Widget
from notebook_kernel.widget_links import Layout, dlink, link

__all__ = [
    "HTML",
    "Accordion",
    "BoundedFloatText",
    "BoundedIntText",
    "Box",
    "Button",
    "Checkbox",
    "Dropdown",
    "FloatLogSlider",
    "FloatProgress",
    "FloatRangeSlider",
    "FloatSlider",
    "FloatText",
    "HBox",
    "IntProgress",
    "IntRangeSlider",
    "IntSlider",
    "IntText",
    "Label",
    "Layout",
    "Output",
    "Play",
    "RadioButtons",
    "Tab",
    "Text",
    "Textarea",
    "ToggleButton",
    "ToggleButtons",
    "VBox",
    "Widget",
    "dlink",
    "fixed",
    "interact",
    "interact_manual",
    "interactive",
    "interactive_output",
    "jsdlink",
    "jslink",
    "link",
]

# All links run in Python here, so both kinds of links are the same.
jslink, jsdlink = link, dlink


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"this page's ipywidgets has no {name}; it has {', '.join(__all__)}", name=name
    )
