"""Views of an array's memory. Nothing is copied where NumPy copies nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

from browsergpu.arrays.apply import packed
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.value import Value
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import BOOL, FLOAT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape, broadcast_strides, contiguous_strides

V = TypeVar("V", bound=Value)


def strides_of(x: Value) -> Shape:
    """Return the strides of a computed array, in elements."""
    node = x.node
    return contiguous_strides(node.shape) if node.strides is None else node.strides


def view(x: V, shape: Shape, strides: Shape, offset: int) -> V:
    """Return a view with these strides. ``offset`` counts from the array's first element."""
    node = x.node
    if node.trace is not None:
        node.in_memory()
    known = None if strides == contiguous_strides(shape) else strides_or_none(shape, strides)
    made = Node(node.kind, shape)
    made.put(node.storage, known, node.offset + offset)
    return type(x)(made, x.tracer)


def real(x: V) -> V:
    """Return the real parts of complex numbers, which are pairs of float32."""
    return _part_of_pairs(x, 0)


def imag(x: V) -> V:
    """Return the imaginary parts of complex numbers."""
    return _part_of_pairs(x, 1)


def _part_of_pairs(x: V, number: int) -> V:
    node = x.node.in_memory()
    strides = tuple(2 * step for step in strides_of(x))
    return x.like(stored(FLOAT32, node.shape, node.storage, strides, 2 * node.offset + number))


def retyped(x: V, kind: ElementType) -> V:
    """Reinterpret the bits as elements of another type, as ``numpy.ndarray.view`` does.

    For a type of another size, the last axis must be contiguous, and its length changes.
    """
    node = x.node
    own = node.kind
    if kind is not own and BOOL in (kind, own):
        expected = f"{own.name}, the array's own, because a bool takes 32 bits on the GPU"
        raise InvalidType("view", "dtype", kind.numpy, expected, "astype() converts values.")
    if kind.bits == own.bits:
        node = node.in_memory()
        return x.like(stored(kind, node.shape, node.storage, node.strides, node.offset))
    if not node.shape:
        expected = f"a dtype of {own.bits // 8} bytes for an array without axes"
        raise InvalidType("view", "dtype", kind.numpy, expected, "Reshape it to (1,) first.")
    node = node.in_memory()
    if node.shape[-1] != 1 and strides_of(x)[-1] != 1 and checks.product(node.shape):
        expected = f"a dtype of {own.bits // 8} bytes, because the last axis is not contiguous"
        raise InvalidType("view", "dtype", kind.numpy, expected, "Copy the array first.")
    *lead, last = node.shape
    *steps, _ = strides_of(x)
    length, rest = divmod(last * own.bits, kind.bits)
    if rest:
        expected = f"a dtype whose size divides the {last * own.bits // 8} bytes of the last axis"
        raise InvalidType("view", "dtype", kind.numpy, expected)
    moved = [divmod(step * own.bits, kind.bits) for step in (*steps, node.offset)]
    if any(left for _, left in moved):
        expected = "a dtype whose size divides the strides and the offset of the array"
        raise InvalidType("view", "dtype", kind.numpy, expected, "Copy the array first.")
    *strides, offset = (step for step, _ in moved)
    shape = (*lead, length)
    known = strides_or_none(shape, (*strides, 1))
    return x.like(stored(kind, shape, node.storage, known, offset))


@lru_cache(maxsize=4096)
def strides_or_none(shape: Shape, strides: Shape) -> Shape | None:
    """Return strides, or None if the elements are packed.

    The stride of an axis of length 1 does not matter.
    """
    packed = contiguous_strides(shape)
    if strides == packed:
        return None
    same = 1 in shape and all(
        extent == 1 or own == step for extent, own, step in zip(shape, strides, packed, strict=True)
    )
    return None if same else strides


def permuted(x: V, axes: tuple[int, ...]) -> V:
    """Permute the axes."""
    x.node.in_memory()
    shape, strides = x.node.shape, strides_of(x)
    return view(x, tuple([shape[i] for i in axes]), tuple([strides[i] for i in axes]), 0)


def spread(x: V, shape: Shape) -> V:
    """Broadcast an array to a shape."""
    x.node.in_memory()
    return view(x, shape, broadcast_strides(x.node.shape, shape, x.node.strides), 0)


def reshaped(op: str, x: V, shape: Any, *, copy: bool | None = None) -> V:
    """Reshape an array. One length may be -1.

    If ``copy`` is False and the array cannot be a view, this raises InvalidArgument.
    """
    given = shape if checks.is_several(shape) else (shape,)
    extents = checks.dimensions(op, "shape", given, minimum=-1)
    size = checks.product(x.node.shape)
    if extents.count(-1) == 1:
        known = checks.product([extent for extent in extents if extent != -1])
        missing = size // known if known else 0
        extents = tuple(missing if extent == -1 else extent for extent in extents)
    if -1 in extents or checks.product(extents) != size:
        raise InvalidArgument(op, "shape", shape, f"a shape of {size} elements")
    if extents == x.node.shape:
        return x.same()
    node = x.node.in_memory()
    if node.strides is None or size == 0:
        return view(x, extents, contiguous_strides(extents), 0)
    strides = _strides_for(node.shape, node.strides, extents)
    if strides is not None:
        return view(x, extents, strides, 0)
    if copy is False:
        raise InvalidArgument(op, "copy", copy, "True or None, as this array must be copied")
    return view(packed(x), extents, contiguous_strides(extents), 0)


def _strides_for(old: Shape, strides: Shape, new: Shape) -> Shape | None:
    """Return the strides of the same elements in another shape, or None if there are none.

    This matches groups of axes with equal sizes. The old axes of a group must be contiguous.
    """
    axes = [(n, step) for n, step in zip(old, strides, strict=True) if n != 1]
    found: list[int] = []
    i = j = 0
    while i < len(axes) or j < len(new):
        if j < len(new) and new[j] == 1:
            found.append(0)
            j += 1
            continue
        if i == len(axes) or j == len(new):
            return None
        first = j
        a, b = axes[i][0], new[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                if axes[i - 1][1] != axes[i][1] * axes[i][0]:
                    return None
                a *= axes[i][0]
                i += 1
            else:
                b *= new[j]
                j += 1
        step = axes[i - 1][1]
        run = []
        for extent in reversed(new[first:j]):
            run.append(step)
            step *= extent
        found += reversed(run)
    return tuple(found)
