"""Assignment to a region of an array, in its memory.

An array and its views share memory, so all of them see the new elements. Other values in this
memory, such as those saved for a backward pass, keep their elements:

- Recorded operations that read the memory are computed first.
- A few small values move to new memory.
- Otherwise the array and its views move to a copy.

If the new elements depend on the array itself, a kernel writes a large region together with a copy
of the rest. The elements of a small region are computed first.
"""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.arrays.apply import copied
from browsergpu.arrays.indexing import gather
from browsergpu.arrays.indexing.gather import Region
from browsergpu.arrays.lazy import rebuild, region_write
from browsergpu.arrays.lazy.node import Node, room, stored
from browsergpu.arrays.lazy.rebuild import Frame
from browsergpu.arrays.lazy.trace import Trace, Tracer, is_recorded_here
from browsergpu.arrays.lazy.values import of_node, of_number
from browsergpu.arrays.numbers import words_of
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import other_values, siblings
from browsergpu.arrays.views.strided import spread
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import contiguous_strides
from browsergpu.engine.core.showing import Description
from browsergpu.engine.gpu import platform
from browsergpu.engine.kernels.fused.layout import Place
from browsergpu.engine.tensors.device_array import Storage

V = TypeVar("V", bound=Value)
_OP = "assign"
#: Smaller arrays are rebuilt if they are uncomputed or shared. The copy is fused with other
#: operations.
LEAST = 2**20
#: Values that move. For more of them, a copy of the whole array is faster.
_MOST_MOVED = 4


def stays(x: Value) -> bool:
    """Return whether an array must keep its memory, since views or a captured graph use it."""
    node: Node = NODE.__get__(x)
    if node.trace is not None:
        return False
    if node.view_group is not None and siblings(node):
        return True
    graphs = x.tracer.device.graphs
    return graphs is not None and graphs.keeps(node)


def replaced(x: V, part: Region, given: Any) -> V:
    """Return ``x`` with a region replaced by a number or an array.

    The array has the dtype of ``x`` and broadcasts to the region. The result is ``x`` itself if the
    region is written in place.
    """
    node = x.node
    size, whole = product(part.shape), product(node.shape)
    check_writable(x)
    if size == 0:
        return x
    if stays(x) and x.tracer.device.has_values:
        write(x, part, given)
        return x
    is_small = node.kind.device_bytes(whole) < LEAST
    is_lazy = is_small and (node.trace is not None or _is_seen(node))
    if size == whole or is_lazy or not x.tracer.device.has_values:
        return gather.replaced(x, part, given)
    return _written(x, part, given)


def write(x: Value, part: Region | None, given: Any) -> None:
    """Write a number or an array into a region of ``x``, or all of it, in place.

    Views of ``x`` and captured graphs see the change. The array has the dtype of ``x`` and
    broadcasts to the region. Raises InvalidArgument if elements of ``x`` overlap in memory.
    """
    kernels = x.tracer.kernels
    kernels.device.throttle(_OP)
    node = x.node.in_memory()
    check_writable(x)
    place = _place(node, part)
    shape, strides, _ = place
    if product(shape) == 0:
        return
    value: Node | None = None
    twin: Node | None = None
    if isinstance(given, Value):
        value = given.node
        is_checked = kernels.device.config.check_nan  # it checks all of the written array
        if value.shape != shape or is_checked or not is_recorded_here(value):
            value.in_memory()
        if value.trace is None and region_write.is_part(value, node.storage, place):
            return
        if value.trace is None and value.storage is node.storage:
            given = copied(given)
            value = given.node
        if _rebuild_group(x, place, value):
            return
        twin = twin_of(x, value)
    make_exclusive(x, place, value)
    # No other task can run from here on.
    node = x.node
    node.storage.written()
    target = stored(node.kind, shape, node.storage, strides, _place(node, part)[2])
    if value is None:
        values = of_number(shape, node.kind, words_of(given, node.kind))
    else:
        value = value if value.shape == shape else spread(given, shape).node
        values = of_node(value)
    if value is None or value.trace is None:
        kernels.device.recorder.dispatch(*region_write.command(kernels, values, target))
        return
    command = region_write.command(kernels, values, target, twin)
    _record(x, command, value, target if twin is None else twin)


