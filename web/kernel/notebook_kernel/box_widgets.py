"""Containers of widgets and outputs."""

from collections.abc import Callable
from typing import Any

from . import channel, outputs, tracebacks
from .widget import State, Widget, send


class Box(Widget):
    """Container of widgets."""

    kind = "hbox"
    _first = "children"
    children = State((), lambda _, children: tuple(children))

    def _tree(self) -> dict[str, Any]:
        return {**super()._tree(), "children": [child._tree() for child in self.children]}

    def _tell(self, changed: str = "") -> None:
        if changed != "children":
            super()._tell(changed)
        elif self._shown:
            send(self._id, "children", tree=self._tree())


class HBox(Box):
    """Row of widgets."""


class VBox(Box):
    """Column of widgets."""

    kind = "vbox"


class _Titled(Box):
    """Container that shows one of its titled widgets."""

    titles = State((), lambda _, titles: tuple(str(title) for title in titles))

    def __init__(self, *args: Any, **given: Any) -> None:
        selected = given.pop("selected_index", None)
        super().__init__(*args, **given)
        if selected is not None:
            self.selected_index = selected

    def _check_index(self, index: Any) -> Any:
        if index is None or 0 <= index < len(self.children):
            return index
        raise ValueError(
            f"{type(self).__name__} has {len(self.children)} children, so "
            f"selected_index={index} is out of range"
        )

    selected_index = State(None, _check_index)

    def set_title(self, index: int, title: str) -> None:
        """Set the title of one widget."""
        titles = [self.get_title(one) for one in range(len(self.children))]
        titles[index] = title
        self.titles = titles

    def get_title(self, index: int) -> str:
        """Return the title of one widget."""
        return self.titles[index] if index < len(self.titles) else ""

    def _told(self) -> dict[str, Any]:
        titles = [self.get_title(one) for one in range(len(self.children))]
        return {**super()._told(), "titles": titles, "selected": self.selected_index}

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        count = len(self.children)
        if name == "children" and self.selected_index is not None and self.selected_index >= count:
            self.selected_index = None

    def _take(self, event: dict[str, Any]) -> None:
        self.selected_index = event["selected"]


class Accordion(_Titled):
    """Column of titled widgets that open and close. At most one is open."""

    kind = "accordion"


class Tab(_Titled):
    """Widgets behind tabs."""

    kind = "tab"

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == "children" and self.selected_index is None and self.children:
            self.selected_index = 0


class Output(Widget):
    """Area for everything that is printed and displayed in `with output:`."""

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
            traceback=told.shown, full=told.full, shortened=told.shortened,
        )  # fmt: skip
        return True

    def clear_output(self, wait: bool = False) -> None:
        """Clear the area, now or with the next output."""
        if self._entered:
            self._entered[-1][0].flush()
        send(self._id, "clear", wait=wait)

    def capture(self, clear_output: bool = False, wait: bool = False) -> Callable[..., Any]:
        """Return a decorator that shows a function's outputs in this area."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            def captured(*args: Any, **kwargs: Any) -> Any:
                if clear_output:
                    self.clear_output(wait=wait)
                with self:
                    return function(*args, **kwargs)

            return captured

        return decorate

    def append_stdout(self, text: str) -> None:
        """Append text to the area."""
        with self:
            print(text, end="")
