"""Calls of functions that reduce, sort, reshape and reorder arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from inside.gradients.drawn.directions import Call
from inside.gradients.drawn.operands import (
    NUMBERS,
    REAL,
    Draw,
    Shape,
    axes_of,
    axis_of,
    broadcast_shapes,
    chance,
    different,
    lengths,
    numbers,
    seen,
    shapes,
)
from inside.gradients.drawn.table import Table, entry

ARRAYS: Table = {}


def _drawn(draw: Draw, shape: Shape, kinds: tuple[str, ...] = NUMBERS) -> Any:
    """Draw a view of any numbers, in one of the given dtypes."""
    return seen(draw, numbers(draw, shape, draw(st.sampled_from(kinds))))


# -- statistics ------------------------------------------------------------------------------------


@entry(ARRAYS, "sum", "mean")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shape := shapes(draw))
    axis, keepdims = axes_of(draw, len(shape)), draw(st.booleans())
    assume(name == "sum" or lengths(shape, axis))
    more: dict[str, Any] = {}
    if name == "sum" and x.base.dtype == "f2" and draw(st.booleans()):
        more["dtype"] = "float32"
    return Call(
        [x], lambda bg, v: getattr(bg, name)(v, axis=axis, keepdims=keepdims, **more),
        lambda v: getattr(np, name)(v, axis=axis, keepdims=keepdims),
    )  # fmt: skip


@entry(ARRAYS, "prod")
def _(draw: Draw, name: str) -> Call:
    """Few elements, because a product's gradient is the product of all others; some are zero."""
    shape = shapes(draw, most=3, extents=(2, 3, 1, 0))
    target = numbers(draw, shape, draw(st.sampled_from(NUMBERS)), 1.5)
    if draw(st.booleans()):
        target[chance(draw).random(shape) < 0.3] = 0
    axis, keepdims = axes_of(draw, len(shape)), draw(st.booleans())
    return Call(
        [seen(draw, target)], lambda bg, v: bg.prod(v, axis=axis, keepdims=keepdims),
        lambda v: np.prod(v, axis=axis, keepdims=keepdims),
    )  # fmt: skip


@entry(ARRAYS, "max", "min")
def _(draw: Draw, name: str) -> Call:
    shape = shapes(draw)
    axis, keepdims = axes_of(draw, len(shape)), draw(st.booleans())
    assume(lengths(shape, axis))
    x = seen(draw, different(draw, shape, draw(st.sampled_from(REAL))), repeats=False)
    return Call(
        [x], lambda bg, v: getattr(bg, name)(v, axis=axis, keepdims=keepdims),
        lambda v: getattr(np, name)(v, axis=axis, keepdims=keepdims),
    )  # fmt: skip


@entry(ARRAYS, "var", "std")
def _(draw: Draw, name: str) -> Call:
    """Different elements, so that no deviation is 0, where std has a kink."""
    shape = shapes(draw)
    axis, keepdims = axes_of(draw, len(shape)), draw(st.booleans())
    correction = draw(st.sampled_from((0, 1, 0.5)))
    count = lengths(shape, axis)
    assume(count > (1 if name == "std" else correction))
    x = seen(draw, different(draw, shape, draw(st.sampled_from(REAL))), repeats=False)
    return Call(
        [x], lambda bg, v: getattr(bg, name)(v, axis=axis, correction=correction,
                                             keepdims=keepdims),
        lambda v: getattr(np, name)(v, axis=axis, ddof=correction, keepdims=keepdims),
    )  # fmt: skip


# -- order, cumulative sums and products -----------------------------------------------------------


@entry(ARRAYS, "sort")
def _(draw: Draw, name: str) -> Call:
    shape = shapes(draw, least=1)
    axis, descending = axis_of(draw, len(shape)), draw(st.booleans())

    def theirs(v: np.ndarray) -> np.ndarray:
        found = np.sort(v, axis=axis)
        return np.flip(found, axis) if descending else found

    x = seen(draw, different(draw, shape, draw(st.sampled_from(REAL))), repeats=False)
    return Call([x], lambda bg, v: bg.sort(v, axis=axis, descending=descending), theirs)


@entry(ARRAYS, "unique_all")
def _(draw: Draw, name: str) -> Call:
    """Different elements: equal ones share the gradient, see ``test_rules``."""
    x = seen(draw, different(draw, shapes(draw), draw(st.sampled_from(REAL))), repeats=False)
    return Call([x], lambda bg, v: bg.unique_all(v).values, np.unique)


