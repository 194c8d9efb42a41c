"""The comms that the package `comm` creates on this page. Imported once that package is loaded."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from comm.base_comm import BaseComm

from . import channel, outputs

# Modules of the page's half of widgets that the page has itself.
_OF_THE_PAGE = "@jupyter-widgets/"
_told: set[str] = set()


class _Kernel:
    """The part of ipykernel's interface that Output widgets use."""

    def get_parent(self) -> dict[str, Any]:
        """Return the request that runs, whose outputs a widget captures by its number."""
        shown = outputs.active()
        return {} if shown is None else {"header": {"msg_id": str(shown.run_id)}}


class PageComm(BaseComm):
    """A comm whose other end is on the page."""

    kernel = _Kernel()
    # Whether the widget is an Output, which captures the outputs of a run.
    _captures = False

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[Any] | None = None,
        **keys: Any,
    ) -> None:
        """Send a message of this comm to the page."""
        state = (data or {}).get("state", {})
        if msg_type == "comm_open":
            self._captures = state.get("_model_name") == "OutputModel"
            for key in ("_model_module", "_view_module"):
                _tell_module(state.get(key))
        shown = outputs.active()
        if self._captures and "msg_id" in state:
            outputs.capture(self.comm_id, state["msg_id"])
        elif self._captures and msg_type == "comm_close":
            outputs.capture(self.comm_id, "")
        channel.send(
            type="comm",
            id=0 if shown is None else shown.run_id,
            kind=msg_type,
            comm=self.comm_id,
            target=self.target_name,
            data=data or {},
            buffers=buffers or (),
        )


def _tell_module(name: str | None) -> None:
    """Send the JavaScript of another package's widgets, as its wheel has it for Jupyter."""
    if not name or name.startswith(_OF_THE_PAGE) or name in _told:
        return
    _told.add(name)
    folders = (f"{sys.prefix}/share/jupyter/nbextensions/{name}", *_in_package(name))
    for folder in folders:
        script = Path(folder, "index.js")
        if script.is_file():
            text = script.read_text(encoding="utf-8")
            channel.send(type="widget-module", name=name, text=text)
            return


def _in_package(name: str) -> list[str]:
    package = sys.modules.get(name.replace("-", "_"))
    return [f"{folder}/nbextension" for folder in getattr(package, "__path__", ())]


def connect(module: ModuleType) -> None:
    """Make the package create comms of this page."""
    module.create_comm = PageComm  # type: ignore[attr-defined]
