"""Helpers that make a device lose its GPU, in a page and outside."""

from __future__ import annotations

import sys
from threading import Barrier
from typing import Any


def destroy(device: Any) -> None:
    """Destroy a device without the package's knowledge, so that the loss is not known yet.

    In a page, this must be the device that was opened last.
    """
    if sys.platform == "emscripten":
        import js

        js.gpuWatch.devices[-1].destroy()
    else:
        device.recorder.flush()
        _finish_compiling(device.recorder._sender.compiler._threads)
        device.recorder._sender.device.destroy()


def _finish_compiling(threads: Any) -> None:
    """Wait until each thread has finished its current compilation.

    Dawn crashes or hangs if a device is destroyed while one of its pipelines compiles. The
    package's own ``close`` waits as well.
    """
    everyone = Barrier(threads._max_workers + 1)
    for _ in range(threads._max_workers):
        threads.submit(everyone.wait, 240)
    everyone.wait(240)