def _running(
    of: Callable[..., np.ndarray], first: float, axis: int | None, initial: bool
) -> Callable[[np.ndarray], np.ndarray]:
    def theirs(v: np.ndarray) -> np.ndarray:
        found = of(v, axis=axis)
        if not initial:
            return found
        at = 0 if axis is None else axis
        ahead = list(found.shape)
        ahead[at] = 1
        return np.concatenate([np.full(ahead, first), found], at)

    return theirs


@entry(ARRAYS, "cumulative_sum", "cumulative_prod")
def _(draw: Draw, name: str) -> Call:
    is_sum = name == "cumulative_sum"
    shape = shapes(draw, least=1)
    axis = None if len(shape) == 1 and draw(st.booleans()) else axis_of(draw, len(shape))
    initial = draw(st.booleans())
    target = numbers(draw, shape, draw(st.sampled_from(NUMBERS if is_sum else REAL)), 1.5)
    if not is_sum and draw(st.booleans()):
        target[chance(draw).random(shape) < 0.3] = 0
    of, first = (np.cumsum, 0.0) if is_sum else (np.cumprod, 1.0)
    return Call(
        [seen(draw, target)],
        lambda bg, v: getattr(bg, name)(v, axis=axis, include_initial=initial),
        _running(of, first, axis, initial),
    )  # fmt: skip


@entry(ARRAYS, "diff")
def _(draw: Draw, name: str) -> Call:
    shape = shapes(draw, least=1, most=3, extents=(3, 4, 2, 1))
    axis = axis_of(draw, len(shape))
    kind = draw(st.sampled_from(NUMBERS))
    names = draw(st.sampled_from(((), ("prepend",), ("append",), ("prepend", "append"))))
    operands = [seen(draw, numbers(draw, shape, kind))]
    for _ in names:
        own = list(shape)
        own[axis] = draw(st.integers(1, 2))
        operands.append(seen(draw, numbers(draw, tuple(own), kind)))
    whole = sum(np.empty(one.seen(np, one.base).shape).shape[axis] for one in operands)
    n = draw(st.integers(0, min(3, whole - 1)))
    return Call(
        operands,
        lambda bg, v, *more: bg.diff(v, axis=axis, n=n, **dict(zip(names, more, strict=True))),
        lambda v, *more: np.diff(v, n=n, axis=axis, **dict(zip(names, more, strict=True)))
        if n else v + 0 if not more else _joined(names, v, more, axis),
    )  # fmt: skip


def _joined(names: tuple[str, ...], v: np.ndarray, more: tuple[Any, ...], axis: int) -> np.ndarray:
    """Return the joined array for n=0, where NumPy ignores prepend and append."""
    by = dict(zip(names, more, strict=True))
    return np.concatenate([x for x in (by.get("prepend"), v, by.get("append")) if x is not None],
                          axis)  # fmt: skip


# -- shapes ----------------------------------------------------------------------------------------


def _same(name: str, theirs: str, draw: Draw, x: Any, *args: Any, **options: Any) -> Call:
    """Return a call of a function of both packages that takes the same arguments."""
    return Call(
        [x], lambda bg, v: getattr(bg, name)(v, *args, **options),
        lambda v: getattr(np, theirs)(v, *args, **options),
    )  # fmt: skip


@entry(ARRAYS, "flip")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shape := shapes(draw))
    return _same(name, "flip", draw, x, axis=axes_of(draw, len(shape)))


@entry(ARRAYS, "matrix_transpose")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shapes(draw, least=2))
    return Call([x], lambda bg, v: bg.matrix_transpose(v), lambda v: np.swapaxes(v, -1, -2))


@entry(ARRAYS, "permute_dims", "transpose")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shape := shapes(draw))
    order = [n - len(shape) if draw(st.booleans()) else n
             for n in draw(st.permutations(range(len(shape))))]  # fmt: skip
    if name == "transpose" and draw(st.booleans()):
        return _same(name, "transpose", draw, x)
    return _same(name, "transpose", draw, x, tuple(order))


@entry(ARRAYS, "moveaxis")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shape := shapes(draw, least=1))
    rank = len(shape)
    if draw(st.booleans()):
        return _same(name, "moveaxis", draw, x, axis_of(draw, rank), axis_of(draw, rank))
    count = draw(st.integers(1, rank))
    pairs = [draw(st.permutations(range(rank)))[:count] for _ in range(2)]
    return _same(name, "moveaxis", draw, x, *(tuple(n - rank for n in one) for one in pairs))


