"""A block of Python whose work on the GPU is kept, to be replayed by one call.

A Graph has the commands of the block and the buffers that they name, which nothing else takes while
the Graph is there. So memory is what a replay reads and writes: an array lies in the Graph's memory
if its buffer is one of these, however its functions came to it, and from then on it stays there.
What is assigned to it later is written there.

An array that was there before the block and takes another value in it has one memory, its home: the
block ends with copies of the new values into the homes, so that a replay goes on from where the
last one has ended. An array that was made in the block has, at its end, memory that it shares with
its views alone, so each replay writes its value.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet, finalize

from browsergpu.arrays.graphs import originals
from browsergpu.arrays.graphs.numbers import Numbers
from browsergpu.arrays.graphs.originals import Home
from browsergpu.arrays.indexing import assignment
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Trace, Tracer
from browsergpu.arrays.pending_upload import PendingUpload
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import at_place_of, siblings, take_node
from browsergpu.core.blocks import OfBlock
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.shapes import Shape
from browsergpu.core.showing import Description, Shown
from browsergpu.core.turns import TURN, exclusive
from browsergpu.device.device import Device
from browsergpu.gpu.memory import Allocation
from browsergpu.gpu.port import Captured
from browsergpu.tensors.device_array import Storage

_OP = "capture"


class Made(OfBlock, WeakSet[Node]):
    """The values that come to lie in memory in the block."""

    def __init__(self) -> None:
        WeakSet.__init__(self)
        OfBlock.__init__(self)

    def add(self, node: Node) -> None:
        """Note a value, unless another task has made it."""
        if self.is_here:
            super().add(node)


class Graph(OfBlock):
    """What ``with browsergpu.capture() as graph:`` has captured.

    It keeps the memory that it works on until :meth:`close`, or until nobody holds it any more.
    """

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer
        #: What is recorded in the block and not computed yet.
        self.traces: dict[Shape, Trace] = {}
        self._device = tracer.device
        self._numbers = Numbers(tracer.device)
        self._known: dict[Hashable, Value] = {}
        self._actions: list[Callable[[], None]] = []  # before each replay
        self._checks: list[Callable[[], None]] = []  # and before these
        self._late: list[tuple[list[Any], Callable[[], Sequence[int]]]] = []
        self._homes: dict[int, Home] = {}
        self._constants: list[Storage] = []
        self._made: Made = Made()  # in memory, in the block
        self._watched: list[list[Any]] = []  # memory, and how many values were noted there
        self._captured: Captured | None = None
        self._release: Any = None
        self._is_open = False

    # -- the block ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Begins the block. Raises InvalidArgument within another one."""
        tracer, device = self.tracer, self._device
        if device.graphs is not None and device.graphs.begun is not None:
            raise InvalidArgument(
                _OP,
                "block",
                Description("a block while another task is in one on this device"),
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

    def end(self) -> None:
        """Completes it: brings new values home, and gives what was made memory of its own."""
        try:
            self.tracer.evaluate()
            self._bring_home([*self._homes.values()])
            self._own_all()
            self._pause()
        except BaseException:
            self.drop()
            raise
        captured = self._captured
        assert captured is not None
        held = captured.ids | self._holding.own.keys() | self._numbers.ids
        held |= {one.buffer.id for one in self._constants}
        memory = self._device.memory
        memory.end_holding(held)
        self._watch(held)
        self._release = finalize(self, _release, self._device, frozenset(held))
        self._release.atexit = False
        self._homes.clear()
        self._known.clear()

    def drop(self) -> None:
        """Forgets what was captured, after an error."""
        try:
            self._pause()
        finally:
            self._device.memory.end_holding(())
            self._captured = None
            self._homes.clear()
            self._known.clear()
            self._made = Made()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """What is recorded meanwhile is done once, now, and is no part of it."""
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
        """What is uploaded meanwhile is done once, to memory that is not its own."""
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
        """An array is about to take another value. It has a home if it was there before."""
        node: Node = NODE.__get__(x)
        if id(x) in self._homes or self.is_made(node):
            return
        node.in_memory()  # what arrives, or another task has recorded
        self._homes[id(x)] = Home(x)

    def is_made(self, node: Node) -> bool:
        """Whether a value came to be in the block."""
        if node.trace is not None:
            return not isinstance(node.trace, PendingUpload) and node.trace.block is self.block
        return node in self._made

    def uses(self, storage: Storage) -> bool:
        """Whether a replay reads or writes some memory, of what was recorded by now."""
        captured = self._captured
        return (captured is not None and storage.buffer.id in captured.ids) or any(
            trace.reads(storage) for trace in self.traces.values()
        )

    def is_own(self, node: Node) -> bool:
        """Whether a value lies in memory that was taken in the block."""
        return node.storage.buffer.id in self._holding.own

    def may_write(self, x: Value) -> bool:
        """Whether an array can be changed where it lies, so that a replay finds what it needs: one
        that was there before, or that is in the graph's own memory."""
        node: Node = NODE.__get__(x)
        return not self.is_made(node) or self.is_own(node)

    def settle(self, x: Value, found: Value) -> None:
        """Brings an array home of which a view, ``found``, was just made: the view moves, too."""
        home = next((one for one in self._homes.values() if one.now is NODE.__get__(x)), None)
        if home is None or home.now is home.node:
            return
        node, own = NODE.__get__(x), NODE.__get__(found)
        self._bring_home([home])
        take_node(found, at_place_of(node, own, home.now))
        if home.array is not x:  # which stands for it
            take_node(x, home.now)

    def _bring_home(self, all_homes: Sequence[Home]) -> None:
        changed = [home for home in all_homes if home.now is not home.node]
        for home in changed:
            originals.check(home)
            home.now.in_memory()
        originals.check_apart(changed)
        places = {id(home.node.storage): home.node.storage for home in changed}
        targets = [originals.again(home.node) for home in changed]
        # One that has come from another's home is read before that is written.
        values = [
            originals.copy_of(self.tracer, home.now) if id(home.now.storage) in places else home.now
            for home in changed
        ]
        for storage in places.values():
            own = [*targets, *(home.node for home in changed)]
            self.move_out(self.tracer, originals.others(storage, own))
        self.tracer.evaluate()
        for home, value, target in zip(changed, values, targets, strict=True):
            originals.write(self.tracer, value, target)
            home.settle(target)
            home.node = target
            self._made.discard(target)  # the array was there before

    def move_out(self, tracer: Tracer, nodes: Sequence[Node]) -> None:
        """Gives values that lie where an array is written memory of their own: by each replay if
        they were made in the block, else once, now."""
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
        """Gives each array that was made in the block, with its views, memory that no other value
        lies in."""
        found = [node for node in self._made if node.is_held and node.trace is None]
        for node in found:
            group = [node, *siblings(node)]
            if not all(self.is_made(one) for one in group):
                continue  # a view of an array that was there before
            if not self.is_own(node) or any(
                user.is_held for user in originals.others(node.storage, group)
            ):
                assignment.move_out(self.tracer, [node])

    def _watch(self, held: Container[int]) -> None:
        """Notes the values in its memory that arrays have: they follow the replays. Others that
        come to lie there later, without being views, stay as they are."""
        known = self._device.graphs.known
        by_storage: dict[int, Storage] = {}
        for storage in self._device.memory.holders():
            if storage.buffer.id in held:
                users = [user for user in storage.users if user.is_held]
                if users:
                    known.update(users)
                    by_storage[id(storage)] = storage
        self._made = Made()
        self._watched = [[storage, storage.noted] for storage in by_storage.values()]

    # -- what Python does before each replay -------------------------------------------------------

    def repeated(self, action: Callable[[], None]) -> None:
        """Does something now, and before each replay."""
        action()
        self._actions.append(action)

    def checked(self, check: Callable[[], None]) -> None:
        """Has a function called before each replay, which raises where that cannot be done: before
        all actions, and in its place among them, as those before it may change what it checks."""
        self._checks.append(check)
        self._actions.append(check)

    @exclusive
    def number(self, key: Hashable, value: Callable[[], float], like: Value) -> Any:
        """An array without axes of a number that is computed now and before each replay; the one
        that there is already for a key."""
        known = self._known.get(key)
        if known is None:
            with self.aside():
                node, change = self._numbers.add(value())
            self._actions.append(lambda: change(value()))
            known = self._known[key] = type(like)(node, self.tracer)
        return known

    @property
    def draws(self) -> int:
        """How many dispatches have parameters that a replay may have others of."""
        assert self._captured is not None
        return len(self._captured.lates)

    @exclusive
    def words(self, first: int, words: Callable[[], Sequence[int]]) -> None:
        """Has the parameters of those from the ``first`` on computed before each replay."""
        assert self._captured is not None
        self._late.append((self._captured.lates[first:], words))

    @exclusive
    def constant(self, buffer: Allocation, at: int, view: memoryview, nbytes: int) -> None:
        """Uploads to memory that nothing else has, from where each replay copies it: the buffer may
        have been something else before, and may become something else."""
        device = self._device
        with self.aside():
            kept = Storage(device, device.memory.get_buffer(_OP, nbytes, "constant"))
        self._constants.append(kept)
        device.recorder.write(kept.buffer.id, 0, view, nbytes)
        device.recorder.copy(kept.buffer.id, 0, buffer.id, at, nbytes)

    # -- later -------------------------------------------------------------------------------------

    def replay(self) -> None:
        """Does all of it again on the same memory, without waiting: as if the block ran again, but
        for what Python did in it. Arrays that it changes and arrays that it made have new values.

        Raises InvalidArgument in a block, after :meth:`close`, and where the step of an optimiser
        has become another formula than in the block, DeviceLost or NotInitialized once the device
        is gone.
        """
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
            for check in self._checks:
                check()
            device.keep_pace("replay")
            self.tracer.evaluate()
            for one in self._watched:
                storage, noted = one
                if storage.noted != noted:
                    assignment.move_out(self.tracer, device.graphs.are_others(storage))
                    one[1] = storage.noted
            for action in self._actions:
                action()
            self._numbers.send()
            changes: list[tuple[Any, Sequence[int]]] = []
            for places, words in self._late:
                own = words()
                changes += [(place, own) for place in places]
            device.recorder.replay(captured, changes)
            device.faults.replayed()

    def close(self) -> None:
        """Gives its memory back. Arrays that were made in it keep the values that they have."""
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
        self._watched.clear()
        self._constants.clear()

    def __repr__(self) -> str:
        state = "closed" if self._captured is None else f"{len(self._captured.dispatches)} kernels"
        return f"<Graph of {state}>"


class Graphs(Shown):
    """Those of one device."""

    def __init__(self) -> None:
        self._open: Graph | None = None
        #: Values that follow the replays of graphs.
        self.known: WeakSet[Node] = WeakSet()
        self._memory: Any = None

    @property
    def begun(self) -> Graph | None:
        """That whose block has not ended, whichever task is in it."""
        return self._open

    @property
    def open(self) -> Graph | None:
        """That in whose block Python is."""
        graph = self._open
        return graph if graph is not None and graph.is_here else None

    @open.setter
    def open(self, graph: Graph | None) -> None:
        self._open = graph

    def keeps(self, node: Node) -> bool:
        """Whether an array with a value in memory must stay there: where a graph works on it, and,
        in a block, where it was there before and is no packed array, which alone has a home."""
        if self.open is None:
            return self._is_held(node)
        return node.strides is not None and not self.open.is_made(node)

    def fixes(self, node: Node) -> bool:
        """Whether an array and its views cannot move to other memory: a replay works on this."""
        return self._is_held(node) if self.open is None else not self.open.is_own(node)

    def _is_held(self, node: Node) -> bool:
        if node in self.known and node.storage.is_held:
            return True
        # In another task's block, where it was there before.
        begun = self.begun
        return begun is not None and not begun.is_made(node) and begun.uses(node.storage)

    def can_move(self, other: Node, node: Node) -> bool:
        """Whether another value in an array's memory shall move before that is written: not one
        that a graph works on beside it."""
        return other not in self.known or originals.overlap(other, node)

    def move_out(self, tracer: Tracer, nodes: Sequence[Node]) -> None:
        """Gives values in fixed memory memory of their own."""
        if self.open is None:
            assignment.move_out(tracer, list(nodes))
        else:
            self.open.move_out(tracer, nodes)

    def are_others(self, storage: Storage) -> list[Node]:
        """The values in some memory that do not follow the replays."""
        return originals.others(storage, [node for node in storage.users if node in self.known])


def _release(device: Device, held: frozenset[int]) -> None:
    device.memory.let_go(held)
