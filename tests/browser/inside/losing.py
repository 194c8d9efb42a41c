"""Taking a GPU away, as a crash of it would, in a page and outside of one."""

from __future__ import annotations

import sys
from typing import Any


def destroy(device: Any) -> None:
    """Destroys a device, in a page the one that was opened last, behind the package's back: the
    loss is not known yet."""
    if sys.platform == "emscripten":
        import js

        js.gpuWatch.devices[-1].destroy()
    else:
        device.recorder.flush()  # Dawn crashes where a device goes while it compiles
        device.recorder._sender.device.destroy()
