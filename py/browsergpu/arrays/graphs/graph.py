"""Captured graphs: the GPU work of a Python block, which one call replays.

A Graph owns the commands of the block and the buffers that they name. No other array gets these
buffers while the Graph exists. An array belongs to the Graph if its buffer is one of these. From
then on the array keeps this memory, and later assignments write to it.

If the block gives another value to an array from before the block, the array's old buffer is its
original buffer. A kernel of recorded operations writes the new value there if nothing else needs
the old one. At its end, the block copies the other new values into the original buffers. So each
replay continues from the last one.

An array that was made in the block ends up in memory that it shares only with its views. Each
replay writes its value.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet, WeakValueDictionary, finalize

from browsergpu.arrays.graphs import constants, originals
from browsergpu.arrays.graphs.constants import Constants
from browsergpu.arrays.graphs.numbers import Numbers
from browsergpu.arrays.graphs.originals import Original
from browsergpu.arrays.indexing import assignment
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.products import Product
from browsergpu.arrays.lazy.trace import Trace, Tracer
from browsergpu.arrays.pending_upload import PendingUpload
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import at_place_of, siblings, take_node
from browsergpu.engine.core.blocks import OfBlock, next_moment
from browsergpu.engine.core.element_types import FLOAT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.core.turns import TURN, exclusive
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.gpu.port import Captured
from browsergpu.engine.tensors.device_array import Storage, WatchedStorage

_OP = "capture"


class NewNodes(OfBlock, WeakSet[Node]):
    """The values that the block has put in memory."""

    def __init__(self) -> None:
        WeakSet.__init__(self)
        OfBlock.__init__(self)

    def add(self, node: Node) -> None:
        """Add a value unless another task has made it."""
        if self.is_here:
            super().add(node)


class Graph(OfBlock):
    """A captured graph, from ``with browsergpu.capture() as graph:``.

    It keeps its memory until :meth:`close` or until the graph is garbage.
    """

    def __init__(
        self, tracer: Tracer, *, optimize: bool = True, keeps_constants: bool = False
    ) -> None:
        super().__init__()
        self.tracer = tracer
        #: The commands that run only if arrays from before the block have changed, or None.
        self.constants: Constants | None = None
        #: Whether products wait for the operations after them, which their kernels may compute.
        #: Not in debug mode, whose errors name the operation's line.
        self.optimize = optimize and not tracer.device.config.debug_mode
        #: The products that wait, in the order in which they were recorded.
        self.products: WeakValueDictionary[Hashable, Product] = WeakValueDictionary()
        #: What each product's kernel computes beside the product.
        self.merged: list[str] = []
        #: Traces of the operations that the block has recorded.
        self.traces: dict[Shape, Trace] = {}
        #: When the block began, to compare with the times of seeds.
        self.created_at = next_moment()
        self._device = tracer.device
        self._keeps_constants = keeps_constants and self.optimize
        self._numbers = Numbers(tracer.device)
        self._known: dict[Hashable, Value] = {}
        self._actions: list[Callable[[], None]] = []  # called before each replay
        self._checks: list[Callable[[], None]] = []  # called before the actions
        self._late: list[tuple[slice, Callable[[], Sequence[int]]]] = []
        self._originals: dict[int, Original] = {}
        self._uploads: list[Storage] = []
        self._given: set[int] = set()  # memory of arguments
        self._made: NewNodes = NewNodes()  # values that the block has put in memory
        self._changed: list[Storage] = []  # memory of the arrays that the block changes
        self._touched: WeakSet[Storage] = WeakSet()  # memory with new values since the last replay
        self._captured: Captured | None = None
        self._release: Any = None
        self._is_open = False
        #: Called before a value is read in the block. Raises Unsupported by default.
        self.before_read: Callable[[], None] = _refuse_read

    # -- the block ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin the block. Raises InvalidArgument in another block."""
        tracer, device = self.tracer, self._device
        if device.graphs is not None and device.graphs.begun is not None:
            raise InvalidArgument(
                _OP,
                "block",
                Description("a block during another task's block on this device"),
                "outside of other blocks",
            )
        tracer.evaluate()
        if device.graphs is None:
            device.graphs = Graphs()
        self._holding = device.memory.start_holding()
        try:
            self._captured = device.recorder.start_capture()
        except BaseException:
            device.memory.end_holding(())
            raise
        self._holding.allocated = self._captured.allocate
        self._go_on()

    def _go_on(self) -> None:
        self._device.graphs.open = self
        self._device.memory.new_users = self._made
        self._is_open = True

    def _pause(self) -> None:
        self._device.memory.new_users = None
        self._is_open = False
        self._device.graphs.open = None
        self._device.recorder.stop_capture()

    def settle(self) -> None:
        """Copy values to their original buffers and separate the new arrays."""
        self.tracer.evaluate()
        self._copy_back([*self._originals.values()])
        self._originals.clear()
        self._own_all()

    def end(self, exchanged: Iterable[Storage] = (), arguments: Iterable[Storage] = ()) -> None:
        """End the block.

        The graph does not keep the ``exchanged`` memory. Each replay gets other buffers for it.
        Callers may write to the memory of the ``arguments`` before each replay.
        """
        try:
            self.settle()
            self._pause()
        except BaseException:
            self.drop()
            raise
        captured, memory = self._captured, self._device.memory
        assert captured is not None
        free = {one.buffer.id for one in exchanged}
        self._given = {one.buffer.id for one in arguments} - free
        own = self._holding.own
        idle = memory.unowned() & own.keys()
        self._changed += self._written_before(captured)
        if self._keeps_constants:
            self._keep_constants(captured, own.keys() - idle, free)
        used, written = captured.ids, captured.written
        if self.constants is not None:
            used = used | self.constants.captured.ids
        held = used | (own.keys() - idle) | self._numbers.ids
        held |= {one.buffer.id for one in self._uploads}
        for ids in (held, captured.ids, written):
            ids -= free
        memory.end_holding(held)
        self._watch(held)
        self._release = finalize(self, _release, self._device, frozenset(held))
        self._release.atexit = False
        self._device.graphs.all.add(self)
        self._originals.clear()
        self._known.clear()

    def _written_before(self, captured: Captured) -> list[Storage]:
        """Return the memory from before the block that the commands may write."""
        ids = captured.written - self._holding.own.keys()
        known = set(self._changed)
        found = self._device.memory.holders() if ids else ()
        return [one for one in found if one.buffer.id in ids and one not in known]

    def _keep_constants(
        self,
        captured: Captured,
        lasting: Collection[int],
        lent: Collection[int],
    ) -> None:
        """Move the commands out that compute the same values in each replay."""
        ids = captured.ids - captured.written - self._holding.own.keys() - self._numbers.ids
        ids -= self._given | set(lent)
        for graph in self._device.graphs.all:  # their replays write values
            ids -= graph.written_ids
        inputs: dict[int, Storage | None] = {one.buffer.id: None for one in self._uploads}
        for one in self._device.memory.holders():
            if one.buffer.id in ids and any(isinstance(user, Node) for user in one.users):
                inputs[one.buffer.id] = one
        self._holding.is_paused = True
        self.constants = constants.separated(
            self._device, captured, self._holding.own, inputs, lasting, lent
        )

    @property
    def written_ids(self) -> set[int]:
        """The ids of the buffers that a replay, or a caller before it, may write."""
        return set() if self._captured is None else self._captured.written | self._given

    def drop(self) -> None:
        """Discard the recorded commands after an error."""
        try:
            self._pause()
        finally:
            self._device.memory.end_holding(())
            self._captured = None
            self._originals.clear()
            self._known.clear()
            self._made = NewNodes()

    def abandon(self) -> None:
        """End the block and keep no graph. The computed values remain."""
        try:
            self.tracer.evaluate()
            self._copy_back([*self._originals.values()])  # other graphs may use these buffers
            self.tracer.evaluate()
        finally:
            self.drop()

    @property
    def is_open(self) -> bool:
        """Whether the block is being recorded."""
        return self._is_open

    def inputs(self) -> list[Storage]:
        """Return the memory from before the block that the graph uses."""
        captured = self._captured
        assert captured is not None
        ids = captured.ids - self._holding.own.keys() - self._numbers.ids
        if self.constants is not None:
            ids |= self.constants.captured.ids - self._holding.own.keys()
        return [one for one in self._device.memory.holders() if one.buffer.id in ids]

    @property
    def kernels(self) -> list[str]:
        """The labels of the dispatches, in order."""
        captured = self._captured
        return [] if captured is None else [one.label for one, _ in captured.dispatches]

    def writes(self, storage: Storage) -> bool:
        """Return whether the recorded commands may write to a memory."""
        return self._captured is not None and storage.buffer.id in self._captured.written

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Run the body once, now, and leave its operations out of the graph."""
        with TURN:  # another thread must not find the block paused
            self.tracer.evaluate()
            self._pause()
            self._holding.is_paused = True
            try:
                yield
                self.tracer.evaluate()
            finally:
                self._holding.is_paused = False
                self._device.recorder.start_capture(self._captured)
                self._go_on()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Upload in the body once, to memory outside the graph."""
        self._holding.is_paused = True
        self._device.graphs.open = None
        self._device.memory.new_users = None
        try:
            yield
        finally:
            self._device.graphs.open = self
            self._device.memory.new_users = self._made
            self._holding.is_paused = False

    def note(self, x: Value) -> None:
        """Remember the original buffer of an array that is about to take another value."""
        node: Node = NODE.__get__(x)
        if id(x) in self._originals or self.is_made(node):
            return
        node.in_memory()  # the value may be on the host, or recorded by another task
        self._originals[id(x)] = Original(x)

    def is_made(self, node: Node) -> bool:
        """Return whether the block has made a value."""
        if node.trace is not None:
            return not isinstance(node.trace, PendingUpload) and node.trace.block is self.block
        return node in self._made

    def uses(self, storage: Storage) -> bool:
        """Return whether a replay of the operations so far reads or writes ``storage``."""
        captured = self._captured
        readers: list[Any] = [*self.traces.values(), *self.products.values()]
        return (captured is not None and storage.buffer.id in captured.ids) or any(
            reader.reads(storage) for reader in readers
        )

    def is_own(self, node: Node) -> bool:
        """Return whether a value is in memory that the block has allocated."""
        return node.storage.buffer.id in self._holding.own

    def may_write(self, x: Value) -> bool:
        """Return whether an array can be changed in place without breaking a replay.

        This holds for arrays from before the block, and for memory that the block has allocated.
        """
        node: Node = NODE.__get__(x)
        return not self.is_made(node) or self.is_own(node)

    def overwritten(self, trace: Trace, wanted: Sequence[Node]) -> dict[Node, Storage]:
        """Return the original buffers that values of a trace can be written to, by the values.

        ``wanted`` are all values that the trace is about to compute.
        """
        if not self._originals:
            return {}
        return originals.overwritten(self._originals, trace, wanted)

    def overwrote(self, nodes: Iterable[Node]) -> None:
        """Note values that were written to their original buffers."""
        known = self._device.graphs.known
        for node in nodes:
            original = originals.original_of(self._originals, node)
            if node.trace is not None or original is None:
                continue
            if node.holders > 1:  # the others keep the value if the array changes again
                original.take(originals.same_place(node))
            if original.node in known:
                known.add(original.current)
            original.node = original.current
            original.node.storage.written()
            self._changed.append(original.node.storage)
            self._made.discard(original.node)  # the array existed before the block

    def copy_back(self, x: Value, found: Value) -> None:
        """Copy an array to its original buffer, since ``found`` is a new view.

        The view moves too.
        """
        original = next(
            (one for one in self._originals.values() if one.current is NODE.__get__(x)), None
        )
        if original is None or original.current is original.node:
            return
        node, own = NODE.__get__(x), NODE.__get__(found)
        self._copy_back([original])
        take_node(found, at_place_of(node, own, original.current))
        if original.array is not x:  # x may be an untracked stand-in for the array
            take_node(x, original.current)

    def _copy_back(self, all_originals: Sequence[Original]) -> None:
        changed = [original for original in all_originals if original.current is not original.node]
        self._changed += [original.node.storage for original in changed]
        for original in changed:
            originals.check(original)
            original.current.in_memory()
        originals.check_apart(changed)
        places = {id(original.node.storage): original.node.storage for original in changed}
        targets = [originals.same_place(original.node) for original in changed]
        # A value in another array's original buffer is read before that is written.
        values = [
            originals.copy_of(self.tracer, original.current)
            if id(original.current.storage) in places
            else original.current
            for original in changed
        ]
        for storage in places.values():
            own = [*targets, *(original.node for original in changed)]
            self.move_out(self.tracer, originals.others(storage, own))
        self.tracer.evaluate()
        for original, value, target in zip(changed, values, targets, strict=True):
            originals.write(self.tracer, value, target)
            target.storage.written()
            original.take(target)
            if original.node in self._device.graphs.known:
                self._device.graphs.known.add(target)
            original.node = target
            self._made.discard(target)  # the array existed before the block
        self.tracer.element_reads.forget_copies()

    def move_out(self, tracer: Tracer, nodes: Sequence[Node]) -> None:
        """Move values out of memory that is about to be written.

        Each replay moves values that the block has made. Others are moved once, now.
        """
        made = [node for node in nodes if self.is_made(node)]
        there = [node for node in nodes if not self.is_made(node)]
        assignment.move_out(tracer, made)
        if there:
            captured = self._captured
            assert captured is not None
            originals.check_unread(node for node in there if node.storage.buffer.id in captured.ids)
            with self.outside():
                assignment.move_out(tracer, there)

    def _own_all(self) -> None:
        """Give each array that the block has made, with its views, unshared memory."""
        found = [node for node in self._made if node.is_held and node.trace is None]
        for node in found:
            group = [node, *siblings(node)]
            if not all(self.is_made(one) for one in group):
                continue  # a view of an array from before the block
            if not self.is_own(node) or any(
                user.is_held for user in originals.others(node.storage, group)
            ):
                assignment.move_out(self.tracer, [node])

    def _watch(self, held: Container[int]) -> None:
        """Note the values of arrays in the graph's memory, which follow the replays.

        Values that use this memory later and are not views keep their elements.
        """
        known = self._device.graphs.known
        for storage in self._device.memory.holders():
            if storage.buffer.id in held:
                users = [user for user in storage.users if user.is_held]
                if users:
                    known.update(users)
                    WatchedStorage.watch(storage, self._touched)
        self._made = NewNodes()

    # -- actions before each replay ----------------------------------------------------------------

    def repeated(self, action: Callable[[], None]) -> None:
        """Call ``action`` now and before each replay."""
        action()
        self._actions.append(action)

    def checked(self, check: Callable[[], None]) -> None:
        """Call ``check`` before each replay. It raises if a replay is not possible.

        It runs before all actions, and again in its place among them, since earlier actions may
        change its result.
        """
        self._checks.append(check)
        self._actions.append(check)

    @exclusive
    def number(
        self,
        key: Hashable,
        value: Callable[[], Any],
        like: Value,
        kind: ElementType = FLOAT32,
    ) -> Any:
        """Return an array of a number that ``value`` computes now and before each replay.

        There is one array for each ``key``.
        """
        known = self._known.get(key)
        if known is None:
            with self.aside():
                node, change = self._numbers.add(value(), kind)
            self._actions.append(lambda: change(value()))
            kind_of_array = type(like.like(node))  # not tracked
            known = self._known[key] = kind_of_array(node, self.tracer)
        return known

    @property
    def draws(self) -> int:
        """The number of dispatches whose parameters a replay can change."""
        assert self._captured is not None
        return len(self._captured.lates)

    @exclusive
    def words(self, first: int, words: Callable[[], Sequence[int]]) -> None:
        """Compute the parameters of dispatches from number ``first`` on before each replay."""
        assert self._captured is not None
        self._late.append((slice(first, len(self._captured.lates)), words))

    @exclusive
    def constant(self, buffer: Allocation, at: int, view: memoryview, nbytes: int) -> None:
        """Upload data to unshared memory, from which each replay copies it.

        The target buffer may have other contents before and after.
        """
        device = self._device
        with self.aside():
            kept = Storage(device, device.memory.get_buffer(_OP, nbytes, "constant"))
        self._uploads.append(kept)
        device.recorder.write(kept.buffer.id, 0, view, nbytes)
        device.recorder.copy(kept.buffer.id, 0, buffer.id, at, nbytes)

    # -- replay ------------------------------------------------------------------------------------

    def check_replay(self) -> None:
        """Raise InvalidArgument if an optimizer's step would use another formula."""
        for check in self._checks:
            check()

    def replay(self) -> None:
        """Run the captured work again on the same memory. Does not wait.

        This equals running the block again without its Python code. Arrays that the block has
        changed or made have new values.

        Raises
        ------
        InvalidArgument
            In a block, after :meth:`close`, and if an optimizer's step would use another formula
            than in the block.
        DeviceLost, NotInitialized
            If the device is lost or closed.
        """
        self.replay_on({})

    def replay_on(self, buffers: Mapping[int, int]) -> None:
        """Replay with other buffers, by the ids of the captured ones."""
        device, captured = self._device, self._captured
        if captured is None or self._is_open:
            told = "a graph in its block" if self._is_open else "a closed graph"
            raise InvalidArgument(
                "replay", "graph", Description(told), "a graph whose block has ended"
            )
        with TURN:
            device.check_open("replay")
            if device.graphs.open is not None:
                raise InvalidArgument(
                    "replay",
                    "graph",
                    Description("a graph in a block of capture()"),
                    "a graph outside of blocks",
                )
            self.check_replay()
            device.throttle("replay")
            self.tracer.evaluate()
            while self._touched:
                assignment.move_out(self.tracer, device.graphs.are_others(self._touched.pop()))
            for action in self._actions:
                action()
            self._numbers.send()
            changes: list[tuple[Any, Sequence[int]]] = []
            for places, words in self._late:
                own = words()
                changes += [(place, own) for place in captured.lates[places]]
            if self.constants is not None:
                self.constants.refresh()
            device.recorder.replay(captured, changes, buffers)
            for storage in self._changed:
                storage.written()
            self.tracer.element_reads.forget_copies()
            device.faults.replayed()

    def close(self) -> None:
        """Free the graph's memory. Arrays that were made in the block keep their values."""
        if self._is_open:
            raise InvalidArgument(
                "close",
                "graph",
                Description("a graph in its block"),
                "a graph whose block has ended",
            )
        if self._release is not None:
            self._release()
        self._captured = None
        self._actions.clear()
        self._checks.clear()
        self._late.clear()
        self._changed.clear()
        self._uploads.clear()
        self.constants = None

    def __repr__(self) -> str:
        state = "closed" if self._captured is None else f"{len(self._captured.dispatches)} kernels"
        return f"<Graph of {state}>"


