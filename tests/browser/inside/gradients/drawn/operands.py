"""Shapes, numbers and views of arrays, drawn by hypothesis.

Elements come from a drawn seed, which is fast. Shapes, views and settings are drawn one by one, so
that hypothesis shrinks a failure to the simplest of them. Each maker of numbers states its distance
from kinks and poles; differences need at most 1e-4 (``directions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

Draw = Any
Shape = tuple[int, ...]

REAL = ("f4", "f2")
NUMBERS = ("f4", "c8", "f2")
#: Simplest first.
_RANKS = (2, 1, 3, 0, 4)
_EXTENTS = (2, 3, 1, 4, 0, 5)
_STEPS = (1, -1, 2, -2)


class Operand(NamedTuple):
    """An array, and the view of it that a function gets.

    The view is a list of pairs: a function's name, equal in NumPy and browsergpu, and its second
    argument. "part" stands for ``x[key]``.
    """

    base: np.ndarray
    view: tuple[tuple[str, Any], ...] = ()

    def seen(self, module: Any, base: Any) -> Any:
        """Return the same view of another base."""
        for name, how in self.view:
            base = base[how] if name == "part" else getattr(module, name)(base, how)
        return base


# -- shapes ----------------------------------------------------------------------------------------


def shapes(draw: Draw, least: int = 0, most: int = 4, extents: Sequence[int] = _EXTENTS) -> Shape:
    """Draw a shape with ``least`` to ``most`` axes and at most 120 elements."""
    rank = draw(st.sampled_from([n for n in _RANKS if least <= n <= most]))
    found: list[int] = []
    for _ in range(rank):
        extent = draw(st.sampled_from(extents))
        found.append(extent if prod(found) * extent <= 120 else 1)
    return tuple(found)


def broadcast_shapes(draw: Draw, count: int, most: int = 4) -> list[Shape]:
    """Draw shapes that broadcast to one shape: all but one have axes of extent 1 or fewer axes."""
    whole = shapes(draw, most=most)
    found = []
    for _ in range(count):
        begin = draw(st.integers(0, len(whole)))
        found.append(tuple(n if draw(st.booleans()) else 1 for n in whole[begin:]))
    found[draw(st.integers(0, count - 1))] = whole
    return found


def axis_of(draw: Draw, rank: int) -> int:
    """Draw an axis, counted from either end."""
    return draw(st.integers(-rank, rank - 1))  # type: ignore[no-any-return]


def axes_of(draw: Draw, rank: int) -> Any:
    """Draw None, an axis, or several different axes."""
    if rank == 0:
        return None
    kind = draw(st.sampled_from(("one", "all", "some")))
    if kind == "one":
        return axis_of(draw, rank)
    if kind == "all":
        return None
    chosen = draw(st.lists(st.integers(0, rank - 1), min_size=1, unique=True))
    return tuple(n - rank if draw(st.booleans()) else n for n in chosen)


def lengths(x: Shape, axes: Any) -> int:
    """Return the number of elements along axes."""
    chosen = range(len(x)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    return prod(x[n] for n in chosen)


# -- numbers ---------------------------------------------------------------------------------------


def chance(draw: Draw) -> np.random.Generator:
    """Return a generator with a drawn seed."""
    return np.random.default_rng(draw(st.integers(0, 2**16)))


def between(draw: Draw, shape: Shape, low: float, high: float, dtype: str = "f4") -> np.ndarray:
    """Draw real numbers from a range."""
    return np.asarray(chance(draw).uniform(low, high, shape), dtype)


def away(
    draw: Draw, shape: Shape, low: float, high: float, points: Sequence[float],
    margin: float = 0.05, dtype: str = "f4",
) -> np.ndarray:  # fmt: skip
    """Draw numbers from a range, at least ``margin`` from each of the points.

    The points must be at least three margins apart.
    """
    rng = chance(draw)
    found = rng.uniform(low, high, shape)
    for point in points:
        side = np.where(found < point, -1, 1) if low < point < high else np.sign(low - point)
        near = np.abs(found - point) < margin
        found = np.where(near, point + side * margin * rng.uniform(1.2, 2, shape), found)
    return np.asarray(found, dtype)


def quadrants(draw: Draw, shape: Shape, low: float = 0.2, high: float = 1.5) -> np.ndarray:
    """Draw complex numbers at least ``low`` from both axes, which contain all cuts and poles."""
    rng = chance(draw)
    parts = [rng.uniform(low, high, shape) * rng.choice([-1, 1], shape) for _ in range(2)]
    return np.asarray(parts[0] + 1j * parts[1], "c8")


def numbers(draw: Draw, shape: Shape, dtype: str = "f4", size: float = 2.0) -> np.ndarray:
    """Draw any numbers, for functions without kinks and poles."""
    if dtype != "c8":
        return between(draw, shape, -size, size, dtype)
    rng = chance(draw)
    parts = [rng.uniform(-size, size, shape) for _ in range(2)]
    return np.asarray(parts[0] + 1j * parts[1], "c8")


def on_grid(draw: Draw, shape: Shape, offset: float, dtype: str = "f4") -> np.ndarray:
    """Draw k / 4 + offset from -2 to 2.

    Numbers with different offsets differ at least by the difference of the offsets.
    """
    return np.asarray(chance(draw).integers(-8, 8, shape) / 4 + offset, dtype)


def different(draw: Draw, shape: Shape, dtype: str = "f4") -> np.ndarray:
    """Draw numbers of either sign; absolute values are at least 1/8, and 1/16 apart."""
    rng, count = chance(draw), prod(shape)
    found = (rng.permutation(count) + 2) / 16 * rng.choice([-1, 1], count)
    if dtype == "c8":
        found = found * np.exp(1j * rng.choice([0.6, 1.1, 2, 2.7], count))
    return found.reshape(shape).astype(dtype)


# -- views -----------------------------------------------------------------------------------------


def seen(draw: Draw, target: np.ndarray, *, repeats: bool = True) -> Operand:
    """Draw an array and a view of it whose elements are those of ``target``.

    With ``repeats``, the view may broadcast a part of the elements, so that some are equal.
    """
    kinds = ["plain", "transposed", "stepped", "reshaped", *(["broadcast"] if repeats else [])]
    kind = draw(st.sampled_from(kinds)) if target.ndim else "plain"
    return {
        "plain": lambda: Operand(target), "transposed": lambda: _transposed(draw, target),
        "stepped": lambda: _stepped(draw, target), "reshaped": lambda: _reshaped(target),
        "broadcast": lambda: _broadcast(draw, target),
    }[kind]()  # fmt: skip


def _transposed(draw: Draw, target: np.ndarray) -> Operand:
    order = draw(st.permutations(range(target.ndim)))
    back = tuple(int(n) for n in np.argsort(order))
    return Operand(np.transpose(target, back).copy(), (("transpose", tuple(order)),))


def _stepped(draw: Draw, target: np.ndarray) -> Operand:
    key, whole = [], []
    for extent in target.shape:
        step = draw(st.sampled_from(_STEPS))
        more = draw(st.integers(0, 1)) if extent else 0
        length = more + abs(step) * extent
        key.append(slice(more if step > 0 else length - 1 - more, None, step))
        whole.append(length)
    base = np.ones(whole, target.dtype)
    base[tuple(key)] = target
    return Operand(base, (("part", tuple(key)),))


def _reshaped(target: np.ndarray) -> Operand:
    return Operand(target.reshape(-1).copy(), (("reshape", target.shape),))


def _broadcast(draw: Draw, target: np.ndarray) -> Operand:
    begin = draw(st.integers(0, target.ndim))
    if 0 in target.shape[:begin]:
        begin = 0
    base = target[(0,) * begin]
    for axis in range(base.ndim):
        if base.shape[axis] and draw(st.booleans()):
            base = np.take(base, [0], axis)
    return Operand(np.array(base), (("broadcast_to", target.shape),))