def _place(node: Node, part: Region | None) -> Place:
    """Return the place of a region in memory."""
    if part is None:
        return node.shape, node.strides, node.offset
    shape, strides, offset = part.place(node.shape, node.strides)
    return shape, strides, node.offset + offset


def check_writable(x: Value, op: str = _OP, name: str = "array") -> None:
    """Raise InvalidArgument for a read-only view. The message names a function's argument."""
    node: Node = NODE.__get__(x)
    if node.is_read_only:
        told = f"a read-only view of shape {node.shape}"
        raise InvalidArgument(op, name, Description(told), "a writable array", "Call copy() first.")


def make_exclusive(x: Value, part: Place | None, value: Node | None) -> None:
    """Move all other values out of the memory of an array and its views.

    ``value`` is about to be written into ``part``, and may read this region.
    """
    tracer = x.tracer
    graphs = tracer.device.graphs
    while True:
        node = x.node
        if _has_computed(x, part, value):
            continue
        is_fixed = graphs is not None and graphs.fixes(node)
        known = [] if value is None else _arrays_of_unheld(value.trace)
        others = [user for user in other_values(node) if user not in known]
        if is_fixed:
            others = [user for user in others if user.is_held and graphs.can_move(user, node)]
        if not others:
            return
        moved = [product(user.shape) for user in others]
        is_much = len(moved) > _MOST_MOVED or 2 * sum(moved) > product(node.shape)
        if not is_fixed and (is_much or not all(user.is_held for user in others)):
            move_group(tracer, node)
            continue
        if is_fixed:
            graphs.move_out(tracer, others)
        else:
            move_out(tracer, others)


def move_out(tracer: Tracer, nodes: list[Node]) -> None:
    """Move values, with their views, to new memory."""
    for node in nodes:
        if node.view_group is not None and siblings(node):
            move_group(tracer, node)
        else:
            made = copied(Value(node, tracer)).node
            node.move(made.storage)


def move_group(tracer: Tracer, node: Node) -> None:
    """Move an array and its views to a copy of their memory."""
    before, device = node.storage, tracer.device
    nbytes = before.buffer.nbytes + 3 & ~3
    made = Storage(device, device.memory.get_buffer(_OP, before.buffer.nbytes))
    if node.storage is not before:  # another task has moved it
        return
    device.recorder.copy(before.buffer.id, 0, made.buffer.id, 0, nbytes)
    for user in [node, *siblings(node)]:
        user.move(made, user.strides, user.offset)


def is_own(x: Value) -> bool:
    """Return whether an array is packed in memory that only its views share.

    This computes and moves other values if possible.
    """
    return _is_free(x, None, None)


def _written(x: V, part: Region, given: Any) -> V:
    kernels, kind = x.tracer.kernels, x.node.kind
    kernels.device.throttle(_OP)
    node = x.node.in_memory()
    shape, strides, offset = part.place(node.shape, None)
    value: Node | None = None
    twin: Node | None = None
    if isinstance(given, Value):
        value = given.node
        is_checked = kernels.device.config.check_nan  # it checks all of the written array
        if value.shape != shape or is_checked or not is_recorded_here(value):
            value.in_memory()
        twin = twin_of(x, value)
        place = shape, strides, node.offset + offset
        framed = _rebuilt(x, part.frame, place, value)
        if framed is not None:
            return framed
        if value.trace is None and region_write.is_part(value, node.storage, place):
            return x
        own = x if _is_free(x, place, value) else copied(x)
        value = value if value.shape == shape else spread(given, shape).node
        values = of_node(value)
    else:
        values = of_number(shape, kind, words_of(given, kind))
        own = x if is_own(x) else copied(x)
    # No other task can run from here on.
    own.node.storage.written()
    target = stored(kind, shape, own.node.storage, strides, own.node.offset + offset)
    if value is None or value.trace is None:
        kernels.device.recorder.dispatch(*region_write.command(kernels, values, target))
        return own
    command = region_write.command(kernels, values, target, twin)
    _record(x, command, value, target if twin is None else twin)
    return own


