"""Shapes, numbers and views of arrays, as hypothesis draws them.

Elements come from a seed that is drawn, which is quick; shapes, views and settings are drawn one by
one, so that a failure comes down to the simplest of them. Each maker of numbers says how far it
stays from corners and poles: differences need 1e-4 at most (``directions``)."""

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
#: Of floats and of complex numbers, the simplest first.
_RANKS = (2, 1, 3, 0, 4)
_EXTENTS = (2, 3, 1, 4, 0, 5)
_STEPS = (1, -1, 2, -2)


class Operand(NamedTuple):
    """An array, and the view of it that a function is called with: names of NumPy's and our
    functions, each with its second argument; "part" stands for ``x[key]``."""

    base: np.ndarray
    view: tuple[tuple[str, Any], ...] = ()

    def seen(self, module: Any, base: Any) -> Any:
        """The view of an array in the place of the base."""
        for name, how in self.view:
            base = base[how] if name == "part" else getattr(module, name)(base, how)
        return base


# -- shapes ----------------------------------------------------------------------------------------


def shapes(draw: Draw, least: int = 0, most: int = 4, extents: Sequence[int] = _EXTENTS) -> Shape:
    """Of so many axes, at most 120 elements."""
    rank = draw(st.sampled_from([n for n in _RANKS if least <= n <= most]))
    found: list[int] = []
    for _ in range(rank):
        extent = draw(st.sampled_from(extents))
        found.append(extent if prod(found) * extent <= 120 else 1)
    return tuple(found)


def broadcast_shapes(draw: Draw, count: int, most: int = 4) -> list[Shape]:
    """Some that broadcast to one: axes of one index, and fewer axes, in all but one of them."""
    whole = shapes(draw, most=most)
    found = []
    for _ in range(count):
        begin = draw(st.integers(0, len(whole)))
        found.append(tuple(n if draw(st.booleans()) else 1 for n in whole[begin:]))
    found[draw(st.integers(0, count - 1))] = whole
    return found


def axis_of(draw: Draw, rank: int) -> int:
    """One of them, counted from either end."""
    return draw(st.integers(-rank, rank - 1))  # type: ignore[no-any-return]


def axes_of(draw: Draw, rank: int) -> Any:
    """None, one, or some different ones."""
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
    """How many elements of each result are along axes."""
    chosen = range(len(x)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    return prod(x[n] for n in chosen)


# -- numbers ---------------------------------------------------------------------------------------


def chance(draw: Draw) -> np.random.Generator:
    """Numbers by a seed that is drawn."""
    return np.random.default_rng(draw(st.integers(0, 2**16)))


def between(draw: Draw, shape: Shape, low: float, high: float, dtype: str = "f4") -> np.ndarray:
    """Any real numbers of a range."""
    return np.asarray(chance(draw).uniform(low, high, shape), dtype)


def away(
    draw: Draw, shape: Shape, low: float, high: float, points: Sequence[float],
    margin: float = 0.05, dtype: str = "f4",
) -> np.ndarray:  # fmt: skip
    """Of a range, none nearer than the margin to points; a range of three margins about each must
    have no other."""
    rng = chance(draw)
    found = rng.uniform(low, high, shape)
    for point in points:
        side = np.where(found < point, -1, 1) if low < point < high else np.sign(low - point)
        near = np.abs(found - point) < margin
        found = np.where(near, point + side * margin * rng.uniform(1.2, 2, shape), found)
    return np.asarray(found, dtype)


def quadrants(draw: Draw, shape: Shape, low: float = 0.2, high: float = 1.5) -> np.ndarray:
    """Complex numbers that far at least from both axes, on which all cuts and poles are."""
    rng = chance(draw)
    parts = [rng.uniform(low, high, shape) * rng.choice([-1, 1], shape) for _ in range(2)]
    return np.asarray(parts[0] + 1j * parts[1], "c8")


def numbers(draw: Draw, shape: Shape, dtype: str = "f4", size: float = 2.0) -> np.ndarray:
    """Any, where a function has neither corners nor poles."""
    if dtype != "c8":
        return between(draw, shape, -size, size, dtype)
    rng = chance(draw)
    parts = [rng.uniform(-size, size, shape) for _ in range(2)]
    return np.asarray(parts[0] + 1j * parts[1], "c8")


def on_grid(draw: Draw, shape: Shape, offset: float, dtype: str = "f4") -> np.ndarray:
    """k / 4 + offset from -2 to 2: of another offset none is equal, by that distance."""
    return np.asarray(chance(draw).integers(-8, 8, shape) / 4 + offset, dtype)


def different(draw: Draw, shape: Shape, dtype: str = "f4") -> np.ndarray:
    """No two of one absolute value, which are from 1/8 on, 1/16 apart; of either sign."""
    rng, count = chance(draw), prod(shape)
    found = (rng.permutation(count) + 2) / 16 * rng.choice([-1, 1], count)
    if dtype == "c8":
        found = found * np.exp(1j * rng.choice([0.6, 1.1, 2, 2.7], count))
    return found.reshape(shape).astype(dtype)


# -- views -----------------------------------------------------------------------------------------


def seen(draw: Draw, target: np.ndarray, *, repeats: bool = True) -> Operand:
    """An array of which a view has the elements of the target; ``repeats``: it may be a part of
    them, broadcast, so that some are the same."""
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
