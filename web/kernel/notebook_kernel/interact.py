"""`interact`: controls for the arguments of a function, which runs when one changes."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import display
from .box_widgets import Output, VBox
from .button_widgets import Button, Checkbox
from .choice_widgets import Dropdown
from .number_widgets import FloatSlider, IntSlider, is_finite
from .text_widgets import Text
from .widget import Widget


def show_figures() -> None:
    """Show Matplotlib's open figures, if Matplotlib was imported."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.show()


class fixed:
    """A value without a control."""

    def __init__(self, value: Any, **_looks: Any) -> None:
        self.value = value


def control(abbreviation: Any, name: str) -> Any:
    """Return the widget for an abbreviation; see `interact`."""
    made = abbreviation
    if not isinstance(abbreviation, Widget | fixed):
        made = _abbreviated(abbreviation)
    if made is None or not hasattr(made, "value"):
        raise ValueError(
            f"no control is known for {name}={abbreviation!r}; give a number, (min, max), "
            "(min, max, step), a bool, a str, a list, a dict or a widget"
        )
    if isinstance(made, Widget) and not made.description:
        made.description = name
    return made


def _abbreviated(given: Any) -> Any:
    if isinstance(given, bool):
        return Checkbox(value=given)
    if isinstance(given, str):
        return Text(value=given)
    if is_finite(given):
        low, high = (0, 1) if given == 0 else sorted((-given, 3 * given))
        return _slider(low, high, value=given)
    if isinstance(given, tuple) and len(given) in (2, 3) and is_finite(*given):
        return _slider(*given)
    if isinstance(given, Iterable | Mapping):
        return Dropdown(options=given)
    return None


def _slider(low: Any, high: Any, step: Any = None, value: Any = None) -> Any:
    if low > high:
        raise ValueError(f"a slider's minimum {low} is above its maximum {high}")
    given = {} if step is None else {"step": step}
    if all(isinstance(one, int) for one in (low, high, *given.values())):
        middle = low + (high - low) // 2
        return IntSlider(min=low, max=high, value=middle if value is None else value, **given)
    middle = low + (high - low) / 2
    return FloatSlider(min=low, max=high, value=middle if value is None else value, **given)


def _controls(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return a control for each argument, in the function's order."""
    found = {}
    rest = dict(given)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            found.update({one: control(what, one) for one, what in rest.items()})
            rest.clear()
            break
        default = parameter.default
        if name in rest:
            found[name] = made = control(rest.pop(name), name)
            # A default within the control's range is its initial value.
            if default is not parameter.empty and not isinstance(given[name], Widget | fixed):
                made.value = default
        elif parameter.annotation is not parameter.empty and default is parameter.empty:
            found[name] = control(parameter.annotation, name)
        elif default is parameter.empty:
            raise ValueError(f"{function.__name__} needs {name}: pass interact(…, {name}=…)")
        elif (made := _abbreviated(default)) is not None:
            found[name] = control(made, name)
    if rest:
        raise TypeError(f"{function.__name__} takes no argument {', '.join(rest)}")
    return found


class interactive(VBox):
    """Controls of a function's arguments, and an area for its outputs."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: Mapping[str, Any] | None = None,
        /,
        **abbreviations: Any,
    ) -> None:
        self.f = function
        self.result: Any = None
        self.out = Output()
        self._named = _controls(function, abbreviations)
        self._options = {"manual": False, "auto_display": False, **(options or {})}
        shown = [one for one in self._named.values() if isinstance(one, Widget)]
        if self._options["manual"]:
            name = self._options.get("manual_name", "Run Interact")
            self.manual_button = Button(description=name)
            self.manual_button.on_click(self.update)
            shown.append(self.manual_button)
        else:
            for one in shown:
                one.observe(self.update, names="value")
        super().__init__([*shown, self.out])

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments, from the controls."""
        return {name: one.value for name, one in self._named.items()}

    def update(self, *_event: Any) -> None:
        """Run the function. Its outputs and errors replace the previous ones."""
        self.out.clear_output(wait=True)
        sent = self.out._sent
        with self.out:
            self.result = self.f(**self.kwargs)
            show_figures()
            if self._options["auto_display"] and self.result is not None:
                display.display(self.result)
        if self.out._sent == sent:
            self.out.clear_output()


class _Interact:
    """`interact(function, x=(0, 10))`, or a decorator: `@interact(x=(0, 10))`, `@interact`.

    An argument's control is made from a number, `(min, max)`, `(min, max, step)`, a bool, a str, a
    list or dict of choices, or a widget.
    """

    def __init__(self, **options: Any) -> None:
        self._options = {"manual": False, "auto_display": True, **options}

    def options(self, **options: Any) -> "_Interact":
        """Return an interact with other options: `manual`, `manual_name`, `auto_display`."""
        return _Interact(**{**self._options, **options})

    def __call__(self, function: Callable[..., Any] | None = None, /, **abbreviations: Any) -> Any:
        if function is None:
            return lambda decorated: self(decorated, **abbreviations)
        made = interactive(function, self._options, **abbreviations)
        display.display(made)
        if not self._options["manual"]:
            made.update()
        try:
            function.widget = made  # type: ignore[attr-defined]
        except AttributeError:  # not a plain function
            return function
        return function


interact = _Interact()
interact_manual = interact.options(manual=True, manual_name="Run Interact")


def interactive_output(function: Callable[..., Any], controls: Mapping[str, Any]) -> Output:
    """Return an area for the outputs of `function(**values of controls)`, which runs on changes."""
    out = Output()

    def update(_change: Any = None) -> None:
        out.clear_output(wait=True)
        with out:
            function(**{name: one.value for name, one in controls.items()})
            show_figures()

    for one in controls.values():
        one.observe(update, names="value")
    update()
    return out