def _record(x: Value, command: tuple[Any, ...], value: Node, target: Node) -> None:
    """Dispatch the kernel of a recorded value, which then lies at ``target``."""
    trace: Trace = value.trace
    trace.leave(value, target)
    try:
        x.tracer.device.recorder.dispatch(*command)
    finally:
        trace.tidy()


def _rebuilt(x: V, frame: Frame | None, part: Place, value: Node) -> V | None:
    """Rebuild ``x`` in the kernel of a value that replaces at least half of it.

    Returns None if this is impossible, or unnecessary because ``x`` is unshared and the value reads
    no other part of it.
    """
    node, trace = x.node, value.trace
    if (
        frame is None
        or not isinstance(trace, Trace)
        or node.strides is not None
        or 2 * product(value.shape) < product(node.shape)
        or len(trace.leaves) >= x.tracer.kernels.most_leaves
        or not (_is_seen(node) or _reads_elsewhere(trace, value, node.storage, part))
    ):
        return None
    made = room(x.tracer.device, _OP, node.kind, node.shape)
    if value.trace is not trace:  # another task has computed it
        return None
    values = of_node(value)
    computed = rebuild.part_of(values)
    if computed is None:
        return None
    command = rebuild.command(x.tracer.kernels, values, computed, node, frame, made)
    before = part[2] - node.offset
    _record(x, command, value, stored(node.kind, part[0], made.storage, part[1], before))
    return x.like(made)


def _rebuild_group(x: Value, part: Place, value: Node) -> bool:
    """Rebuild the memory of an array and its views in the kernel of a value.

    The value replaces at least half of it. Returns False and does nothing if this is impossible, or
    unnecessary because the value reads no other part of the memory.
    """
    node, trace, tracer = x.node, value.trace, x.tracer
    graphs = tracer.device.graphs
    storage, group = node.storage, [node, *siblings(node)]
    root = next((one for one in group if one.strides is None and one.offset == 0), None)
    if (
        root is None
        or not isinstance(trace, Trace)
        or value.shape != part[0]
        or not product(root.shape) <= 2 * product(value.shape) < 2 * product(root.shape)
        or root.kind.device_bytes(product(root.shape)) < storage.buffer.nbytes
        or len(trace.leaves) >= tracer.kernels.most_leaves
        or any(one.kind is not root.kind for one in group)
        or not _reads_elsewhere(trace, value, storage, part)
        or (graphs is not None and graphs.fixes(node))
    ):
        return False
    frame = _frame_in(root, part)
    if frame is None:
        return False
    # The group moves to the new memory, so recorded operations that read it are computed first.
    # Arrays that only recorded operations read stay in the old memory.
    moving = set(group)
    for other in tracer.all_traces():
        if other is not trace and not moving.isdisjoint(other.leaves.values()):
            other.evaluate()
    others = [one for one in trace.nodes if one.is_held and one is not value]
    if any(one in moving for one, _ in trace.arrays_of(others)):
        return False
    made = room(tracer.device, _OP, root.kind, root.shape)
    if value.trace is not trace or root.storage is not storage:  # another task has run
        return False
    values = of_node(value)
    computed = rebuild.part_of(values)
    if computed is None:
        return False
    command = rebuild.command(tracer.kernels, values, computed, root, frame, made)
    _record(x, command, value, stored(root.kind, part[0], made.storage, part[1], part[2]))
    for one in group:
        one.move(made.storage, one.strides, one.offset)
    return True


