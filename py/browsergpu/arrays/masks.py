"""How an attention mask is broadcast to the scores."""

from __future__ import annotations

from browsergpu.arrays.view import View
from browsergpu.core.errors import InvalidArgument


def broadcast(
    op: str, mask: View, target: tuple[int, ...]
) -> tuple[int, tuple[int, int, int, int]]:
    """Extent of the inner leading index, and strides [outer, inner, row, column]."""
    shape = (1,) * (len(target) - len(mask.shape)) + mask.shape
    if len(shape) != len(target) or any(
        m not in (1, t) for m, t in zip(shape, target, strict=True)
    ):
        raise InvalidArgument(op, "mask", mask, f"of a shape that broadcasts to {target}")
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(range(len(shape))):
        strides[axis] = step if shape[axis] > 1 else 0
        step *= shape[axis]
    *lead, row, column = strides
    extents = target[:-2]
    # Leading axes fold into two while neighbours are broadcast alike.
    folded: list[tuple[int, int]] = []  # (extent, stride), outermost first
    for extent, stride in zip(extents, lead, strict=True):
        if extent == 1:
            continue
        if folded:
            before, before_stride = folded[-1]
            if before_stride == stride * extent:
                folded[-1] = (before * extent, stride)
                continue
        folded.append((extent, stride))
    if len(folded) > 2:
        raise InvalidArgument(
            op,
            "mask",
            mask,
            f"broadcast over at most two groups of the leading axes {extents}",
        )
    (_, outer), (count_inner, inner) = [(1, 0), (1, 0), *folded][-2:]
    return count_inner, (outer, inner, row, column)
