"""Assignment to elements at indices in arrays.

If an index occurs several times, the last value counts, as in NumPy. No two threads write different
values to an element: kernels find the largest position of each index first, and write its value.
"""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.arrays.apply import apply, binary, cast_to, copied, resolve
from browsergpu.arrays.indexing.assignment import is_own
from browsergpu.arrays.indexing.gather import by_arrays
from browsergpu.arrays.lazy import scattered_write
from browsergpu.arrays.lazy.node import Node, room, stored
from browsergpu.arrays.lazy.trace import Trace
from browsergpu.arrays.lazy.values import Values, beside, of_node
from browsergpu.arrays.numbers import words_of
from browsergpu.arrays.value import Value
from browsergpu.arrays.views import strided
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import UINT32

V = TypeVar("V", bound=Value)
_OP = "assign"
#: Arrays with at least this many times the number of assigned elements are written in place. Each
#: random write costs more than an element of a pass over the array.
_FEW = 16


def stand_in(x: V, rank: int | None = None) -> V:
    """Return a packed array with the shape of ``x``, or of its first ``rank`` axes.

    It has no contents. It serves to compute flat indices while ``x`` is uncomputed.
    """
    node = room(x.tracer.device, _OP, x.node.kind, ())
    return x.like(stored(x.node.kind, x.node.shape[:rank], node.storage))


def replaced(x: V, places: V, value: Any) -> V:
    """Return ``x`` with elements at flat indices replaced.

    ``value`` is a number, or an array with the dtype of ``x`` and the shape of ``places``. The
    result is ``x`` itself if nothing else shares its memory, or another array.
    """
    count, n = product(places.node.shape), product(x.node.shape)
    if count == 0:
        return x
    x.tracer.device.throttle(_OP)
    if not isinstance(value, Value):
        return _with_number(x, places, value)
    return _with_few(x, places, value) if count * _FEW <= n else _with_many(x, places, value)


def _with_number(x: V, places: V, number: Any) -> V:
    kind = x.node.kind
    words = words_of(number, kind)
    own = _own(x)
    values, at = beside(of_node(places.node), kind, words)
    scattered_write.scatter(x.tracer.kernels, values, (at,), own.node)
    return own


def _with_few(x: V, places: V, value: Value) -> V:
    """Write only the assigned elements, and only initialize the owners that these need."""
    tracer, shape = x.tracer, places.node.shape
    for one in (places, value):
        one.node.in_memory()
    owners = room(tracer.device, _OP, UINT32, (product(x.node.shape),))
    ours = of_node(places.node)
    nobody, at = beside(ours, UINT32, (0,))
    scattered_write.scatter(tracer.kernels, nobody, (at,), owners)
    scattered_write.claim(tracer.kernels, ours, owners)
    own = _own(x)
    trace = Trace(tracer, shape)
    place = trace.place_of(places.node)
    pair = UINT32, UINT32
    last = trace.number(UINT32, (product(x.node.shape) - 1,))
    known = trace.add(resolve("minimum", pair), place, last).place  # NOWHERE too
    owner = trace.add_load(UINT32, trace.place_to_load(owners), known).place
    position = trace.add(
        resolve("add", pair), trace.add_place(UINT32).place, trace.number(UINT32, (1,))
    ).place
    is_last = trace.add(resolve("equal", pair), owner, position).place
    values = Values(shape, trace.code, trace.leaves, trace.words, place)
    scattered_write.scatter(tracer.kernels, values, (trace.place_of(value.node), is_last), own.node)
    return own


def _with_many(x: V, places: V, value: Value) -> V:
    """Compute all elements: each finds its value."""
    device, shape = x.tracer.device, x.node.shape
    node = room(device, _OP, UINT32, shape)
    device.recorder.clear(node.storage.buffer.id, 0, node.storage.buffer.capacity)
    owners = x.like(node)
    scattered_write.claim(x.tracer.kernels, of_node(places.node), node)
    flat = (product(places.node.shape),)
    values = value if value.node.shape == flat else strided.reshaped(_OP, value, flat)
    new = by_arrays(values, [0], [binary("subtract", owners, 1)], False)
    result = apply("where", x, binary("not_equal", owners, 0), new, x)
    return cast_to(_OP, result, x.node.kind, copy=False)


def _own(x: V) -> V:
    """Return ``x`` or a copy, packed from the start of unshared memory.

    No other task may run before the memory is written.
    """
    node: Node = x.node.in_memory()
    own = x if node.offset == 0 and is_own(x) else copied(x)
    own.node.storage.written()
    return own
