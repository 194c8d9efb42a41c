"""Control flow and slices with the names of ``jax.lax``.

Loops run in Python: a loop of a known number of steps records each step, also in ``bg.jit``.
``cond``, ``switch`` and ``while_loop`` read their condition, which waits for the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import index
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED
from browsergpu.autograd import trees
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Call ``carry, y = f(carry, x)`` for each ``x`` along axis 0, and stack the results.

    Parameters
    ----------
    f : callable
        Takes the carry and one element of ``xs``. It returns the next carry, and an array or tree
        of arrays or None.
    init : tree
        The first carry.
    xs : tree of Array, optional
        The elements, along axis 0.
    length : int, optional
        The number of steps. Required without ``xs``.
    reverse : bool
        Whether the last element comes first. The results keep the order of ``xs``.

    Returns
    -------
    carry : tree
        The last carry.
    ys : tree of Array
        The results, stacked along axis 0.

    Raises
    ------
    InvalidArgument
        If the number of steps is unknown or contradictory, or there are no steps.

    Examples
    --------
    >>> total, sums = bg.jax.lax.scan(lambda c, x: (c + x, c + x), 0.0, bg.asarray([1.0, 2.0, 3.0]))
    >>> sums.tolist()
    [1.0, 3.0, 6.0]
    """
    lengths = {x.shape[0] for x in trees.leaves(xs) if x is not None}
    if length is not None:
        lengths.add(index(length))
    if len(lengths) != 1:
        expected = "one number of steps, from xs or length"
        raise InvalidArgument("scan", "xs", sorted(lengths), expected)
    count = lengths.pop()
    if not count:
        raise InvalidArgument("scan", "xs", xs, "have at least one element")
    carry, found = init, []
    for n in reversed(range(count)) if reverse else range(count):
        carry, y = f(carry, trees.map_tree(partial(_element, n), xs))
        found.append(y)
    if reverse:
        found.reverse()
    columns = zip(*[trees.leaves(y) for y in found], strict=True)
    return carry, trees.unflatten(found[0], [_stacked(column) for column in columns])


def _element(n: int, x: Any) -> Any:
    return None if x is None else x[n]


def _stacked(column: Sequence[Any]) -> Any:
    if column[0] is None:
        return None
    return manipulation.stack([x if isinstance(x, Array) else creation.asarray(x) for x in column])


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Call ``f`` for each element along axis 0, one after the other, and stack the results."""
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


def fori_loop(lower: int, upper: int, body_fun: Callable[[int, Any], Any], init_val: Any) -> Any:
    """Return the last value of ``value = body_fun(i, value)`` for i from lower to upper - 1."""
    value = init_val
    for n in range(index(lower), index(upper)):
        value = body_fun(n, value)
    return value


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Repeat ``value = body_fun(value)`` while ``cond_fun(value)`` is true.

    Each step reads the condition, which waits for the GPU.
    """
    value = init_val
    while bool(cond_fun(value)):
        value = body_fun(value)
    return value


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """Call ``true_fun`` or ``false_fun`` with the operands.

    Parameters
    ----------
    pred : bool or Array
        The condition. Reading an array waits for the GPU. If it differs between the examples of
        ``vmap``, both functions are called, and each example takes the elements of one result.
    true_fun, false_fun : callable
        Take the operands.
    *operands
        The arguments.

    Returns
    -------
    tree
        The result of the called function.
    """
    if type(pred) in BATCHED:
        return select_tree(pred, true_fun(*operands), false_fun(*operands))
    return true_fun(*operands) if bool(pred) else false_fun(*operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call the branch with a number. The number is clamped to the branches."""
    if type(index) in BATCHED:
        chosen = elementwise.clip(index, 0, len(branches) - 1)
        found = branches[0](*operands)
        for n, branch in enumerate(branches[1:], 1):
            found = select_tree(elementwise.equal(chosen, n), branch(*operands), found)
        return found
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def select_tree(pred: Array, first: Any, second: Any) -> Any:
    """Return the first tree where a condition of one element is true, and else the second."""
    pairs = zip(trees.leaves(first), trees.leaves(second), strict=True)
    return trees.unflatten(first, [elementwise.where(pred, x, y) for x, y in pairs])


def select(pred: Array, on_true: Any, on_false: Any) -> Array:
    """Return the elements of ``on_true`` where ``pred`` is true, and else of ``on_false``."""
    return elementwise.where(pred, on_true, on_false)


def stop_gradient(x: Any) -> Any:
    """Return a tree of the same values, through which no gradient passes."""
    return trees.map_tree(lambda leaf: leaf.detach() if isinstance(leaf, Array) else leaf, x)


def rsqrt(x: Array) -> Array:
    """Return ``1 / sqrt(x)``."""
    return elementwise.reciprocal(elementwise.sqrt(x))


def dynamic_slice(
    operand: Array, start_indices: Sequence[Any], slice_sizes: Sequence[int]
) -> Array:
    """Return a slice of a fixed size, whose start may be on the GPU.

    Parameters
    ----------
    operand : Array
        The array.
    start_indices : sequence of int or Array
        The start along each axis. It is clamped so that the slice fits.
    slice_sizes : sequence of int
        The length along each axis.

    Returns
    -------
    Array
        An array of shape ``slice_sizes``.

    Raises
    ------
    InvalidArgument
        If there is not one start and one size for each axis, or a size exceeds the array.
    """
    return operand[_places("dynamic_slice", operand, start_indices, slice_sizes)]


def dynamic_update_slice(operand: Array, update: Array, start_indices: Sequence[Any]) -> Array:
    """Return a copy of ``operand`` in which ``update`` replaces a slice of its shape.

    The start along each axis is clamped so that the slice fits.
    """
    found = operand.copy()
    found[_places("dynamic_update_slice", operand, start_indices, update.shape)] = update
    return found


def dynamic_index_in_dim(operand: Array, index: Any, axis: int = 0, keepdims: bool = True) -> Array:
    """Return the part at an index of an axis. The index may be on the GPU, and is clamped."""
    at = axis % operand.ndim
    starts: list[Any] = [0] * operand.ndim
    sizes = list(operand.shape)
    starts[at], sizes[at] = index, 1
    found = dynamic_slice(operand, starts, sizes)
    return found if keepdims else manipulation.squeeze(found, axis=at)


def _places(op: str, x: Array, starts: Sequence[Any], sizes: Sequence[int]) -> tuple[Any, ...]:
    if len(starts) != x.ndim or len(sizes) != x.ndim:
        raise InvalidArgument(op, "start_indices", len(starts), f"have {x.ndim} entries")
    found: list[Any] = []
    for n, (start, size, extent) in enumerate(zip(starts, sizes, x.shape, strict=True)):
        if not 0 <= size <= extent:
            raise InvalidArgument(op, "slice_sizes", size, f"at most {extent} for axis {n}")
        if isinstance(start, Array):
            if start.ndim or start.dtype.kind not in "iu":
                raise InvalidType(op, "start_indices", start, "integers")
            first: Any = elementwise.clip(start.astype("int32"), 0, extent - size)
        else:
            first = min(max(index(start), 0), extent - size)
        row = creation.arange(size, dtype="int32", device=x.device)
        shape = [-1 if at == n else 1 for at in range(x.ndim)]
        found.append(manipulation.reshape(row + first, shape))
    return tuple(found)
