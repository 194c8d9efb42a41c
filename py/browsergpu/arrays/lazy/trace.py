"""Traces: operations that are recorded and not computed yet.

Each operation on arrays appends an encoded operation to the trace for its result's shape. A trace
is evaluated when a value is needed elsewhere, or when the trace is full. One kernel then computes
all values that are still held, or several kernels if the device limits the buffers of one. Other
values get no memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from browsergpu.arrays.lazy import fusion, settling
from browsergpu.arrays.lazy.element_reads import ElementReads
from browsergpu.arrays.lazy.extract import pruned
from browsergpu.arrays.lazy.node import Node, PermanentStorage, stored
from browsergpu.arrays.lazy.products import Kernel, Product
from browsergpu.engine.core import blocks
from browsergpu.engine.core.blocks import Block
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import UINT32, ElementType
from browsergpu.engine.core.places import Line, running
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import exclusive, new_lock
from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.fused.operations import Overload
from browsergpu.engine.kernels.fused.source import (
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
from browsergpu.engine.tensors.device_array import Storage

#: Operations, arrays and numbers in a trace. Typical traces hold about 60 operations.
MOST_ENTRIES = 128
#: Unevaluated traces at a time. This bounds the memory that they hold.
MOST_TRACES = 8
#: Bytes of arrays that only one trace holds, before it is evaluated.
MOST_HELD = 256 * 2**20


class Trace(Shown):
    """The recorded operations whose results have one shape."""

    __slots__ = (
        "_loaded",
        "_reduced",
        "_room",
        "block",
        "code",
        "free_below",
        "held",
        "is_optimized",
        "leaves",
        "lines",
        "nodes",
        "read",
        "shape",
        "tracer",
        "words",
    )

    def __init__(self, tracer: Tracer, shape: Shape) -> None:
        self.tracer = tracer
        self.shape = shape
        self.code: list[int] = []
        self.leaves: dict[int, Node] = {}  # arrays in memory, by place
        self.read: dict[Node, int] = {}  # places of arrays that are read in order
        self._loaded: dict[Node, int] = {}  # places of arrays that are read by index
        self._reduced: set[int] = set()  # places of values that were reduced without memory
        self.nodes: list[Node] = []
        #: The user's lines of the entries, by the first place, if a profile needs them.
        self.lines: dict[int, tuple[Line, ...]] = {}
        self.words: dict[int, tuple[int, ...]] = {}  # words of the numbers, by place
        self.held = 0  # bytes of the arrays
        graphs = tracer.device.graphs
        graph: Any = None if graphs is None or graphs.begun is None else tracer.captured
        #: The block of ``capture()`` whose replays compute the values.
        self.block = graph.block if graph is not None and graph.is_here else None
        #: Whether it may read products that are not dispatched yet, and merges equal values.
        self.is_optimized = self.block is not None and graph.optimize
        # During a capture or a profile, each operation must look its trace up.
        self._room = -1 if tracer.needs_lines else MOST_ENTRIES - 2
        #: With at most this many entries, an operation on values of this trace fits without further
        #: checks.
        self.free_below = self._room

    def place_of(self, node: Node) -> int:
        """Return the place of a value in this trace. Evaluate a value of another trace."""
        if node.trace is self:
            return node.place
        place = self.read.get(node)
        if place is None:
            place = self.read[node] = self._leaf(node, leaf(node.kind))
        return place

    def place_to_load(self, node: Node) -> int:
        """Return the place of an array whose elements are read by index."""
        place = self._loaded.get(node)
        if place is None:
            place = self._loaded[node] = self._leaf(node, loaded(node.kind))
        return place

    def _leaf(self, node: Node, entry: int) -> int:
        if node.trace is not None and not self._waits_for(node, entry):
            node.in_memory()
        place = len(self.code)
        self.code.append(entry)
        self.leaves[place] = node
        self.held += node.storage.buffer.capacity
        if self.held > MOST_HELD:
            self.free_below = -1  # has_room() checks whether others hold the arrays
        return place

    def _waits_for(self, node: Node, entry: int) -> bool:
        """Return whether an array can be a product that is dispatched when the trace is settled."""
        product = node.trace
        return (
            self.is_optimized
            and isinstance(product, Product)
            and product.block is self.block
            and node.shape == self.shape
            and not is_loaded(entry)
        )

    def settle(self, *places: int) -> None:
        """Dispatch the products that the values at ``places`` depend on.

        Afterwards the arrays that these values read are in memory. Raises OutOfMemory if there is
        none for temporaries.
        """
        if self.is_optimized:
            settling.settle(self, places)

    def take(self, place: int, node: Node) -> None:
        """Replace the value at ``place`` by an array in memory."""
        self.code[place] = leaf(node.kind)
        self.leaves[place] = node
        self.read[node] = place

    def number(self, kind: ElementType, words: tuple[int, ...]) -> int:
        """Append a number and return its place."""
        place = len(self.code)
        self.code.append(number(kind))
        self.words[place] = words
        return place

    # Every operation calls one of the next three methods, so each avoids calls.

    def add_one(self, overload: Overload, x: Node) -> Node:
        """Append an operation on one value."""
        place = x.place if x.trace is self else self.place_of(x)
        code = self.code
        node = Node(overload.result, self.shape, self, len(code))
        code.append(FIRST_OVERLOAD + overload.number | place << FIRST_BIT)
        self.nodes.append(node)
        return node

    def add_two(self, overload: Overload, x: Node, y: Node) -> Node:
        """Append an operation on two values."""
        read = self.read
        first = x.place if x.trace is self else read[x] if x in read else self.place_of(x)
        second = y.place if y.trace is self else read[y] if y in read else self.place_of(y)
        code = self.code
        node = Node(overload.result, self.shape, self, len(code))
        code.append(FIRST_OVERLOAD + overload.number | first << FIRST_BIT | second << SECOND_BIT)
        self.nodes.append(node)
        return node

    def add_number(
        self, overload: Overload, entry: int, words: tuple[int, ...], x: Node, is_left: bool
    ) -> Node:
        """Append an operation on a value and a number.

        ``entry`` encodes the number. The value is the left operand if ``is_left``, else the right
        one.
        """
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
        """Append an operation on values at ``places``."""
        return self._added(overload.result, operation(overload.number, *places))

    def add_load(self, kind: ElementType, array: int, at: int) -> Node:
        """Append a load of array elements at the indices of another value."""
        return self._added(kind, load(kind, array, at))

    def add_value(self, kind: ElementType, place: int) -> Node:
        """Return the value at ``place`` as a node."""
        node = Node(kind, self.shape, self, place)
        self.nodes.append(node)
        return node

    def add_place(self, kind: ElementType) -> Node:
        """Append each element's flat index in the result, a uint32."""
        return self._added(kind, PLACE)

    def _added(self, kind: ElementType, entry: int) -> Node:
        node = Node(kind, self.shape, self, len(self.code))
        self.code.append(entry)
        self.nodes.append(node)
        return node

    def reduces(self, place: int) -> bool:
        """Return whether a reduction may compute the value in its own kernel.

        This holds once. Recomputing a value costs more than storing it.
        """
        if place in self._reduced or not self.is_here:
            return False
        self._reduced.add(place)
        return True

    @property
    def is_here(self) -> bool:
        """Whether operations that are recorded now may be computed with this trace."""
        return self.block is blocks.here()

    def has_room(self, operands: int, entries: int) -> bool:
        """Return whether ``operands`` more arrays and ``entries`` more entries fit."""
        return (
            len(self.code) + entries <= MOST_ENTRIES
            and len(self.leaves) + operands <= self.tracer.kernels.most_leaves
            and (self.held <= MOST_HELD or self._held_alone() <= MOST_HELD)
        )

    def reads(self, storage: Storage) -> bool:
        """Return whether any value depends on ``storage``."""
        return any(node.storage is storage for node in self.leaves.values())

    def arrays_of(self, wanted: Iterable[Node]) -> list[tuple[Node, bool]]:
        """Return the arrays that some values depend on, and whether each is read by index."""
        kept = needed(self.code, [node.place for node in wanted])
        return [(self.leaves[at], is_loaded(self.code[at])) for at in kept if at in self.leaves]

    def leave(self, node: Node, target: Node) -> None:
        """Move a value out of the trace: its memory is that of ``target``."""
        node.put(target.storage, target.strides, target.offset)
        node.trace = None
        self.nodes.remove(node)

    def tidy(self) -> None:
        """Drop unneeded entries after a value has left the trace."""
        if any(node.is_held and node.trace is self for node in self.nodes):
            self.forget()
        else:
            self._close()

    def _held_alone(self) -> int:
        """Return the bytes of arrays that only this trace holds."""
        return sum(
            node.storage.buffer.capacity for node in self.leaves.values() if not node.is_held
        )

    def forget(self) -> bool:
        """Drop the entries that no held value depends on.

        Returns False and does nothing if at least half of MOST_ENTRIES would remain. The trace
        should be evaluated then.
        """
        held = [node for node in self.nodes if node.is_held]
        places = tuple([node.place for node in held])
        kept, new, code = pruned(tuple(self.code), places)
        if 2 * len(kept) >= MOST_ENTRIES:
            return False
        self.lines = {new[at]: own for at, own in self._lines_of_entries().items() if at in new}
        self.code = list(code)
        self.leaves = {new[at]: leaf for at, leaf in self.leaves.items() if at in new}
        self.words = {new[at]: words for at, words in self.words.items() if at in new}
        self.read = {node: new[at] for node, at in self.read.items() if at in new}
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
        """Return whether each held value fits in a buffer.

        Larger values wait until they are reduced.
        """
        largest, n = self.tracer.device.largest_buffer, product(self.shape)
        return all(node.kind.device_bytes(n) <= largest for node in self.nodes if node.is_held)

    def evaluate(self) -> None:
        """Compute the held values.

        Raises OutOfMemory if there is no memory. The values then remain uncomputed.
        """
        if self.block is blocks.here():
            self._evaluate()
        else:  # another task records for a replay, or for none
            with blocks.within(self.block):
                self._evaluate()

    def _evaluate(self) -> None:
        device = self.tracer.device
        if device.recorder.is_ahead:
            device.throttle("array")
        memory, originals = self._memory()
        try:
            if memory or originals:
                fusion.run(
                    self.tracer.kernels,
                    self.shape,
                    self.code,
                    self.leaves,
                    self.words,
                    memory,
                    originals,
                    self._lines_of_entries() if self.tracer.needs_lines else None,
                )
        finally:
            if originals:
                self.tracer.captured.overwrote(originals)
            for node in (*memory, *originals):
                if node.trace:
                    break
            else:  # all values are in memory
                self._close()

    def _memory(self) -> tuple[dict[Node, Storage], dict[Node, Storage]]:
        """Allocate memory for the held values, except those that go to their original buffers.

        Meanwhile another task may evaluate the trace or record more. The loop ends once nothing has
        changed.
        """
        made: dict[Node, Storage] = {}
        graph: Any = None if self.block is None else self.tracer.captured
        kernels, n = self.tracer.kernels, product(self.shape)
        try:
            while True:
                if self.is_optimized:
                    self.settle(*[node.place for node in self.nodes if node.is_held])
                nodes, count = self.nodes, len(self.nodes)
                # Most values have one array, so its reference is checked without a call.
                wanted = [
                    node
                    for node in nodes
                    if node.trace is self
                    and (refs := node.refs)
                    and (refs[0]() is not None or (len(refs) > 1 and node.is_held))
                ]
                originals = {} if graph is None else graph.overwritten(self, wanted)
                for node in wanted:
                    if node not in made and node not in originals:
                        entry = self.code[node.place]
                        made[node] = fusion.room(kernels, n, entry, node.kind)
                for node in [node for node in made if node.trace is not self or node in originals]:
                    made.pop(node).release()
                if (
                    self.nodes is nodes
                    and len(nodes) == count
                    and (not originals or originals == graph.overwritten(self, wanted))
                ):
                    return made, originals
        except BaseException:
            for storage in made.values():
                storage.release()
            raise

    def _lines_of_entries(self) -> dict[int, tuple[Line, ...]]:
        """Return the user's lines of each entry."""
        found: dict[int, tuple[Line, ...]] = {}
        if self.lines:
            own: tuple[Line, ...] = ()
            for place in range(len(self.code)):
                own = found[place] = self.lines.get(place, own)
        return found

    def _close(self) -> None:
        for node in self.nodes:
            node.trace = None
        self.tracer.forget(self)


