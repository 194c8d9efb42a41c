"""Functions that find canvases and paint buffers on them."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, NoAdapter, Unsupported
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.kernels.text import shaders


def find(op: str, canvas_id: str) -> Any:
    """Return the canvas with an id. Raise InvalidArgument if there is none."""
    if not isinstance(canvas_id, str):
        raise InvalidArgument(op, "canvas_id", canvas_id, "the id of a canvas, a string")
    if not platform.is_available():
        raise NoAdapter(op, platform.why_no_gpu())
    if not platform.IN_PYODIDE:
        raise Unsupported(op, "canvases exist only in web pages, and Python is not running in one")
    found = platform.find_canvas(canvas_id)
    if found is None:
        raise InvalidArgument(
            op,
            "canvas_id",
            canvas_id,
            "the id of a <canvas> on the page; a worker finds only canvases that the page has "
            "registered in globalThis.browsergpuCanvases",
        )
    if not platform.is_canvas(found):
        raise InvalidArgument(
            op, "canvas_id", canvas_id, "the id of a <canvas>, not of another tag"
        )
    return found


def draw(
    device: Device,
    op: str,
    canvas_id: str,
    buffer: Allocation,
    height: int,
    width: int,
    channels: int,
) -> None:
    """Paint a float32 image [height, width, channels] on the canvas with an id."""
    target = find(op, canvas_id)
    problem = device.recorder.draw(
        target, buffer.id, height, width, channels, shaders.load("draw.wgsl")
    )
    if problem:
        raise Unsupported(op, f"canvas {canvas_id!r} cannot be drawn on: {problem}")
