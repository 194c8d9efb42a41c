"""The series of ``browsergpu.plot``: its arguments, checked, and their formats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation
from browsergpu.functions.images import colormaps

#: Matplotlib's cycle of colors, "C0" to "C9".
CYCLE = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
    "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf",
)  # fmt: skip
#: Matplotlib's colors of one letter.
LETTERS = {
    "b": "#0000ff", "g": "#008000", "r": "#ff0000", "c": "#00bfbf", "m": "#bf00bf",
    "y": "#bfbf00", "k": "#000000", "w": "#ffffff",
}  # fmt: skip
#: Diameter in pixels of the markers; "," is a pixel, "." half as wide as "o".
MARKERS = {",": 1, ".": 3, "o": 6}
_FORMAT = (
    'of Matplotlib: a line "-", a marker ".", "o" or ",", both, or neither, and a color letter '
    f"of {''.join(LETTERS)}"
)


@dataclass(frozen=True)
class Series:
    """One curve."""

    x: Array | None
    """None for 0, 1, 2, …"""
    y: Array
    has_line: bool
    marker: str | None
    color: np.ndarray
    label: str | None

    def kept(self) -> Series:
        """Return the series with copies of its samples."""
        x = None if self.x is None else creation.asarray(self.x, copy=True)
        return replace(self, x=x, y=creation.asarray(self.y, copy=True))


def parse(op: str, args: tuple[Any, ...], color: Any, label: Any) -> list[Series]:
    """Return the series of the arguments ``[x], y, [format]``, repeated."""
    parts: list[tuple[Array | None, Array, str]] = []
    waiting = list(args)
    while waiting:
        arrays: list[Any] = []
        while waiting and len(arrays) < 2 and not isinstance(waiting[0], str):
            arrays.append(waiting.pop(0))
        text = waiting.pop(0) if waiting and isinstance(waiting[0], str) else "-"
        if not arrays:
            raise InvalidArgument(op, "args", args, "[x], y, [format], …", "Pass y first.")
        x = _samples(op, "x", arrays[0]) if len(arrays) == 2 else None
        y = _samples(op, "y", arrays[-1])
        if x is not None and x.shape != y.shape:
            expected = f"as many samples as x, {x.shape[0]}"
            raise InvalidArgument(op, "y", Description(str(y.shape[0])), expected)
        if x is not None and x.device is not y.device:
            raise InvalidArgument(op, "y", y, "on the device of x")
        parts.append((x, y, text))
    if not parts:
        raise InvalidArgument(op, "args", args, "at least one array y")
    if any(y.device is not parts[0][1].device for _, y, _ in parts):
        raise InvalidArgument(op, "args", Description("arrays of two devices"), "of one device")
    colors, names = _each(op, "color", color, len(parts)), _each(op, "label", label, len(parts))
    return [
        _series(op, i, *part, own, name)
        for i, (part, own, name) in enumerate(zip(parts, colors, names, strict=True))
    ]


def _samples(op: str, name: str, value: Any) -> Array:
    if isinstance(value, list | tuple | range | np.ndarray):
        value = creation.asarray(value)
    if not isinstance(value, Array):
        raise InvalidType(op, name, value, "an array")
    if value.node.kind.kind not in "fbiu":
        raise InvalidType(op, name, value.node.kind.numpy, "real")
    if value.ndim != 1 or value.shape[0] == 0:
        expected = "have one dimension and at least one sample"
        raise InvalidArgument(op, name, value, expected, "Pass columns as several series.")
    return apply.cast_to(op, value, FLOAT32, copy=False)


def _each(op: str, name: str, value: Any, n: int) -> list[Any]:
    """Return the value of each series: of one for all of them, or of a list."""
    if not isinstance(value, list):
        return [value] * n
    if len(value) != n:
        raise InvalidArgument(op, name, value, f"one for each of the {n} series")
    return value


def _series(
    op: str, i: int, x: Array | None, y: Array, text: str, color: Any, label: Any
) -> Series:
    marker, letter, has_line = None, None, False
    for sign in text:
        if sign == "-" and not has_line:
            has_line = True
        elif sign in MARKERS and marker is None:
            marker = sign
        elif sign in LETTERS and letter is None:
            letter = sign
        else:
            raise InvalidArgument(op, "format", text, _FORMAT)
    if label is not None and not isinstance(label, str):
        raise InvalidType(op, "label", label, "a str, a list with one for each series, or None")
    if color is None:
        color = CYCLE[i % len(CYCLE)] if letter is None else LETTERS[letter]
    elif letter is not None:
        raise InvalidArgument(op, "color", color, f"left out, since the format {text!r} has one")
    if isinstance(color, str):
        if color in LETTERS:
            color = LETTERS[color]
        elif len(color) == 2 and color[0] == "C" and color[1] in "0123456789":
            color = CYCLE[int(color[1])]
    rgba = colormaps.color(op, "color", color)
    return Series(x, y, has_line or marker is None, marker, rgba, label)
