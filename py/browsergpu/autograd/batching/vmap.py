"""``vmap``: a function of one example as a function of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import (
    BATCHED,
    Frame,
    batch_of,
    batched,
    opened,
    turn_back,
)
from browsergpu.arrays.autograd.variable import node_of
from browsergpu.arrays.views.aliases import alias
from browsergpu.autograd import trees
from browsergpu.autograd.batching import axes, elementwise, indexing, networks, products
from browsergpu.autograd.batching.calls import by_example
from browsergpu.autograd.batching.levels import is_of
from browsergpu.engine.core.checks import integer
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, NeedsExamples
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, manipulation

_OP = "vmap"
#: The modules that register rules.
FAMILIES = (axes, elementwise, indexing, networks, products)


def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, *, axis_size: int | None = None
) -> Callable[..., Any]:
    """Return a function that computes ``fun`` for all examples along an axis of its arguments.

    Parameters
    ----------
    fun : callable
        A function of one example. It returns arrays, numbers, or trees of these.
    in_axes : int, None, or a tree of these
        The axis of each argument that has the examples. None passes an argument unchanged. A tuple
        has an entry for each argument; an entry may be a tree with the outer structure of the
        argument. Keyword arguments always have the examples along axis 0.
    out_axes : int, None, or a tree of these
        The axis of each result that gets the examples. None returns a result that is equal for all
        examples without such an axis.
    axis_size : int, optional
        The number of examples. Required if no argument has an axis of examples.

    Returns
    -------
    callable
        Takes the arguments of ``fun``, with one axis more.

    Raises
    ------
    InvalidArgument
        If the arguments have different numbers of examples, an axis is out of range, or
        ``out_axes`` is None for a result that differs between examples. The class is a ValueError.
    InvalidType
        If ``fun`` reads a value that differs between examples, with ``if x > 0:``, ``float(x)`` or
        ``np.asarray(x)``. The class is a TypeError.

    Notes
    -----
    ``fun`` runs once, and each operation in it computes all examples. Calls can be nested, and
    combined with ``grad``, ``jit`` and the other transforms.

    Functions without a batching rule are called for each example, and their results stacked. A
    VmapWarning names them. ``fun`` itself may run for each example too, so it must not depend on
    how often it is called. Numbers that a generator draws in ``fun`` are the same for all
    examples, unless it runs for each example. Arguments cannot be changed in place.

    Examples
    --------
    >>> bg.vmap(lambda row, x: (row * x).sum(), in_axes=(0, None))(bg.ones((3, 2)), bg.ones(2))
    array([2., 2., 2.], dtype=float32)
    """

    @wraps(fun)
    def call(*args: Any, **options: Any) -> Any:
        return _called(fun, in_axes, out_axes, axis_size, args, options)

    return call


def _called(
    fun: Callable[..., Any], in_axes: Any, out_axes: Any, axis_size: int | None,
    args: tuple[Any, ...], options: dict[str, Any],
) -> Any:  # fmt: skip
    given = in_axes
    if isinstance(given, list):
        given = tuple(given)
    if isinstance(given, tuple) and len(given) != len(args):
        told = Description(f"{len(given)} entries")
        raise InvalidArgument(_OP, "in_axes", told, f"have {len(args)} entries, one per argument")
    chosen = [*trees.prefixed(_OP, "in_axes", given, args), *[0] * len(trees.leaves(options))]
    tree = [list(args), options]
    leaves = trees.leaves(tree)
    pairs = [_example_axis(x, axis) for x, axis in zip(leaves, chosen, strict=True)]
    size = _size(pairs, axis_size)
    frame = Frame(size)
    own = [x if axis is None else batched(_first(x, axis), frame) for x, axis in pairs]
    own_args, own_options = trees.unflatten(tree, own)
    with opened((frame,)):
        try:
            found = fun(*own_args, **own_options)
        except NeedsExamples as error:
            if error.frame is not frame:
                raise
            found = by_example(fun, frame, own_args, own_options)
        result = _results(found, out_axes, frame)
        del found, own, own_args, own_options
        if turn_back(frame):
            told = Description("an array from outside of the function")
            expected = "made in the function, as a value that differs between examples was written"
            raise InvalidArgument(_OP, "array", told, expected)
    frame.is_open = False
    return result


def _example_axis(x: Any, axis: Any) -> tuple[Any, int | None]:
    """Return an argument as an array, and the axis with the examples."""
    if axis is None or x is None:
        return x, None
    if not isinstance(x, Array):
        if not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
            expected = "an array, or have None in in_axes"
            raise InvalidType(_OP, "argument", x, expected)
        x = creation.asarray(x)
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        raise InvalidType(_OP, "in_axes", axis, "an integer or None")
    if not x.ndim:
        told = Description(f"an array of rank 0 for axis {axis}")
        raise InvalidArgument(_OP, "argument", told, "have rank at least 1", "Use None in in_axes.")
    return x, integer(_OP, "in_axes", axis, -x.ndim, x.ndim - 1) % x.ndim


def _size(pairs: Sequence[tuple[Any, int | None]], axis_size: int | None) -> int:
    sizes = {x.shape[axis] for x, axis in pairs if axis is not None}
    if axis_size is not None:
        sizes.add(integer(_OP, "axis_size", axis_size, 0))
    if not sizes:
        told = Description("None for all of them")
        raise InvalidArgument(
            _OP, "in_axes", told, "an axis of at least one argument", "Or pass axis_size."
        )
    if len(sizes) > 1:
        told = Description(f"inconsistent sizes for array axes to be mapped: {sorted(sizes)}")
        raise InvalidArgument(_OP, "arguments", told, "have one number of examples")
    return int(sizes.pop())


@exclusive
def _first(x: Array, axis: int) -> Array:
    """Return a read-only view of an argument with the examples along axis 0."""
    value = manipulation.moveaxis(x, axis, 0) if axis else x
    if type(value) in BATCHED or value.is_tracked:
        return manipulation.broadcast_to(value, value.shape)
    return alias(value, value.same(), read_only=True)


def _results(found: Any, out_axes: Any, frame: Frame) -> Any:
    given = tuple(out_axes) if isinstance(out_axes, list) and isinstance(found, tuple) else out_axes
    chosen = trees.prefixed(_OP, "out_axes", given, found)
    made = [_result(x, axis, frame) for x, axis in zip(trees.leaves(found), chosen, strict=True)]
    return trees.unflatten(found, made)


@exclusive
def _result(x: Any, axis: Any, frame: Frame) -> Any:
    if x is None:
        return None
    if not isinstance(x, Array):
        if not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
            raise InvalidType(_OP, "fun", x, "a function that returns arrays or numbers")
        x = creation.asarray(x)
    if axis is None:
        if is_of(x, frame):
            told = Description("None for a result that differs between the examples")
            raise InvalidArgument(_OP, "out_axes", told, "an axis")
        return x
    at = integer(_OP, "out_axes", axis, -x.ndim - 1, x.ndim) % (x.ndim + 1)
    if is_of(x, frame):
        value = batch_of(x).value
    else:
        value = manipulation.broadcast_to(
            manipulation.expand_dims(x, axis=0), (frame.size, *x.shape)
        )
    if at:
        value = manipulation.moveaxis(value, 0, at)
    is_view = type(value) not in BATCHED and node_of(value).view_group is not None
    return value.__copy__() if is_view else value
