"""Frames of nested calls of ``vmap``: from batched arrays to arrays with an axis for each frame.

``physical(x, frames)`` has these axes first, the outermost frame's axis at 0. Gradients are
recorded for physical arrays, as examples of one frame do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED, FRAMES, Frame, batch_of, batched
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import manipulation, statistics


def frame_of(x: Any) -> Frame | None:
    """Return the innermost frame of an argument, which may be a list or tuple."""
    kind = type(x)
    if kind in BATCHED:
        return batch_of(x).frame
    if kind is list or kind is tuple:
        return innermost(x)
    return None


def innermost(items: Sequence[Any]) -> Frame | None:
    """Return the innermost frame of several arguments."""
    found = None
    for x in items:
        frame = frame_of(x)
        if frame is not None and (found is None or frame.depth > found.depth):
            found = frame
    return found


def is_of(x: Any, frame: Frame) -> bool:
    """Whether an array has its examples in a frame."""
    return type(x) in BATCHED and batch_of(x).frame is frame


@exclusive
def with_axis(x: Array, frame: Frame) -> Array:
    """Return the value of an array for a frame, with the examples along axis 0."""
    if is_of(x, frame):
        return batch_of(x).value
    own = x if x.is_tracked else x.same()  # not a view, as the array may be written
    return manipulation.broadcast_to(manipulation.expand_dims(own, axis=0), (frame.size, *x.shape))


def physical(x: Array, frames: Sequence[Frame]) -> Array:
    """Return an array with an axis for each of the frames, in front of its own axes."""
    if not frames:
        return x
    if type(x) in BATCHED:
        value, frame = batch_of(x)
        if frame not in frames:  # x stays batched in a deeper frame
            return batched(manipulation.moveaxis(physical(value, frames), len(frames), 0), frame)
    return physical(with_axis(x, frames[-1]), frames[:-1])


def wrapped(x: Array, frames: Sequence[Frame]) -> Array:
    """Return the array of one example. This is the inverse of :func:`physical`."""
    if not frames:
        return x
    if type(x) in BATCHED:
        value, frame = batch_of(x)
        return batched(wrapped(manipulation.moveaxis(value, 0, len(frames)), frames), frame)
    for frame in frames:
        x = batched(x, frame)
    return x


def base(x: Any) -> Any:
    """Return the value of an array under all frames."""
    while type(x) in BATCHED:
        x = batch_of(x).value
    return x


def frames_in(x: Any) -> tuple[Frame, ...]:
    """Return the frames of an array, outermost first."""
    found = []
    while type(x) in BATCHED:
        x, frame = batch_of(x)
        found.append(frame)
    return tuple(reversed(found))


def like_base(gradient: Array, x: Array) -> Array:
    """Return the gradient of ``base(x)`` from the gradient of ``x``.

    It is summed over the frames that only the gradient has.
    """
    own, frames = frames_in(x), frames_in(gradient)
    every = tuple(sorted({*own, *frames}, key=lambda frame: frame.depth))
    spread = physical(gradient, every)
    axes = tuple([n for n, frame in enumerate(every) if frame not in own])
    return statistics.sum(spread, axis=axes) if axes else spread


def is_tracked(x: Any) -> bool:
    """Whether an array, or the value of a batched array, requires a gradient."""
    return type(base(x)) in TRACKED


def open_frames() -> tuple[Frame, ...]:
    """Return the open frames, outermost first."""
    return FRAMES.get()
