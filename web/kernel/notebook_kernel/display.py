"""MIME bundles of values, and IPython's `display` below the running cell."""

from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from . import outputs
from .packages import Installation

__all__ = ["CellDisplays", "CellResults", "display", "mime_bundle"]


def mime_bundle(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return MIME data (binary in base64) and metadata of a value.

    They come from its `_repr_*_` methods and from formatters registered for its type.
    """
    return InteractiveShell.instance().display_formatter.format(value)


class CellDisplays(DisplayPublisher):
    """Publisher for `display`, `update_display` and `clear_output`."""

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_old: Any,
    ) -> None:
        """Show a bundle, or replace the display with the same id."""
        shown = outputs.active()
        if shown is not None:
            shown.display(data, metadata, (transient or {}).get("display_id"), update=update)

    def clear_output(self, wait: bool = False) -> None:
        """Clear the cell's outputs, now or with the next output."""
        shown = outputs.active()
        if shown is not None:
            shown.clear(wait=wait)


class CellResults(DisplayHook):
    """Display hook for values of last expressions."""

    def __call__(self, result: Any = None) -> None:
        """Show a value, and store it as `_` and in `Out` if the code is a cell's."""
        self.check_for_underscore()
        silent = result is None or isinstance(result, Installation)
        if silent or self.shell.hushed(self):
            return
        self.fill_exec_result(result)
        shown = outputs.active()
        if not self.shell.in_cell or shown is None:
            return
        data, metadata = mime_bundle(result)
        self.update_user_ns(result)
        if data:
            shown.result(data, metadata)
