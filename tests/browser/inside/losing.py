"""Helpers that make a device lose its GPU, in a page and outside."""

from __future__ import annotations

import sys
from threading import Barrier
from typing import Any


def destroy(device: Any) -> None:
    """Destroys a device, in a page the one that was opened last, behind the package's back: the
    loss is not known yet."""
    if sys.platform == "emscripten":
        import js

        js.gpuWatch.devices[-1].destroy()
    else:
        device.recorder.flush()
        _finish_compiling(device.recorder._sender.compiler._threads)
        device.recorder._sender.device.destroy()


def _finish_compiling(threads: Any) -> None:
    """Wait until each thread has compiled what it began. Dawn crashes, or hangs, where a device is
    destroyed while a pipeline of it is compiled; the package's own ``close`` waits, too."""
    everyone = Barrier(threads._max_workers + 1)
    for _ in range(threads._max_workers):
        threads.submit(everyone.wait, 240)
    everyone.wait(240)
