"""ipywidgets' names, for the controls that this page has; elsewhere the real package has them."""

from typing import NoReturn

from notebook_kernel.box_widgets import Box, HBox, Output, VBox
from notebook_kernel.choice_widgets import HTML, Button, Checkbox, Dropdown, Label, Text
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
    FloatProgress,
    FloatSlider,
    FloatText,
    IntProgress,
    IntSlider,
    IntText,
)
from notebook_kernel.widget import Widget
from notebook_kernel.widget_links import Layout, dlink, link

__all__ = [
    "HTML",
    "BoundedFloatText",
    "BoundedIntText",
    "Box",
    "Button",
    "Checkbox",
    "Dropdown",
    "FloatProgress",
    "FloatSlider",
    "FloatText",
    "HBox",
    "IntProgress",
    "IntSlider",
    "IntText",
    "Label",
    "Layout",
    "Output",
    "Text",
    "VBox",
    "Widget",
    "dlink",
    "fixed",
    "interact",
    "interact_manual",
    "interactive",
    "interactive_output",
    "link",
]


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"this page's ipywidgets has no {name}; it has {', '.join(__all__)}", name=name
    )
