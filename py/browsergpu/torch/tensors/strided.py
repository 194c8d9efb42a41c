"""Views with other strides: windows of an axis, and strides that the caller names."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.value import NODE
from browsergpu.arrays.views.aliases import fills_memory
from browsergpu.engine.core import checks
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import contiguous_strides
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import manipulation
from browsergpu.torch.tensors.public import public
from browsergpu.torch.tensors.shapes import axis_of


@public("unfold", function=False, out=False)
def unfold(self: Any, dimension: int, size: int, step: int) -> Any:
    """Return windows of an axis along a new last axis: a read-only view, or a tracked copy."""
    at = axis_of("unfold", dimension, len(self.shape))
    if not (0 < size <= self.shape[at] and step > 0):
        expected = f"from 1 to the {self.shape[at]} elements of the axis, with a step of at least 1"
        raise InvalidArgument("unfold", "size", (size, step), expected)
    if not self.is_tracked:
        windows = ABOVE.namespace.lib.stride_tricks.sliding_window_view(self, size, at)
        return windows[(slice(None),) * at + (slice(None, None, step),)]
    n = (self.shape[at] - size) // step + 1
    places = np.arange(n)[:, None] * step + np.arange(size)
    key = (slice(None),) * at + (places,)
    return manipulation.moveaxis(self[key], at + 1, -1)


@public("stride", function=False, out=False)
def stride(self: Any, dim: Any = None) -> Any:
    """Return the elements to step along each axis."""
    if 0 in self.shape:  # the strides as if the empty axes had one element
        steps = contiguous_strides(tuple([max(n, 1) for n in self.shape]))
    else:
        steps = tuple([one // self.itemsize for one in self.strides])
    return steps if dim is None else steps[dim]


def _is_distinct(shape: tuple[int, ...], steps: tuple[int, ...]) -> bool:
    """Whether no two elements of a view are one in memory, as far as sorted strides tell."""
    end = 0
    for step, extent in sorted(zip(steps, shape, strict=True)):
        if extent > 1:
            if step <= end:
                return False
            end += step * (extent - 1)
    return True


@exclusive
def _is_whole(x: Any) -> bool:
    return fills_memory(NODE.__get__(x).in_memory())


@public(out=False)
def as_strided(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """Return a view with a shape and strides in elements, within the elements of the tensor.

    A view in which elements overlap is read-only. A tensor that requires a gradient must be
    contiguous, and the result is a read-only copy. ``storage_offset`` can be given for tensors that
    are no views.
    """
    op = "as_strided"
    shape = checks.dimensions(op, "size", tuple(size))
    steps = checks.dimensions(op, "stride", tuple(stride))
    if len(steps) != len(shape):
        raise InvalidArgument(op, "stride", steps, f"{len(shape)} numbers, one for each axis")
    own = tuple(input.shape)
    strides = tuple([one // input.itemsize for one in input.strides])
    is_packed = strides == contiguous_strides(own)
    begin = 0
    if storage_offset is not None:
        begin = checks.integer(op, "storage_offset", storage_offset)
        if not (is_packed and _is_whole(input)):
            advice = "Index the tensor first."
            raise InvalidArgument(op, "storage_offset", begin, "None for a view", advice)
    span = 1 + sum((n - 1) * step for n, step in zip(own, strides, strict=True))
    last = begin + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if 0 in shape:
        return ABOVE.namespace.zeros(shape, dtype=input.dtype, device=input.device)
    if 0 in own or last >= span:
        expected = f"within the {0 if 0 in own else span} elements that the tensor spans"
        raise InvalidArgument(op, "stride", steps, expected)
    if input.is_tracked or begin:
        if not is_packed:
            raise InvalidArgument(op, "input", input, "contiguous", "Call contiguous() first.")
        input = manipulation.reshape(input, (-1,))
    if input.is_tracked:
        places = np.full(shape, begin)
        for step, along in zip(steps, np.ogrid[tuple(map(slice, shape))], strict=True):
            places += step * along
        found = input[places]
        NODE.__get__(found).is_read_only = True
        return found
    bytes_ = tuple([step * input.itemsize for step in steps])
    is_read_only = NODE.__get__(input).is_read_only
    found = ABOVE.namespace.lib.stride_tricks.as_strided(input[begin:] if begin else input, shape,
                                                         bytes_)  # fmt: skip
    NODE.__get__(found).is_read_only = is_read_only or not _is_distinct(shape, steps)
    return found
