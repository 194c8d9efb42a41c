"""What was asked for and not computed yet.

Each operation on arrays appends a whole number to a tracer, one tracer (a Trace) for each shape of
results. A Trace is evaluated when a value of it is needed elsewhere, or when it is full: then the
values that somebody still holds are computed by one kernel, or by as few as the device's limit of
buffers allows; the others get no memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakValueDictionary

from browsergpu.arrays.lazy import fusion
from browsergpu.arrays.lazy.extract import pruned
from browsergpu.arrays.lazy.node import Node, PermanentStorage, stored
from browsergpu.core import blocks
from browsergpu.core.blocks import Block
from browsergpu.core.checks import product
from browsergpu.core.element_types import UINT32, ElementType
from browsergpu.core.shapes import Shape
from browsergpu.core.showing import Shown
from browsergpu.core.turns import exclusive, new_lock
from browsergpu.device.device import Device
from browsergpu.kernels.fused.operations import Overload
from browsergpu.kernels.fused.source import (
    FIRST_BIT,
    FIRST_OVERLOAD,
    PLACE,
    SECOND_BIT,
    is_loaded,
    leaf,
    load,
    loaded,
    needed,
    number,
    operation,
)
from browsergpu.tensors.device_array import Storage

#: Entries of a Trace: operations, arrays and numbers. About sixty operations.
MOST_ENTRIES = 128
#: Traces that stay unevaluated beside each other. What they hold is bounded by that.
MOST_TRACES = 8
#: Bytes that arrays which only a Trace still needs may have before it is evaluated.
MOST_HELD = 256 * 2**20


class Trace(Shown):
    """The operations whose results have one shape."""

    __slots__ = (
        "_loaded",
        "_read",
        "_reduced",
        "_room",
        "block",
        "code",
        "free_below",
        "held",
        "leaves",
        "nodes",
        "shape",
        "tracer",
        "words",
    )

    def __init__(self, tracer: Tracer, shape: Shape) -> None:
        self.tracer = tracer
        self.shape = shape
        self.code: list[int] = []
        self.leaves: dict[int, Node] = {}  # arrays in memory
        self._read: dict[Node, int] = {}  # their places, where they are read
        self._loaded: dict[Node, int] = {}  # and where elements of them are loaded
        self._reduced: set[int] = set()  # the places whose values were reduced without memory
        self.nodes: list[Node] = []
        self.words: dict[int, tuple[int, ...]] = {}  # of numbers
        self.held = 0  # bytes of the arrays
        graph = tracer.captured
        #: The block of ``capture()`` whose replays compute its values.
        self.block = graph.block if graph is not None and graph.is_here else None
        # While a graph is captured, its tracer is asked for a Trace whenever something is recorded.
        self._room = MOST_ENTRIES - 2 if graph is None else -1
        #: Below so many entries there is room for an operation on values that are here already.
        self.free_below = self._room

    def place_of(self, node: Node) -> int:
        """Return the place of a value in this trace. Evaluate a value of another trace."""
        if node.trace is self:
            return node.place
        place = self._read.get(node)
        if place is None:
            place = self._read[node] = self._leaf(node, leaf(node.kind))
        return place

    def place_to_load(self, node: Node) -> int:
        """Where a value is on the tracer whose elements can be loaded."""
        place = self._loaded.get(node)
        if place is None:
            place = self._loaded[node] = self._leaf(node, loaded(node.kind))
        return place

    def _leaf(self, node: Node, entry: int) -> int:
        storage = node.in_memory().storage
        place = len(self.code)
        self.code.append(entry)
        self.leaves[place] = node
        self.held += storage.buffer.capacity
        if self.held > MOST_HELD:
            self.free_below = -1  # whether it is still held by others is for has_room
        return place

    def number(self, kind: ElementType, words: tuple[int, ...]) -> int:
        """The place of a new number."""
        place = len(self.code)
        self.code.append(number(kind))
        self.words[place] = words
        return place

    # These three are called for each operation that is recorded: every call that they make counts.

    def add_one(self, overload: Overload, x: Node) -> Node:
        """The value of an operation on a value."""
        place = x.place if x.trace is self else self.place_of(x)
        code = self.code
        node = Node(overload.result, self.shape, self, len(code))
        code.append(FIRST_OVERLOAD + overload.number | place << FIRST_BIT)
        self.nodes.append(node)
        return node

    def add_two(self, overload: Overload, x: Node, y: Node) -> Node:
        """The value of an operation on two values."""
        first = x.place if x.trace is self else self.place_of(x)
        second = y.place if y.trace is self else self.place_of(y)
        code = self.code
        node = Node(overload.result, self.shape, self, len(code))
        code.append(FIRST_OVERLOAD + overload.number | first << FIRST_BIT | second << SECOND_BIT)
        self.nodes.append(node)
        return node

    def add_number(
        self, overload: Overload, entry: int, words: tuple[int, ...], x: Node, is_left: bool
    ) -> Node:
        """The value of an operation on a value and a new number of that entry, or, not ``is_left``,
        the other mode round."""
        place = x.place if x.trace is self else self.place_of(x)
        code = self.code
        at = len(code)
        self.words[at] = words
        node = Node(overload.result, self.shape, self, at + 1)
        operands = place << FIRST_BIT | at << SECOND_BIT
        if not is_left:
            operands = at << FIRST_BIT | place << SECOND_BIT
        code += (entry, FIRST_OVERLOAD + overload.number | operands)
        self.nodes.append(node)
        return node

    def add(self, overload: Overload, *places: int) -> Node:
        """The value of an operation on values at places of the tracer."""
        return self._added(overload.result, operation(overload.number, *places))

    def add_load(self, kind: ElementType, array: int, at: int) -> Node:
        """The elements of a loaded array at the places that a value says."""
        return self._added(kind, load(kind, array, at))

    def add_value(self, kind: ElementType, place: int) -> Node:
        """The value at a place, as a result."""
        node = Node(kind, self.shape, self, place)
        self.nodes.append(node)
        return node

    def add_place(self, kind: ElementType) -> Node:
        """Each element's own place in the result, counted in its order: a uint32."""
        return self._added(kind, PLACE)

    def _added(self, kind: ElementType, entry: int) -> Node:
        node = Node(kind, self.shape, self, len(self.code))
        self.code.append(entry)
        self.nodes.append(node)
        return node

    def reduces(self, place: int) -> bool:
        """Whether a value may be computed within its reduction: once, as the same work done again
        costs more than memory does."""
        if place in self._reduced or not self.is_here:
            return False
        self._reduced.add(place)
        return True

    @property
    def is_here(self) -> bool:
        """Whether what is recorded here and now may be computed together with its values."""
        return self.block is blocks.here()

    def has_room(self, operands: int, entries: int) -> bool:
        """Whether so many more arrays and entries still fit."""
        return (
            len(self.code) + entries <= MOST_ENTRIES
            and len(self.leaves) + operands <= self.tracer.kernels.most_leaves
            and (self.held <= MOST_HELD or self._held_alone() <= MOST_HELD)
        )

    def reads(self, storage: Storage) -> bool:
        """Whether a value of it is computed from that memory."""
        return any(node.storage is storage for node in self.leaves.values())

    def arrays_of(self, wanted: Iterable[Node]) -> list[tuple[Node, bool]]:
        """The arrays that some of its values are computed from, and whether elements of them are
        loaded from there."""
        kept = needed(self.code, [node.place for node in wanted])
        return [(self.leaves[at], is_loaded(self.code[at])) for at in kept if at in self.leaves]

    def leave(self, node: Node, target: Node) -> None:
        """Says that one of its values is in memory, where another one is."""
        node.put(target.storage, target.strides, target.offset)
        node.trace = None
        self.nodes.remove(node)

    def tidy(self) -> None:
        """Lets go of what nobody needs any more, now that a value has left it."""
        if any(node.is_held and node.trace is self for node in self.nodes):
            self.forget()
        else:
            self._close()

    def _held_alone(self) -> int:
        """Bytes of the arrays that nobody else needs."""
        return sum(
            node.storage.buffer.capacity for node in self.leaves.values() if not node.is_held
        )

    def forget(self) -> bool:
        """Leaves out what nobody holds any more. False, and nothing is done, where half of the
        entries that fit would stay, or more: then it is time to evaluate it."""
        held = [node for node in self.nodes if node.is_held]
        places = tuple([node.place for node in held])
        kept, new, code = pruned(tuple(self.code), places)
        if 2 * len(kept) >= MOST_ENTRIES:
            return False
        self.code = list(code)
        self.leaves = {new[at]: leaf for at, leaf in self.leaves.items() if at in new}
        self.words = {new[at]: words for at, words in self.words.items() if at in new}
        self._read = {node: new[at] for node, at in self._read.items() if at in new}
        self._loaded = {node: new[at] for node, at in self._loaded.items() if at in new}
        self._reduced = {new[at] for at in self._reduced if at in new}
        for node in self.nodes:
            node.trace = None
        for node in held:
            node.trace, node.place = self, new[node.place]
        self.nodes = held
        self.held = sum(node.storage.buffer.capacity for node in self.leaves.values())
        self.free_below = self._room if self.held <= MOST_HELD else -1
        return True

    def fits(self) -> bool:
        """Whether buffers can have what somebody holds of it. Values of more elements wait until
        they are reduced."""
        largest, n = self.tracer.device.largest_buffer, product(self.shape)
        return all(node.kind.device_bytes(n) <= largest for node in self.nodes if node.is_held)

    def evaluate(self) -> None:
        """Computes what somebody holds of it. Raises OutOfMemory where there is no room; the values
        are then still to be computed."""
        if self.is_here:
            self._evaluate()
        else:  # another task needs a value, which each replay computes, or none
            with blocks.within(self.block):
                self._evaluate()

    def _evaluate(self) -> None:
        self.tracer.device.keep_pace("array")
        memory = self._memory()
        try:
            if memory:
                fusion.run(
                    self.tracer.kernels, self.shape, self.code, self.leaves, self.words, memory
                )
        finally:
            if not any(node.trace for node in memory):  # they are in memory
                self._close()

    def _memory(self) -> dict[Node, Storage]:
        """Memory for what somebody holds of it. While that is asked for another task may evaluate
        it, or record more: what counts is what is wanted in the end."""
        made: dict[Node, Storage] = {}
        kernels, n = self.tracer.kernels, product(self.shape)
        try:
            while True:
                nodes, count = self.nodes, len(self.nodes)
                # Most values have one array: its reference is asked here, without a call.
                for node in [
                    node
                    for node in nodes
                    if node.trace is self
                    and (refs := node.refs)
                    and (refs[0]() is not None or (len(refs) > 1 and node.is_held))
                ]:
                    if node not in made:
                        entry = self.code[node.place]
                        made[node] = fusion.room(kernels, n, entry, node.kind)
                for node in [node for node in made if node.trace is not self]:
                    made.pop(node).release()
                if self.nodes is nodes and len(nodes) == count:
                    return made
        except BaseException:
            for storage in made.values():
                storage.release()
            raise

    def _close(self) -> None:
        for node in self.nodes:
            node.trace = None
        self.tracer.forget(self)