class Tracer(Shown):
    """The traces of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.kernels = fusion.Kernels(device)
        self.element_reads = ElementReads()
        self._traces: dict[Shape, Trace] = {}
        self._faults: Node | None = None

    @property
    def faults(self) -> Node:
        """The buffer in which kernels report indices out of bounds, as an array that they load."""
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
    def needs_lines(self) -> bool:
        """Whether a profile or a replay of a captured graph may need the user's lines."""
        graphs = self.device.graphs
        if graphs is not None and graphs.begun is not None and self.captured is not None:
            return True
        return self.device.recorder.is_profiled

    def start_lines(self) -> None:
        """Note the lines of all operations from now on, since a profile has started."""
        for trace in self._traces.values():
            trace.free_below = trace._room = -1

    @property
    def block(self) -> Block | None:
        """The block of ``capture()`` that the current task records in, or None."""
        graph = self.captured
        return graph.block if graph is not None and graph.is_here else None

    @property
    def traces(self) -> dict[Shape, Trace]:
        """The traces that the current task records in. A graph has its own."""
        if self.device.graphs is None:
            return self._traces
        graph = self.captured
        return graph.traces if graph is not None and graph.is_here else self._traces

    def all_traces(self) -> list[Any]:
        """Return the traces of all tasks, and the products that are not dispatched."""
        graph = self.captured
        own = [] if graph is None else [*graph.traces.values(), *graph.products.values()]
        return [*self._traces.values(), *own]

    @property
    def optimized(self) -> Any:
        """The graph that the current task captures with deferred products, or None."""
        graphs = self.device.graphs
        if graphs is None or graphs.begun is None:  # every product asks
            return None
        graph = self.captured
        return graph if graph is not None and graph.is_here and graph.optimize else None

    def deferred(
        self, graph: Any, node: Node, kernel: Kernel, operands: Sequence[Node], *key: Hashable
    ) -> Node:
        """Record a product into memory, which is dispatched when needed. Return its value.

        An equal product that waits has the same value.

        Parameters
        ----------
        graph
            :attr:`optimized`.
        node
            The result: memory without contents.
        kernel
            How to dispatch the product.
        operands
            Values in memory that the product reads.
        key
            Tells products of the same operands apart.
        """
        whole = (kernel.op, *map(id, operands), *key)
        known = graph.products.get(whole)
        waiting = None if known is None else known.node
        if waiting is not None:
            return waiting  # type: ignore[no-any-return]
        node.trace = graph.products[whole] = Product(
            graph, node, kernel, dict(enumerate(operands)), whole
        )
        return node

    def forget(self, trace: Trace) -> None:
        """Drop a trace that has nothing left to compute."""
        shape = trace.shape
        if self._traces.get(shape) is trace:
            del self._traces[shape]
            return
        graph = self.captured
        if graph is not None and graph.traces.get(shape) is trace:
            del graph.traces[shape]

    def trace(self, shape: Shape, operands: int, entries: int = 0) -> Trace:
        """Return a trace with room for operations whose results have this shape.

        Parameters
        ----------
        shape
            The shape of the results.
        operands
            The number of arrays and numbers to add.
        entries
            The number of entries to add, by default ``operands + 1``.
        """
        entries = entries or operands + 1
        graphs = self.device.graphs
        if graphs is None or graphs.begun is None:
            trace = self._traces.get(shape)
            if (
                trace is not None
                and (count := len(trace.code)) <= trace.free_below
                and count + entries <= MOST_ENTRIES
                and len(trace.leaves) + operands <= self.kernels.most_leaves
            ):
                return trace
        trace = self._with_room(shape, operands, entries)
        if self.needs_lines:
            trace.lines[len(trace.code)] = running()
        return trace

    def _with_room(self, shape: Shape, operands: int, entries: int) -> Trace:
        traces = self.traces
        trace = traces.get(shape)
        if trace is not None:
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
        """Compute all held values that the current task has recorded in or outside its block."""
        for trace in list(self.traces.values()):
            trace.evaluate()
        graph = self.optimized
        if graph is not None:
            for product in list(graph.products.values()):
                if product.is_read:
                    product.evaluate()


def is_recorded_here(node: Node) -> bool:
    """Return whether a value is uncomputed and may be computed with later operations."""
    return isinstance(node.trace, Trace) and node.trace.is_here


_tracers: WeakValueDictionary[int, Tracer] = WeakValueDictionary()
_making = new_lock()


def tracer_of(device: Device) -> Tracer:
    """Return the tracer of a device. Make one if there is none."""
    with _making:
        tracer = _tracers.get(id(device))
        if tracer is None or tracer.device is not device:
            tracer = _tracers[id(device)] = Tracer(device)
        return tracer