def _frame_in(root: Node, part: Place) -> Frame | None:
    """Return the first index and the count along each axis of a packed array for a region.

    Returns None if the region is not a contiguous range of each axis, in the same order.
    """
    shape, steps, offset = part
    whole = contiguous_strides(root.shape)
    own = contiguous_strides(shape) if steps is None else steps
    if len(shape) != len(root.shape):
        return None
    found = []
    for extent, step, count, by in zip(root.shape, whole, shape, own, strict=True):
        low, offset = divmod(offset, step) if step else (0, offset)
        if (count > 1 and by != step) or low + count > extent:
            return None
        found.append((low, count))
    return tuple(found)


def twin_of(x: Value, value: Node) -> Node | None:
    """Return new memory for an uncomputed value, so that it does not keep the whole array alive.

    Returns None for at least half of the array. The value can share its memory then.
    """
    if value.trace is None or 2 * product(value.shape) >= product(x.node.shape):
        return None
    if len(value.trace.leaves) >= x.tracer.kernels.most_leaves:  # no binding is left for the twin
        value.in_memory()
        return None
    return room(x.tracer.device, _OP, value.kind, value.shape)


def _is_seen(node: Node) -> bool:
    """Return whether other arrays share a value's memory."""
    return node.holders != 1 or any(user.is_held for user in _others(node))


def _is_free(x: Value, part: Place | None, value: Node | None) -> bool:
    """Return whether only ``x`` uses its memory, before ``value`` is written to ``part``.

    The value may read this region. This computes recorded operations that read the memory, and
    moves a few views that are smaller than half of ``x``.
    """
    node, graphs = x.node, x.tracer.device.graphs
    if node.strides is not None or not x.tracer.device.has_values:
        return False
    if stays(x):
        make_exclusive(x, part, value)
        return True
    block = None if graphs is None else graphs.open
    if block is not None and not block.may_write(x):
        return False
    while node.holders == 1:
        views = [product(user.shape) for user in _others(node) if user.is_held]
        if views and block is not None:
            return False  # a replay would also move them
        if len(views) > _MOST_MOVED or 2 * sum(views) > product(node.shape):
            return False
        if _has_computed(x, part, value):
            continue
        known = [] if value is None else _arrays_of_unheld(value.trace)
        others = [user for user in _others(node) if user not in known]
        if not all(user.is_held for user in others):
            return False  # an unheld value is being read
        if not others:
            return True
        if any(siblings(user) for user in others):
            return False  # these would have to move together
        for view in others:
            made = copied(Value(view, x.tracer))
            if platform.are_waiting():  # an operation that knows their place may be waiting
                return False
            view.move(made.node.storage)
    return False


def _others(node: Node) -> list[Node]:
    return [user for user in node.storage.users if user is not node]


def _arrays_of_unheld(trace: Trace | None) -> list[Node]:
    return [] if trace is None else [one for one in trace.leaves.values() if not one.is_held]


def _has_computed(x: Value, part: Place | None, value: Node | None) -> bool:
    """Evaluate a trace that reads the memory of ``x``. Returns whether there was one.

    A value that only reads the region that it is written into is left.
    """
    storage = x.node.storage
    for trace in x.tracer.all_traces():
        if not trace.reads(storage):
            continue
        if value is None or part is None or not _reads_part_alone(trace, value, storage, part):
            trace.evaluate()
            return True
    return False


def _reads_part_alone(trace: Trace, value: Node, storage: Storage, part: Place) -> bool:
    """Return whether only ``value`` reads some memory in a trace, and only within ``part``."""
    if value.trace is not trace:
        return False
    others = [node for node in trace.nodes if node.is_held and node is not value]
    return not (
        any(one.storage is storage for one, _ in trace.arrays_of(others))
        or _reads_elsewhere(trace, value, storage, part)
    )


def _reads_elsewhere(trace: Trace, value: Node, storage: Storage, part: Place) -> bool:
    """Return whether a value of a trace reads some memory outside of ``part``."""
    return any(
        one.storage is storage and (is_loaded or not region_write.is_part(one, storage, part))
        for one, is_loaded in trace.arrays_of([value])
    )