@entry(ARRAYS, "roll")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shape := shapes(draw, least=1))
    axis = axes_of(draw, len(shape))
    shift: Any = draw(st.integers(-5, 5))
    if isinstance(axis, tuple) and draw(st.booleans()):
        shift = tuple(draw(st.integers(-5, 5)) for _ in axis)
    return _same(name, "roll", draw, x, shift, axis=axis)


@entry(ARRAYS, "repeat")
def _(draw: Draw, name: str) -> Call:
    """Repeat every element equally often, or each by its own count, also on the GPU."""
    x = _drawn(draw, shape := shapes(draw, least=1, most=3))
    axis = None if draw(st.booleans()) else axis_of(draw, len(shape))
    extent = lengths(shape, axis)
    is_one = not 0 < extent < 10 or draw(st.booleans())
    repeats: Any = draw(st.integers(0, 3))
    if not is_one:
        repeats = [draw(st.integers(0, 3)) for _ in range(extent)]
    on_gpu = isinstance(repeats, list) and draw(st.booleans())

    def ours(bg: Any, v: Any) -> Any:
        own = bg.asarray(np.array(repeats, np.int32)) if on_gpu else repeats
        return bg.repeat(v, own, axis=axis)

    return Call([x], ours, lambda v: np.repeat(v, np.array(repeats, int), axis=axis))


@entry(ARRAYS, "tile")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shapes(draw, most=3, extents=(2, 3, 1, 0)))
    counts = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    return _same(name, "tile", draw, x, counts)


@entry(ARRAYS, "reshape")
def _(draw: Draw, name: str) -> Call:
    shape = draw(st.sampled_from(((2, 3, 2), (4, 3), (12,), (3, 1, 4), (1,), (0, 2), (2, 0))))
    size = int(np.prod(shape))
    others = {12: ((-1, 2), (12,), (2, 6), (3, -1, 2)), 1: ((), (1, -1)), 0: ((0,), (3, 0), (-1,))}
    return _same(name, "reshape", draw, _drawn(draw, shape), draw(st.sampled_from(others[size])))


@entry(ARRAYS, "expand_dims")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shape := shapes(draw, most=3))
    if draw(st.booleans()):
        return _same(name, "expand_dims", draw, x, axis_of(draw, len(shape) + 1))
    rank = len(shape) + 2
    axes = draw(st.lists(st.integers(0, rank - 1), min_size=2, max_size=2, unique=True))
    return _same(name, "expand_dims", draw, x, tuple(n - rank for n in axes))


@entry(ARRAYS, "squeeze")
def _(draw: Draw, name: str) -> Call:
    shape = draw(st.sampled_from(((2, 1, 3), (1,), (1, 3, 1), (1, 1), (0, 1), (2, 3, 1))))
    ones = [n for n, extent in enumerate(shape) if extent == 1]
    chosen = draw(st.lists(st.sampled_from(ones), min_size=1, unique=True))
    axis = tuple(chosen) if len(chosen) > 1 else chosen[0] - len(shape)
    return _same(name, "squeeze", draw, _drawn(draw, shape), axis)


@entry(ARRAYS, "tril", "triu")
def _(draw: Draw, name: str) -> Call:
    x, k = _drawn(draw, shapes(draw, least=2)), draw(st.integers(-5, 5))
    return Call([x], lambda bg, v: getattr(bg, name)(v, k=k), lambda v: getattr(np, name)(v, k))


@entry(ARRAYS, "broadcast_to")
def _(draw: Draw, name: str) -> Call:
    own, whole = broadcast_shapes(draw, 2)
    return _same(name, "broadcast_to", draw, _drawn(draw, own), np.broadcast_shapes(own, whole))


@entry(ARRAYS, "broadcast_arrays")
def _(draw: Draw, name: str) -> Call:
    own = [_drawn(draw, one) for one in broadcast_shapes(draw, draw(st.integers(1, 3)))]
    return Call(own, lambda bg, *v: bg.broadcast_arrays(*v), np.broadcast_arrays)


@entry(ARRAYS, "meshgrid")
def _(draw: Draw, name: str) -> Call:
    count = draw(st.integers(1, 3))
    own = [_drawn(draw, shapes(draw, most=1)) for _ in range(count)]
    indexing = draw(st.sampled_from(("xy", "ij")))
    return Call(
        own, lambda bg, *v: bg.meshgrid(*v, indexing=indexing),
        lambda *v: np.meshgrid(*v, indexing=indexing),
    )  # fmt: skip


