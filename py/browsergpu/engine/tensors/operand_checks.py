"""Checks of operands that several interfaces share. Errors name the argument and show its value."""

from __future__ import annotations

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.tensors.view import View


def has_shape(op: str, name: str, x: View, shape: Shape) -> None:
    """Raise InvalidArgument if an operand does not have this shape."""
    if x.shape != shape:
        raise InvalidArgument(op, name, x, f"have shape {shape}")


def has_axes(op: str, name: str, x: View, least: int, expected: str) -> None:
    """Raise InvalidArgument if an operand has fewer than ``least`` axes."""
    if len(x.shape) < least:
        raise InvalidArgument(op, name, x, expected)


def broadcast_mask(
    op: str, mask: View, target: tuple[int, ...]
) -> tuple[int, tuple[int, int, int, int]]:
    """Return the broadcast of an attention mask to the scores.

    It consists of the extent of the inner leading index, and strides [outer, inner, row, column].
    """
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
    # Adjacent leading axes that broadcast alike are merged. Two may remain.
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
