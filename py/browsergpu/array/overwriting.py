"""Assignment to a part of an array, written where the array lies in memory.

Arrays behave as values, so this is only done where nobody else sees the memory. Otherwise, and
where the part is no small one, assignment makes a new array (``gathering.replaced``).
"""

from __future__ import annotations

from typing import Any

from browsergpu.array import views
from browsergpu.array.apply import array_of, packed
from browsergpu.array.gathering import Region
from browsergpu.array.value import Value
from browsergpu.core.checks import product
from browsergpu.core.shapes import Shape, contiguous_strides

_OP = "assign"
#: Bytes of an array of which a new one is as quick: it joins the kernel of what stands beside it.
_LEAST = 2**20
#: How many times as large as the part an array is at least.
_TIMES = 4


def is_own(x: Value) -> bool:
    """Whether nobody else sees an array's memory; what is recorded to read it is computed first."""
    node = x.node
    if node.window is not None or node.holders != 1:
        return False
    for window in list(x.tape.windows.values()):
        if window.reads(node.storage):
            window.evaluate()
    return node.storage.is_used_only_by(node)


def overwritten(x: Value, part: Region, value: Any) -> bool:
    """Writes a number, or an array of x's dtype that broadcasts to the part's shape, into a part of
    x where it lies. False where that cannot be, or a new array is as quick: then nothing has been
    written."""
    node = x.node
    size, whole = product(part.shape), product(node.shape)
    element = node.kind.device_bytes(1)
    first = _first(node.shape, part)
    if whole * element < _LEAST or size * _TIMES > whole or not size or first is None:
        return False
    node.in_memory()
    if node.strides is not None:
        return False
    target_at, nbytes = (node.offset + first) * element, size * element
    if target_at % 4 or nbytes % 4:
        return False
    new = array_of(_OP, "value", value, x)
    source = packed(views.spread(new, part.shape)).node
    if source.storage is node.storage or not is_own(x):
        return False
    ids = source.storage.buffer.id, node.storage.buffer.id
    x.tape.device.recorder.copy(ids[0], 0, ids[1], target_at, nbytes)
    return True


def _first(shape: Shape, part: Region) -> int | None:
    """The place of the first element of a part that lies in one piece; None of others."""
    first, is_one = 0, True  # so far one index of each axis
    for extent, step, (low, by, count, is_turned, _) in zip(
        shape, contiguous_strides(shape), part.axes, strict=True
    ):
        if not is_one and count != extent:
            return None
        if count > 1:
            if by != 1 or is_turned:
                return None
            is_one = False
        first += low * step
    return first
