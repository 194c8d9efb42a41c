"""Pointer input on drawings: events in array coordinates, and the callbacks that get them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.gpu import platform

Position = tuple[float, float]
_Row = tuple[str, float, float, str, list[str], str]


@dataclass(frozen=True, slots=True)
class PointerEvent:
    """A pointer on a drawing, for the ``on_pointer`` of :func:`browsergpu.draw`.

    Attributes
    ----------
    type : {"down", "move", "up"}
        A button was pressed or a finger put down, the pointer moved with it, or it was released.
        The browser may also end a movement with "up", for a gesture of two fingers.
    x, y : float
        Column and row of the position. The middle of the first pixel is (0, 0), as in Matplotlib.
        A movement may leave the array.
    row, column : int
        The pixel of the array that is nearest to the position.
    dx, dy : float
        The movement since the previous event, 0 for "down".
    points : tuple of (float, float)
        All positions (x, y) since the previous event; the last one is this event's. The moves of a
        frame are one event.
    button : {"left", "right"}
        The button; "left" for fingers and pens.
    pressed : bool
        Whether the button is down: False for "up".
    modifiers : frozenset of str
        The keys "shift" and "alt" that are held; "ctrl" and "meta" too on your own page's canvas.
    pointer : {"mouse", "touch", "pen"}
        The device.
    """

    type: str
    x: float
    y: float
    row: int
    column: int
    dx: float
    dy: float
    points: tuple[Position, ...]
    button: str
    pressed: bool
    modifiers: frozenset[str]
    pointer: str


Callback = Callable[[PointerEvent], object]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array is on its canvas, in pixels."""

    height: int
    width: int
    top: int = 0
    left: int = 0
    factor: int = 1
    """Pixels of the canvas for a pixel of the array."""

    def position(self, x: float, y: float) -> Position:
        """Return column and row of a position on the canvas."""
        return (x - self.left) / self.factor - 0.5, (y - self.top) / self.factor - 0.5

    def pixel(self, x: float, y: float) -> tuple[int, int]:
        """Return row and column of the nearest pixel."""
        return (
            min(max(round(y), 0), self.height - 1),
            min(max(round(x), 0), self.width - 1),
        )


class Listener(Protocol):
    """Takes the input of the page for one picture."""

    def take(self, rows: list[Any]) -> None:
        """Handle rows of input."""


@dataclass(slots=True)
class _Callback:
    callback: Callback
    place: Place
    last: Position = field(default=(0.0, 0.0))

    def take(self, rows: list[_Row]) -> None:
        for group in _groups(rows):
            self.callback(_event(self, group))


# The listeners by canvas and owner (engine/gpu/browser/pointer.py).
_listeners: dict[tuple[str, int], Listener] = {}
# The canvases whose newest image gets input.
_asked: set[str] = set()
# The owner of the picture whose callback runs. What the callback draws has the same owner.
_owner: ContextVar[int | None] = ContextVar("pointer_owner", default=None)
_is_calling = False
# Returns the owner of what the running code draws, if the page's own Python knows it.
_find_owner: Callable[[], int | None] | None = None


def check(op: str, callback: Any) -> None:
    """Raise an error for an invalid callback."""
    if callback is None:
        return
    if not callable(callback):
        raise InvalidType(op, "on_pointer", callback, "a function of one event, or None")
    if inspect.iscoroutinefunction(callback):
        advice = "Start a task in the function, with asyncio.ensure_future, to await something."
        raise InvalidArgument(op, "on_pointer", callback, "a plain function, not async", advice)


def know_owners(find: Callable[[], int | None]) -> None:
    """Call ``find()`` for the owner of a drawing, before the page is asked."""
    global _find_owner
    _find_owner = find


def owner_of(canvas_id: str) -> int | None:
    """Return the owner of what is drawn on a canvas now, or None without a page that asks."""
    owner = _owner.get()
    if owner is None and _find_owner is not None:
        owner = _find_owner()
    return platform.pointer_owner(canvas_id) if owner is None else owner


def listen(
    op: str,
    canvas: Any,
    canvas_id: str,
    owner: int | None,
    callback: Callback | None,
    place: Place | None,
) -> None:
    """Call ``callback`` for pointer input on a canvas from its next image on."""
    if callback is None and canvas_id not in _asked:
        return
    if owner is None:
        if callback is None:
            return
        raise without_page(op)
    key = canvas_id, owner
    found = _listeners.get(key)
    if callback is None or place is None:
        _listeners.pop(key, None)
    elif isinstance(found, _Callback):
        found.callback, found.place = callback, place
    else:
        _listeners[key] = _Callback(callback, place)
    if callback is None:
        _asked.discard(canvas_id)
        platform.send_pointer(canvas, canvas_id, None, receive)
    else:
        _asked.add(canvas_id)
        platform.send_pointer(canvas, canvas_id, owner, receive)


def without_page(op: str) -> Unsupported:
    """Return the error for a callback that would never be called."""
    return Unsupported(
        op,
        "on_pointer needs a page that sends pointer input to Python: the notebook, a "
        "<browsergpu-cell>, or a page whose main thread runs Python",
    )


def keep(canvas_id: str, owner: int, listener: Listener) -> None:
    """Pass input on a picture to ``listener``."""
    _listeners[canvas_id, owner] = listener


def listener_of(canvas_id: str, owner: int) -> Listener | None:
    """Return the listener of a picture."""
    return _listeners.get((canvas_id, owner))


def forget(canvas_id: str, owner: int) -> None:
    """Drop the listener of a picture that the page no longer shows."""
    _listeners.pop((canvas_id, owner), None)


def deliver() -> None:
    """Call the callbacks with the input that arrived while the running code computes."""
    if _listeners and not _is_calling:
        text = platform.waiting_pointer()
        if text:
            receive(text)


def receive(text: str) -> None:
    """Call the callbacks with input of the page. An exception ends the picture's input."""
    for canvas_id, owner, rows in json.loads(text):
        found = _listeners.get((canvas_id, owner))
        if found is None:
            continue
        try:
            _call(found, owner, rows)
        except BaseException:
            forget(canvas_id, owner)
            raise


def _call(listener: Listener, owner: int, rows: list[Any]) -> None:
    global _is_calling
    before, token = _is_calling, _owner.set(owner)
    _is_calling = True
    try:
        listener.take(rows)
    finally:
        _is_calling = before
        _owner.reset(token)


def _groups(rows: list[_Row]) -> list[list[_Row]]:
    """Return the rows of each event: successive moves are one event."""
    groups: list[list[_Row]] = []
    for row in rows:
        if row[0] == "move" and groups and groups[-1][0][0] == "move":
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _event(listener: _Callback, rows: list[_Row]) -> PointerEvent:
    place = listener.place
    points = tuple(place.position(x, y) for _, x, y, *_ in rows)
    kind, _, _, button, modifiers, pointer = rows[-1]
    x, y = points[-1]
    if kind == "down":
        listener.last = x, y
    dx, dy = x - listener.last[0], y - listener.last[1]
    listener.last = x, y
    row, column = place.pixel(x, y)
    return PointerEvent(
        kind, x, y, row, column, dx, dy, points, button, kind != "up", frozenset(modifiers), pointer
    )
