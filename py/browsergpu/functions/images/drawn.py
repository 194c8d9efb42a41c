"""The values of drawn arrays, for the page that shows them under the cursor.

Only weak references are kept, so a drawing keeps no GPU memory in use. An array that was freed, or
written since it was drawn, has no values: they are not those of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import ref

from browsergpu.arrays.array import Array
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.errors import BackendError
from browsergpu.functions.images.plot_view import PlotView
from browsergpu.functions.images.pointer import Place, listener_of

_Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Drawing:
    node: ref[Node]
    """The value of the array when it was drawn. The array holds another one after a change."""
    tracer: Tracer
    version: int
    """The count of writes to its memory."""
    place: Place


# The newest drawings by canvas and owner (engine/gpu/browser/pointer.py).
_drawings: dict[_Key, _Drawing] = {}


def remember(canvas_id: str, owner: int | None, x: Array | None, place: Place | None) -> None:
    """Note the array that a canvas shows, or that it shows none."""
    if owner is None:
        return
    key = canvas_id, owner
    if x is None or place is None:
        _drawings.pop(key, None)
        return
    node: Node = NODE.__get__(x)
    _drawings[key] = _Drawing(
        ref(node, lambda gone: _drop(key, gone)), x.tracer, _version(node), place
    )


def forget(canvas_id: str, owner: int) -> None:
    """Drop a drawing that the page no longer shows."""
    _drawings.pop((canvas_id, owner), None)


async def value_at(canvas_id: str, owner: int, x: float, y: float) -> str:
    """Return row, column and value at a position on the canvas, or "" for none.

    For a plot, return the values of its axes.

    Parameters
    ----------
    canvas_id, owner : str, int
        The drawing.
    x, y : float
        The position in pixels of the canvas.
    """
    drawing = _drawings.get((canvas_id, owner))
    if drawing is None:
        plot = listener_of(canvas_id, owner)
        return plot.value_at(x, y) if isinstance(plot, PlotView) else ""
    node = drawing.node()
    if node is None or not _is_as_drawn(node, drawing):
        return ""
    row, column = (round(at) for at in reversed(drawing.place.position(x, y)))
    if not (0 <= row < drawing.place.height and 0 <= column < drawing.place.width):
        return ""  # the title, the axes or the colorbar
    try:
        found = await Array(node, drawing.tracer)[row, column].numpy_async()
    except BackendError:  # such as a lost GPU, which the user's own code reports
        return ""
    return f"row {row}, column {column}: {_text(found)}"


def _text(found: Any) -> str:
    """Return a number, or the numbers of a pixel's channels."""
    numbers = [str(one) for one in found.reshape(-1)]
    return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"


def _is_as_drawn(node: Node, drawing: _Drawing) -> bool:
    if not node.is_held or _version(node) != drawing.version:
        return False
    return node.trace is not None or not node.storage.is_free


def _version(node: Node) -> int:
    return 0 if node.trace is not None else node.storage.version


def _drop(key: _Key, gone: ref[Node]) -> None:
    found = _drawings.get(key)
    if found is not None and found.node is gone:
        del _drawings[key]
