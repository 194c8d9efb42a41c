"""Pointer input on canvases, as the page sends it.

The page gives each picture an owner, a number: the run of its cell in the notebook, 0 for a canvas
of the document. Input is JSON, a list of ``[canvas_id, owner, rows]``. A row is ``[type, x, y,
button, modifiers, pointer]``, with x and y in pixels of the canvas.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from browsergpu.engine.gpu.browser.interop import load_function, pin

_OWNER = """(id) => {
  const registered = globalThis.browsergpuCanvases;
  if (registered?.has(id)) return registered.owner?.() ?? -1;
  return globalThis.document ? 0 : -1;
}"""

# In a worker, the page listens; it finds the owner on the canvas after each image.
_SEND = """(canvas, id, owner, receive) => {
  const isKnown = "browsergpuPointer" in canvas;
  canvas.browsergpuPointer = owner < 0 ? null : owner;
  if (owner < 0 || isKnown || !globalThis.document) return;
  canvas.style.touchAction ||= "pinch-zoom";
  let rows = [];
  let pressed = null;
  const flush = () => {
    const sent = rows;
    rows = [];
    const wanted = canvas.browsergpuPointer;
    if (wanted !== null) receive(JSON.stringify([[id, wanted, sent]]));
  };
  const add = (type, event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    if (rows.length === 0) requestAnimationFrame(flush);
    const modifiers = ["shift", "alt", "ctrl", "meta"].filter((name) => event[`${name}Key`]);
    const x = (event.clientX - left) * canvas.width / width;
    const y = (event.clientY - top) * canvas.height / height;
    rows.push([type, x, y, pressed.button, modifiers, event.pointerType]);
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (pressed || ![0, 2].includes(event.button) || canvas.browsergpuPointer === null) return;
    pressed = { id: event.pointerId, button: event.button ? "right" : "left" };
    canvas.setPointerCapture(event.pointerId);
    add("down", event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId === pressed?.id) add("move", event);
  });
  canvas.addEventListener("lostpointercapture", (event) => {
    if (event.pointerId !== pressed?.id) return;
    add("up", event);
    pressed = null;
  });
  canvas.addEventListener("contextmenu", (event) => {
    if (canvas.browsergpuPointer !== null) event.preventDefault();
  });
}"""

_MARK = """(canvas, owner) => {
  canvas.browsergpuPlot = owner < 0 ? null : owner;
  return Boolean(globalThis.browsergpuCanvases?.owner);
}"""

_WAITING = "() => globalThis.browsergpuCanvases?.input?.() ?? ''"


def pointer_owner(canvas_id: str) -> int | None:
    """Return the owner of pictures that the running code draws, or None without pointer input."""
    owner = int(load_function(_OWNER)(canvas_id))
    return owner if owner >= 0 else None


def send_pointer(
    canvas: Any, canvas_id: str, owner: int | None, receive: Callable[[str], None]
) -> None:
    """Ask the page for pointer input on a canvas, or end it if ``owner`` is None.

    The page of a worker calls ``receive`` itself, or its input waits for `waiting_pointer`. A
    canvas in the document passes its events to ``receive`` once a frame.
    """
    load_function(_SEND)(canvas, canvas_id, -1 if owner is None else owner, _pinned(receive))


@cache
def _pinned(receive: Callable[[str], None]) -> Any:
    return pin(receive)


def mark_plot(canvas: Any, owner: int | None) -> bool:
    """Say that the next image of a canvas is a plot, or a drawing if ``owner`` is None.

    Return whether the page sends zoom and pan as input of the owner. See
    ``functions/images/plot_view.py`` for its rows.
    """
    return bool(load_function(_MARK)(canvas, -1 if owner is None else owner))


def waiting_pointer() -> str:
    """Return input that arrived while the running code computes, or ""."""
    return str(load_function(_WAITING)())
