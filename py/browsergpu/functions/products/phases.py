"""Transposed convolutions with strides, by convolutions without strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as cartesian

from browsergpu.arrays import apply, concatenate
from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.convolution.phases import Group, Phases, phases_of
from browsergpu.engine.kernels.fused.layout import Place
from browsergpu.functions import manipulation
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.padding import padded


def transposed_by_phases(
    op: str, convolve: Callable[..., Array], x: Array, w: Array, bias: Array | None, stride: Shape,
    padding: Shape, more: Shape, groups: int,
) -> Array:  # fmt: skip
    """Compute a transposed convolution without dilation by convolutions without strides.

    ``more`` is the output padding. ``convolve`` takes an operation's name, input, filters, bias,
    stride, padding, dilation and groups.
    """
    kernel, rank, filters = w.shape[2:], len(stride), groups * w.shape[1]
    extents = [
        max((own - 1) * step + 1, 0) - 2 * cut + size - 1 + behind
        for own, size, step, cut, behind in zip(
            x.shape[2:], kernel, stride, padding, more, strict=True
        )
    ]
    settings = list(zip(x.shape[2:], kernel, stride, padding, extents, strict=True))
    has_zeros = any(size < step for size, step in zip(kernel, stride, strict=True))
    axes = [phases_of(*setting, is_one=has_zeros) for setting in settings]
    parts = []
    for own in cartesian(*[axis.groups for axis in axes]):
        found = _phases(op, convolve, x, w, axes, own, stride, groups)
        if bias is not None and not has_zeros:
            added = found + inputs.of_channels(bias, found.ndim)
            found = apply.cast_to(op, added, found.node.kind, copy=False)
        parts.append((found, own))
    # Results are number, phase along each axis.
    numbers = [axis.results for axis in axes]
    shape = (len(x), filters, *[n for pair in zip(numbers, stride, strict=True) for n in pair])
    if has_zeros:
        found, own = parts[0]
        order = (0, 1, *[n for axis in range(2, 2 + rank) for n in (axis + rank, axis)])
        rest = [(0, step - one.count) for step, one in zip(stride, own, strict=True)]
        zeros = [pair for last in rest for pair in ((0, 0), last)]
        whole = padded(manipulation.permute_dims(found, order), [(0, 0), (0, 0), *zeros], 0)
        if bias is not None:
            added = whole + inputs.of_channels(bias, whole.ndim)
            whole = apply.cast_to(op, added, whole.node.kind, copy=False)
    else:
        steps = shapes.contiguous_strides(shape)
        along = (*steps[:2], *steps[3::2], *steps[2::2])
        places: list[Place] = [
            (part.shape, along,
             sum(one.first * step for one, step in zip(own, steps[3::2], strict=True)))
            for part, own in parts
        ]  # fmt: skip
        arrays = [part for part, _ in parts]
        whole = concatenate.joined(op, arrays, places, shape, arrays[0].node.kind)
    sizes = [n * step for n, step in zip(numbers, stride, strict=True)]
    joined = whole.reshape((len(x), filters, *sizes))
    ends = [slice(axis.shift, axis.shift + n) for axis, n in zip(axes, extents, strict=True)]
    return joined if sizes == extents else joined[(..., *ends)]


def _phases(
    op: str, convolve: Callable[..., Array], x: Array, w: Array, axes: Sequence[Phases],
    own: Sequence[Group], stride: Shape, groups: int,
) -> Array:  # fmt: skip
    """Return the phases of a group of each axis, [N, F, phases ..., numbers ...]."""
    channels, each, *kernel = w.shape
    rank = len(kernel)
    zeros, key = [(0, 0), (0, 0)], []
    for one, size, step in zip(own, kernel, stride, strict=True):
        end = one.taps * one.count + one.start - size
        zeros.append((0, 0) if one.count == 1 else (-one.start, end))
        key.append(slice(one.start, None, step) if one.count == 1 else slice(None))
    taken = w[(..., *key)]
    if any(n for pair in zeros for n in pair):
        taken = padded(taken, zeros, 0)
    split = [n for one in own for n in (one.taps, one.count)]
    apart = taken.reshape((groups, channels // groups, each, *split))
    taps, phases = range(3, apart.ndim, 2), range(4, apart.ndim, 2)
    turned = manipulation.permute_dims(apart, (0, 2, *phases, 1, *taps))
    flipped = manipulation.flip(turned, axis=tuple(range(turned.ndim - rank, turned.ndim)))
    counts = [one.count for one in own]
    filters = groups * each * checks.product(counts)
    shape = (filters, channels // groups, *[one.taps for one in own])
    pairs = [(one.before, one.behind) for one in own]
    if min(map(min, pairs)) < 0:
        x = padded(x, [(0, 0), (0, 0), *pairs], 0)
        pairs = [(0, 0)] * rank
    margin = tuple(map(max, pairs))  # the kernel pads both sides alike
    found = convolve(op, x, flipped.reshape(shape), None, (1,) * rank, margin, (1,) * rank, groups)
    spare = [most - before for most, (before, _) in zip(margin, pairs, strict=True)]
    ends = [slice(n, n + axis.results) for n, axis in zip(spare, axes, strict=True)]
    found = found.reshape((len(x), groups * each, *counts, *found.shape[2:]))
    return found[(..., *ends)]
