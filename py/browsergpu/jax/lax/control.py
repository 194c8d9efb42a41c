"""Control flow with the names of ``jax.lax``.

Loops run in Python: a loop of a known number of steps records each step, also in ``jit``.
``cond``, ``switch`` and ``while_loop`` read their condition, which waits for the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import index as as_index
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED, batch_of
from browsergpu.arrays.autograd.rules import values
from browsergpu.engine.core import shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.jax import tree
from browsergpu.jax.arrays.array import as_jax
from browsergpu.jax.devices import eval_shape
from browsergpu.jax.transforms import as_array, vmap

_NUMBERS = (bool, int, float, complex)


def _as_arrays(x: Any) -> Any:
    return tree.map(as_array, x)


def _check_carry(op: str, before: Any, after: Any) -> Any:
    """Return the next carry. Raises InvalidType if its structure, shapes or dtypes changed.

    Python numbers take the dtype of their successor.
    """
    old, new = tree.flatten(before), tree.flatten(_as_arrays(after))
    if old[1] != new[1]:
        told = Description("another structure of the carry")
        raise InvalidType(op, "body function", told, "carry of equal types in and out")
    for x, y in zip(old[0], new[0], strict=True):
        if not isinstance(x, Array) or not isinstance(y, Array):
            continue
        if tuple(x.shape) != tuple(y.shape) or x.dtype != y.dtype:
            told = Description(f"{y.dtype}{list(y.shape)} after {x.dtype}{list(x.shape)}")
            raise InvalidType(op, "body function", told, "carry of equal types in and out")
    return new[1].unflatten(new[0])


def _carry(init: Any) -> Any:
    """Return the first carry: arrays of NumPy become JAX's, and Python numbers stay."""
    return tree.map(lambda x: x if type(x) in _NUMBERS else as_array(x), init)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None,
    reverse: bool = False, unroll: int | bool = 1, _split_transpose: bool = False,
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
    unroll : int or bool
        A hint of JAX without effect, as the loop runs in Python.

    Returns
    -------
    carry : tree
        The last carry.
    ys : tree of Array
        The results, stacked along axis 0.

    Raises
    ------
    InvalidArgument
        If the number of steps is unknown or contradictory.
    InvalidType
        If a step changes the shape or dtype of the carry.

    Examples
    --------
    >>> total, sums = bg.jax.lax.scan(lambda c, x: (c + x, c + x), 0.0, bg.asarray([1.0, 2.0, 3.0]))
    >>> sums.tolist()
    [1.0, 3.0, 6.0]
    """
    del unroll, _split_transpose  # hints
    elements = _as_arrays(xs)
    lengths = {x.shape[0] for x in tree.leaves(elements)}
    if length is not None:
        lengths.add(as_index(length))
    if len(lengths) != 1:
        expected = "one number of steps, from xs or length"
        raise InvalidArgument("scan", "xs", sorted(lengths), expected)
    count = lengths.pop()
    carry = _carry(init)
    if not count:
        return _as_arrays(carry), _no_results(f, carry, elements)
    found = []
    for n in reversed(range(count)) if reverse else range(count):
        after, y = f(_as_arrays(carry), tree.map(partial(_element, n), elements))
        carry = _check_carry("scan", carry, after)
        found.append(_as_arrays(y))
    if reverse:
        found.reverse()
    leaves, structure = zip(*[tree.flatten(y) for y in found], strict=True)
    columns = zip(*leaves, strict=True)
    return carry, structure[0].unflatten([as_jax(manipulation.stack(c)) for c in columns])


def _no_results(f: Callable[..., Any], carry: Any, elements: Any) -> Any:
    """Return the stacked results of no steps."""
    rows = tree.map(lambda x: as_jax(creation.zeros(x.shape[1:], dtype=x.dtype)), elements)
    made = eval_shape(f, _as_arrays(carry), rows)[1]
    return tree.map(lambda x: as_jax(creation.zeros((0, *x.shape), dtype=x.dtype)), made)


def _element(n: int, x: Any) -> Any:
    return x[n]


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Call ``f`` for each element along axis 0, and stack the results.

    With ``batch_size``, it calls :func:`vmap` of ``f`` for so many elements at once.
    """
    if batch_size is None:
        return scan(lambda _, x: ((), f(x)), (), xs)[1]
    elements = _as_arrays(xs)
    count = tree.leaves(elements)[0].shape[0]
    many = vmap(f)
    parts = [
        many(tree.map(lambda x, at=at: x[at : at + batch_size], elements))
        for at in range(0, count, as_index(batch_size))
    ]
    if not parts:
        return scan(lambda _, x: ((), f(x)), (), xs)[1]
    return tree.map(lambda *given: as_jax(manipulation.concat(given)), *parts)


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[int, Any], Any], init_val: Any, *,
    unroll: int | bool | None = None,
) -> Any:  # fmt: skip
    """Return the last value of ``value = body_fun(i, value)`` for i from lower to upper - 1.

    ``i`` is a Python integer.
    """
    del unroll  # a hint
    value = _carry(init_val)
    for n in range(as_index(lower), as_index(upper)):
        value = _check_carry("fori_loop", value, body_fun(n, _as_arrays(value)))
    return _as_arrays(value)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Repeat ``value = body_fun(value)`` while ``cond_fun(value)`` is true.

    Each step reads the condition, which waits for the GPU. In ``vmap`` the loop ends when the
    conditions of all examples are false.
    """
    value = _carry(init_val)
    while True:
        chosen = cond_fun(_as_arrays(value))
        if type(chosen) in BATCHED:
            if not _any(chosen):
                break
            own = _as_arrays(value)
            value = select_tree(chosen, _check_carry("while_loop", value, body_fun(own)), own)
            continue
        kind = chosen.dtype if isinstance(chosen, Array) else np.asarray(chosen).dtype
        if kind != np.dtype(bool):
            told = Description(f"a function that returns {kind}")
            raise InvalidType("while_loop", "cond_fun", told, "a function that returns a bool")
        if not bool(_condition(chosen)):
            break
        value = _check_carry("while_loop", value, body_fun(_as_arrays(value)))
    return _as_arrays(value)


def _any(x: Any) -> bool:
    """Return whether a condition is true for an example."""
    own = x
    while type(own) in BATCHED:
        own = batch_of(own).value
    return bool(values(own).numpy().any())


def _condition(x: Any) -> Any:
    """Return a condition without its autograd node, so that it can be read."""
    return values(x) if isinstance(x, Array) else x


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any,
    operand: Any = None,
) -> Any:  # fmt: skip
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
    operand : tree, optional
        A single argument, by its old name.

    Returns
    -------
    tree
        The result of the called function.
    """
    is_scalar = isinstance(pred, Array | np.ndarray | np.generic) and not pred.ndim
    if not is_scalar and not isinstance(pred, bool | int | float):
        raise InvalidType("cond", "pred", pred, "a scalar")
    given = operands if operand is None else (operand,)
    own = [_as_arrays(x) for x in given]
    if type(pred) in BATCHED:
        return select_tree(pred, true_fun(*own), false_fun(*own))
    return _as_arrays((true_fun if bool(_condition(pred)) else false_fun)(*own))


