"""Transposed convolutions with strides as convolutions without strides.

With a stride of s, results at a distance of s see the same elements of the kernel. Such a *phase*
is a convolution of the input by every s-th element of the flipped kernel. Zeros between the input's
elements would take s times as many multiplications along each axis.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Largest share of taps to elements of the kernel for which one convolution computes all phases.
_MOST_WASTE = 1.25


@dataclass(frozen=True, slots=True)
class Group:
    """Neighboring phases that one convolution computes along an axis.

    Tap t of phase ``first`` + n is element ``start`` + stride * t + n of the kernel, or 0 if there
    is none. The convolution's filters are the flipped taps.

    Attributes
    ----------
    first, count : int
        The phases.
    start : int
        Negative if a tap is before the kernel's elements.
    taps : int
        Taps of each phase.
    before, behind : int
        Zeros around the input. Negative numbers leave out elements.
    """

    first: int
    count: int
    start: int
    taps: int
    before: int
    behind: int


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases along one axis of a transposed convolution.

    Result i is number (i + shift) // stride of phase (i + shift) % stride. Each phase has
    ``results`` numbers. Those of phases in no group are 0, which only a single group leaves.
    """

    shift: int
    results: int
    groups: tuple[Group, ...]


def phases_of(
    extent: int, kernel: int, stride: int, padding: int, result: int, *, is_one: bool = False
) -> Phases:
    """Return the phases along an axis with ``extent`` inputs and ``result`` results.

    ``is_one`` asks for a single group.
    """
    fewest = -(-kernel // stride)
    if kernel >= stride and not is_one and fewest * stride > _MOST_WASTE * kernel:
        results = -(-result // stride)
        groups = []
        for phase in range(stride):
            first, start = divmod(phase + padding, stride)  # first: of tap 0, minus the number
            taps = -(-(kernel - start) // stride)
            before, behind = taps - 1 - first, results + first - extent
            groups.append(Group(phase, 1, start, taps, before, behind))
        return Phases(0, results, tuple(groups))
    # Without a shift, nothing is cut off, but there may be one more tap.
    shift, front = 0, -padding % stride
    if kernel < stride or -(-(front + kernel) // stride) > fewest:
        shift, front = padding % stride, 0
    taps = -(-(front + kernel) // stride)
    results = -(-(shift + result) // stride)
    first = (padding - shift + front) // stride
    group = Group(0, min(kernel, stride), -front, taps, taps - 1 - first, results + first - extent)
    return Phases(shift, results, (group,))