class Tracer(Shown):
    """The Traces of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.kernels = fusion.Kernels(device)
        self._traces: dict[Shape, Trace] = {}
        self._faults: Node | None = None

    @property
    def faults(self) -> Node:
        """What kernels note indices outside in, as an array that they load."""
        if self._faults is None:
            memory: Any = PermanentStorage(self.device.faults.buffer)
            self._faults = stored(UINT32, (4,), memory)
        return self._faults

    @property
    def captured(self) -> Any:
        """The graph of this tracer that any task is capturing, or None."""
        graphs = self.device.graphs
        graph = None if graphs is None else graphs.begun
        return graph if graph is not None and graph.tracer is self else None

    @property
    def block(self) -> Block | None:
        """The block of ``capture()`` that what is recorded here and now is part of."""
        graph = self.captured
        return graph.block if graph is not None and graph.is_here else None

    @property
    def traces(self) -> dict[Shape, Trace]:
        """The Traces that operations are recorded in here and now: a graph has its own."""
        if self.device.graphs is None:
            return self._traces
        graph = self.captured
        return graph.traces if graph is not None and graph.is_here else self._traces

    def all_traces(self) -> list[Trace]:
        """The Traces of all tasks."""
        graph = self.captured
        own = [] if graph is None else graph.traces.values()
        return [*self._traces.values(), *own]

    def forget(self, trace: Trace) -> None:
        """Lets go of a Trace of which nothing is to be computed any more."""
        shape = trace.shape
        if self._traces.get(shape) is trace:
            del self._traces[shape]
            return
        graph = self.captured
        if graph is not None and graph.traces.get(shape) is trace:
            del graph.traces[shape]

    def trace(self, shape: Shape, operands: int, entries: int = 0) -> Trace:
        """Where to put operations whose results have a shape: of so many arrays and numbers, and as
        many entries, or one more than these."""
        traces = self.traces
        trace = traces.get(shape)
        if trace is not None:
            entries = entries or operands + 1
            if trace.has_room(operands, entries):
                return trace
            if trace.forget() and trace.has_room(operands, entries):
                return trace
            trace.evaluate()
        while len(traces) >= MOST_TRACES:
            oldest = next((one for one in traces.values() if one.fits()), None)
            if oldest is None:
                break
            oldest.evaluate()
        trace = traces[shape] = Trace(self, shape)
        return trace

    @exclusive
    def evaluate(self) -> None:
        """Computes all that somebody holds, of what was recorded here: in a block, or outside."""
        for trace in list(self.traces.values()):
            trace.evaluate()


def is_recorded_here(node: Node) -> bool:
    """Whether a value is still to be computed, and may be together with what is recorded now."""
    return isinstance(node.trace, Trace) and node.trace.is_here


_tracers: WeakValueDictionary[int, Tracer] = WeakValueDictionary()
_making = new_lock()


def tracer_of(device: Device) -> Tracer:
    """The device's tracer; a new one where nobody holds it."""
    with _making:
        tracer = _tracers.get(id(device))
        if tracer is None or tracer.device is not device:
            tracer = _tracers[id(device)] = Tracer(device)
        return tracer