class Graphs(Shown):
    """The captured graphs of one device."""

    def __init__(self) -> None:
        self._open: Graph | None = None
        #: The graphs whose blocks have ended.
        self.all: WeakSet[Graph] = WeakSet()
        #: Values that follow the replays of graphs.
        self.known: WeakSet[Node] = WeakSet()

    @property
    def begun(self) -> Graph | None:
        """The graph whose block has not ended, in any task."""
        return self._open

    @property
    def open(self) -> Graph | None:
        """The graph whose block the current task is in."""
        graph = self._open
        return graph if graph is not None and graph.is_here else None

    @open.setter
    def open(self, graph: Graph | None) -> None:
        self._open = graph

    def keeps(self, node: Node) -> bool:
        """Return whether a computed array must keep its memory when it takes another value.

        Outside of blocks, this holds for memory of a graph. In a block, it holds for strided arrays
        from before the block, since only packed arrays have an original buffer.
        """
        if self.open is None:
            return self._is_held(node)
        return node.strides is not None and not self.open.is_made(node)

    def fixes(self, node: Node) -> bool:
        """Return whether an array and its views cannot move, since a replay uses their memory."""
        return self._is_held(node) if self.open is None else not self.open.is_own(node)

    def _is_held(self, node: Node) -> bool:
        if node in self.known and node.storage.is_held:
            return True
        # An array from before another task's block.
        begun = self.begun
        return begun is not None and not begun.is_made(node) and begun.uses(node.storage)

    def can_move(self, other: Node, node: Node) -> bool:
        """Return whether another value must move before a write to an array's memory.

        Values of a graph that do not overlap stay.
        """
        return other not in self.known or originals.overlap(other, node)

    def move_out(self, tracer: Tracer, nodes: Sequence[Node]) -> None:
        """Move values out of fixed memory."""
        if self.open is None:
            assignment.move_out(tracer, list(nodes))
        else:
            self.open.move_out(tracer, nodes)

    def are_others(self, storage: Storage) -> list[Node]:
        """Return the values in ``storage`` that do not follow replays."""
        return originals.others(storage, [node for node in storage.users if node in self.known])


def _refuse_read() -> None:
    raise Unsupported(
        "read",
        "values cannot be read in a block of capture(), because a replay would not read them "
        "again. Read after the block, and after each replay.",
    )


def _release(device: Device, held: frozenset[int]) -> None:
    device.memory.let_go(held)
