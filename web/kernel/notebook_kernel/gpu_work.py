"""Work of the open GPUs: recorded arrays, unfinished dispatches, waits."""

import contextlib
import sys
from typing import Any


def open_devices() -> list[Any]:
    """Return the devices that the user's code has opened, including lost ones."""
    # Only if the package has been imported, and not during the import.
    package = sys.modules.get("browsergpu")
    info = getattr(package, "__array_namespace_info__", None)
    return [] if info is None else info().devices()


def _working() -> list[Any]:
    return [device for device in open_devices() if not device.is_lost]


def unfinished() -> int:
    """Return the number of unfinished dispatches, after sending recorded ones to the GPU."""
    count = 0
    for device in _working():
        # A device's errors are raised in the user's code instead.
        with contextlib.suppress(Exception):
            device.recorder.submit()
            count += device.recorder.unfinished
    return count


def is_array_recorded() -> bool:
    """Whether a living array is not computed yet."""
    return any(
        node.is_held
        for device in _working()
        for trace in _tracer(device).all_traces()
        for node in trace.nodes
    )


def compute() -> None:
    """Dispatch the kernels of all living arrays, without waiting."""
    for device in _working():
        _tracer(device).evaluate()


def finish() -> None:
    """Compute all living arrays, and wait for the GPU."""
    from browsergpu.engine.gpu import platform

    for device in _working():
        _tracer(device).evaluate()
        platform.block_on(device.recorder.synchronize(), "synchronize")


async def finish_async() -> None:
    """Compute all living arrays, and await the GPU."""
    for device in _working():
        _tracer(device).evaluate()
        await device.recorder.synchronize()


def _tracer(device: Any) -> Any:
    from browsergpu.arrays.lazy.trace import tracer_of

    return tracer_of(device)
