"""Reductions of axes and windows with the names of ``jax.lax``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import manipulation
from browsergpu.jax import tree
from browsergpu.jax.arrays import keys
from browsergpu.jax.arrays.array import as_jax, cast
from browsergpu.jax.arrays.operands import array
from browsergpu.jax.lax.slices import pad
from browsergpu.jax.numpy.wrappers import FUNCTIONS as NUMPY

Pairs = list[tuple[int, int]]


def padding_of(
    op: str, shape: Sequence[int], window: Sequence[int], strides: Sequence[int], padding: Any
) -> Pairs:
    """Return the elements to add at both ends of each axis."""
    if not isinstance(padding, str):
        found = [(int(low), int(high)) for low, high in padding]
        if len(found) != len(window):
            raise InvalidArgument(op, "padding", padding, f"{len(window)} pairs")
        return found
    name = padding.upper()
    if name == "VALID":
        return [(0, 0)] * len(window)
    if name not in ("SAME", "SAME_LOWER"):
        raise InvalidArgument(op, "padding", padding, "'SAME', 'SAME_LOWER', 'VALID' or pairs")
    made = []
    for extent, size, step in zip(shape, window, strides, strict=True):
        total = max((-(-extent // step) - 1) * step + size - extent, 0)
        low = total // 2 if name == "SAME" else total - total // 2
        made.append((low, total - low))
    return made


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int],
    padding: str,
) -> Pairs:  # fmt: skip
    """Return the padding of each axis for a name such as "SAME"."""
    return padding_of("padtype_to_pads", in_shape, window_shape, window_strides, padding)


def _ones(given: Any, rank: int) -> tuple[int, ...]:
    return (1,) * rank if given is None else tuple([int(n) for n in given])


def reduce_window(
    operand: Any, init_value: Any, computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int], window_strides: Sequence[int] | None = None,
    padding: Any = "VALID", base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:  # fmt: skip
    """Combine the elements of each window.

    Parameters
    ----------
    operand : Array
        The array.
    init_value : Array
        The identity of the function, which pads the array.
    computation : callable
        An associative function of two arrays, such as ``lax.add`` or ``lax.max``.
    window_dimensions, window_strides : sequence of int
        The length and the step of the windows along each axis.
    padding : str or sequence of (int, int)
        "VALID", "SAME", or the elements to add at both ends of each axis.
    base_dilation, window_dilation : sequence of int, optional
        The distances of elements of the array and of a window.

    Returns
    -------
    Array
        The results.
    """
    op = "reduce_window"
    x = array(op, operand)
    init = cast(array(op, init_value), x.dtype)
    rank = x.ndim
    window, steps = _ones(window_dimensions, rank), _ones(window_strides, rank)
    apart, base = _ones(window_dilation, rank), _ones(base_dilation, rank)
    for name, given in (("window_dimensions", window), ("window_strides", steps),
                        ("window_dilation", apart), ("base_dilation", base)):  # fmt: skip
        if len(given) != rank or any(n < 1 for n in given):
            raise InvalidArgument(op, name, given, f"{rank} numbers of at least 1")
    extents = [(n - 1) * m + 1 if n else 0 for n, m in zip(x.shape, base, strict=True)]
    reach = [(n - 1) * m + 1 for n, m in zip(window, apart, strict=True)]
    pairs = padding_of(op, extents, reach, steps, padding)
    x = pad(x, init, [(low, high, m - 1) for (low, high), m in zip(pairs, base, strict=True)])
    for axis in range(rank):
        count = max((x.shape[axis] - reach[axis]) // steps[axis] + 1, 0)
        found = init
        for n in range(window[axis]):
            start = n * apart[axis]
            stop = start + max((count - 1) * steps[axis] + 1, 0) if count else start
            key = (slice(None),) * axis + (slice(start, stop, steps[axis]),)
            part = as_jax(keys.part(x, key))
            # The initial value joins once, along the last axis.
            is_first = n == 0 and axis < rank - 1
            found = part if is_first else _combined(computation, found, part)
        x = found
    return as_jax(x)


def _combined(computation: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    if first.shape != second.shape:
        first = as_jax(manipulation.broadcast_to(first, second.shape))
    return computation(first, second)


def reduce(
    operands: Any, init_values: Any, computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int], out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Combine the elements along axes by an associative function of two arrays.

    ``operands`` and ``init_values`` may be trees of arrays, which the function takes and returns.
    """
    if out_sharding is not None:
        raise InvalidArgument("reduce", "out_sharding", out_sharding, "None")
    given, structure = tree.flatten(operands)
    inits = tree.leaves(init_values)
    own = [_joined_axes(array("reduce", x), dimensions) for x in given]
    starts = [cast(array("reduce", x), y.dtype) for x, y in zip(inits, own, strict=True)]

    def combine(first: Any, second: Any) -> Any:
        return tree.leaves(computation(structure.unflatten(first), structure.unflatten(second)))

    count = own[0].shape[0]
    rest = [as_jax(manipulation.broadcast_to(s, x.shape[1:]))
            for s, x in zip(starts, own, strict=True)]  # fmt: skip
    while count > 1:
        half = count // 2
        if count % 2:
            rest = combine(rest, [x[-1] for x in own])
        own = combine([x[: 2 * half : 2] for x in own], [x[1 : 2 * half : 2] for x in own])
        count = half
    found = combine(rest, [x[0] for x in own]) if count else rest
    return structure.unflatten([as_jax(x) for x in found])


def _joined_axes(x: Any, dimensions: Sequence[int]) -> Any:
    """Return an array with the elements of some axes along axis 0."""
    axes = [n % x.ndim for n in dimensions]
    others = [n for n in range(x.ndim) if n not in axes]
    moved = manipulation.permute_dims(x, (*axes, *others))
    return as_jax(manipulation.reshape(moved, (-1, *[x.shape[n] for n in others])))


def _reduction(name: str, of: str) -> Callable[..., Any]:
    def call(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
        if out_sharding is not None:
            raise InvalidArgument(name, "out_sharding", out_sharding, "None")
        x = array(name, operand)
        options = {"promote_integers": False} if of in ("sum", "prod") else {}
        return NUMPY[of](x, axis=tuple(axes), **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the {of} along axes."
    return call


#: The reductions by name.
FUNCTIONS = {
    f"reduce_{name}": _reduction(f"reduce_{name}", of)
    for name, of in (
        ("sum", "sum"), ("prod", "prod"), ("max", "max"), ("min", "min"), ("and", "all"),
        ("or", "any"),
    )
}  # fmt: skip