_MIXED = st.sampled_from((("f4", "f4"), ("f2", "f4"), ("c8", "f4"), ("c8", "c8"), ("f2", "f2")))


@entry(ARRAYS, "concat")
def _(draw: Draw, name: str) -> Call:
    """Join two or three arrays, one of which may be empty or of another dtype."""
    shape, kinds = shapes(draw, least=1, most=3), draw(_MIXED)
    axis = None if draw(st.booleans()) else axis_of(draw, len(shape))
    own = []
    for n in range(draw(st.integers(2, 3))):
        other = list(shape)
        if axis is None:
            other = list(shapes(draw, most=2))
        else:
            other[axis] = draw(st.integers(0, 3))
        own.append(_drawn(draw, tuple(other), kinds[n % 2 : n % 2 + 1]))
    return Call(
        own, lambda bg, *v: bg.concat(v, axis=axis), lambda *v: np.concatenate(v, axis=axis)
    )


@entry(ARRAYS, "stack")
def _(draw: Draw, name: str) -> Call:
    shape, kinds = shapes(draw, most=3), draw(_MIXED)
    axis = axis_of(draw, len(shape) + 1)
    own = [_drawn(draw, shape, (kind,)) for kind in kinds]
    return Call(
        own, lambda bg, x, y: bg.stack([x, y, x], axis=axis),
        lambda x, y: np.stack([x, y, x], axis=axis),
    )  # fmt: skip


@entry(ARRAYS, "unstack")
def _(draw: Draw, name: str) -> Call:
    x = _drawn(draw, shape := shapes(draw, least=1, extents=(2, 3, 1)))
    axis = axis_of(draw, len(shape))
    return Call(
        [x], lambda bg, v: bg.unstack(v, axis=axis), lambda v: list(np.moveaxis(v, axis, 0))
    )


@entry(ARRAYS, "take")
def _(draw: Draw, name: str) -> Call:
    """Take indices from either end, some of them twice, on the host or the GPU."""
    x = _drawn(draw, shape := shapes(draw, least=1, most=3, extents=(2, 3, 1, 4)))
    axis = None if len(shape) == 1 and draw(st.booleans()) else axis_of(draw, len(shape))
    extent = shape[0 if axis is None else axis]
    indices = chance(draw).integers(-extent, extent, draw(st.sampled_from((3, 0, 5))))
    on_gpu = draw(st.booleans())

    def ours(bg: Any, v: Any) -> Any:
        own = bg.asarray(indices.astype(np.int32)) if on_gpu else indices
        return bg.take(v, own, axis=axis)

    return Call([x], ours, lambda v: np.take(v, indices, axis=axis))


@entry(ARRAYS, "take_along_axis")
def _(draw: Draw, name: str) -> Call:
    own = shapes(draw, least=1, most=3, extents=(2, 3, 1, 4))
    axis = axis_of(draw, len(own))
    other = [n if draw(st.booleans()) else 1 for n in own]
    other[axis] = draw(st.integers(1, 4))
    indices = chance(draw).integers(-own[axis], own[axis], other)
    return Call(
        [_drawn(draw, own)],
        lambda bg, v: bg.take_along_axis(v, bg.asarray(indices.astype(np.int32)), axis=axis),
        lambda v: np.take_along_axis(
            v, np.broadcast_to(indices, [b if n == axis % v.ndim else a for n, (a, b)
                                         in enumerate(zip(own, other, strict=True))]), axis,
        ),
    )  # fmt: skip


# -- dtypes ----------------------------------------------------------------------------------------


@entry(ARRAYS, "astype", "asarray")
def _(draw: Draw, name: str) -> Call:
    """Cast to floats and complex numbers; complex numbers only to complex numbers."""
    own, to = draw(st.sampled_from((("f4", "c8"), ("f4", "f2"), ("f2", "f4"), ("f4", "f4"),
                                    ("c8", "c8"), ("f2", "c8"))))  # fmt: skip
    x = _drawn(draw, shapes(draw), (own,))

    def ours(bg: Any, v: Any) -> Any:
        return bg.astype(v, to) if name == "astype" else bg.asarray(v, dtype=to)

    return Call([x], ours, lambda v: v.astype("c16") if to == "c8" else v + 0)
