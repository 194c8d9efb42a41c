"""Widgets together, and places for output."""

from collections.abc import Callable
from typing import Any

from . import channel, outputs, tracebacks
from .widget import State, Widget, send


class Box(Widget):
    """Widgets together."""

    kind = "hbox"
    _first = "children"
    children = State((), lambda _, children: tuple(children))

    def _tree(self) -> dict[str, Any]:
        return {**super()._tree(), "children": [child._tree() for child in self.children]}

    def _tell(self) -> None:
        if self._shown:
            send(self._id, "children", tree=self._tree())


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
            traceback=told.shown, full=told.full, shortened=told.shortened,
        )  # fmt: skip
        return True

    def clear_output(self, wait: bool = False) -> None:
        """Empty the place, now or when the next output comes."""
        if self._entered:
            self._entered[-1][0].flush()
        send(self._id, "clear", wait=wait)

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