def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = None
) -> Any:
    """Call the branch with a number. The number is clamped to the branches."""
    own = [_as_arrays(x) for x in (operands if operand is None else (operand,))]
    if not branches:
        raise InvalidArgument("switch", "branches", branches, "have at least one function")
    is_array = isinstance(index, Array | np.ndarray | np.generic)
    if (index.dtype.kind not in "iu" or index.ndim) if is_array else type(index) is not int:
        raise InvalidType("switch", "index", index, "an integer")
    if type(index) in BATCHED:
        chosen = elementwise.clip(index, 0, len(branches) - 1)
        found = _as_arrays(branches[0](*own))
        for n, branch in enumerate(branches[1:], 1):
            found = select_tree(elementwise.equal(chosen, n), branch(*own), found)
        return found
    at = int(_condition(index))
    return _as_arrays(branches[min(max(at, 0), len(branches) - 1)](*own))


def select_tree(pred: Any, first: Any, second: Any) -> Any:
    """Return the first tree where a condition of one element is true, and else the second."""
    return tree.map(lambda x, y: as_jax(elementwise.where(pred, x, y)),
                    _as_arrays(first), _as_arrays(second))  # fmt: skip


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Return running results of an associative function along an axis.

    Parameters
    ----------
    fn : callable
        Takes two trees of arrays with many elements along the axis, and combines these.
    elems : tree of Array
        The elements.
    reverse : bool
        Whether to begin with the last element.
    axis : int
        The axis.

    Returns
    -------
    tree of Array
        The results, with the shapes of ``elems``.

    Notes
    -----
    The number of calls grows with the logarithm of the number of elements.

    Source: Blelloch, "Prefix Sums and Their Applications", 1990.
    """
    given = _as_arrays(elems)
    leaves, structure = tree.flatten(given)
    at = shapes.axis("associative_scan", "axis", axis, leaves[0].ndim)
    if reverse:
        leaves = [as_jax(manipulation.flip(x, axis=at)) for x in leaves]

    def combine(first: Any, second: Any) -> Any:
        return tree.leaves(fn(structure.unflatten(first), structure.unflatten(second)))

    found = _associative(combine, leaves, at)
    if reverse:
        found = [as_jax(manipulation.flip(x, axis=at)) for x in found]
    return structure.unflatten(found)


def _associative(combine: Callable[..., Any], leaves: Sequence[Any], axis: int) -> Any:
    count = leaves[0].shape[axis]
    if count < 2:
        return list(leaves)

    def part(x: Any, start: int | None, stop: int | None, step: int | None = None) -> Any:
        return x[(slice(None),) * axis + (slice(start, stop, step),)]

    pairs = combine([part(x, 0, -1, 2) for x in leaves], [part(x, 1, None, 2) for x in leaves])
    odd = _associative(combine, pairs, axis)
    ahead = [part(x, 0, -1) for x in odd] if count % 2 == 0 else odd
    even = combine(ahead, [part(x, 2, None, 2) for x in leaves]) if count > 2 else []
    first = [part(x, 0, 1) for x in leaves]
    evens = [manipulation.concat(x, axis=axis) for x in zip(first, even, strict=True)] if even \
        else first  # fmt: skip
    return [as_jax(_interleaved(x, y, axis)) for x, y in zip(evens, odd, strict=True)]


def _interleaved(even: Any, odd: Any, axis: int) -> Any:
    count = odd.shape[axis]
    ahead = (slice(None),) * axis
    both = manipulation.stack([even[(*ahead, slice(0, count))], odd], axis=axis + 1)
    shape = (*odd.shape[:axis], 2 * count, *odd.shape[axis + 1 :])
    found = manipulation.reshape(both, shape)
    if even.shape[axis] == count:
        return found
    return manipulation.concat([found, even[(*ahead, slice(count, None))]], axis=axis)
