"""A block of Python whose work on the GPU is kept, to be replayed by one call.

A Graph has the commands of the block, on the buffers that they were recorded on, which nothing else
takes while it is there. An array that was there before the block and is changed in it has one
memory, its home: the block ends with copies of the new values into the homes, so that a replay goes
on from where the last one has ended. What is assigned to such arrays later goes to their homes,
too. Arrays that were made in the block, and that somebody holds at its end, have other values after
each replay.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet, finalize

from browsergpu.array.arriving import Arriving
from browsergpu.array.device_array import Storage
from browsergpu.array.graphs import homes
from browsergpu.array.graphs.homes import Home
from browsergpu.array.graphs.numbers import Numbers
from browsergpu.array.lazy.node import Node, Watch, watch
from browsergpu.array.lazy.tape import Tape
from browsergpu.array.value import NODE, Made, Value, note_made
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.turns import TURN
from browsergpu.device.device import Device
from browsergpu.gpu.memory import Allocation
from browsergpu.gpu.port import Captured

_OP = "capture"


class Graph:
    """What ``with browsergpu.capture() as graph:`` has captured.

    It keeps the memory that it works on until :meth:`close`, or until nobody holds it any more.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._device = tape.device
        self._numbers = Numbers(tape.device)
        self._known: dict[Hashable, Value] = {}
        self._actions: list[Callable[[], None]] = []  # before each replay
        self._late: list[tuple[list[Any], Callable[[], Sequence[int]]]] = []
        self._homes: dict[int, Home] = {}
        self._constants: list[Storage] = []
        self._seen = Watch()
        self._made: Made = {}
        self._watched: list[list[Any]] = []  # memory, and how many values were noted there
        self._captured: Captured | None = None
        self._release: Any = None
        self._is_open = False

    # -- the block ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Begins the block. Raises InvalidArgument within another one."""
        tape, device = self._tape, self._device
        if device.graphs is not None and device.graphs.open is not None:
            raise InvalidArgument(_OP, "block", "one within another", "one at a time")
        tape.evaluate()
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
        self._is_open = True
        watch(self._seen)
        note_made(self._made)

    def _pause(self) -> None:
        watch(None)
        note_made(None)
        self._is_open = False
        self._device.graphs.open = None
        self._device.recorder.stop_capture()

    def end(self) -> None:
        """Completes it: brings new values home."""
        try:
            self._tape.evaluate()
            self._bring_home()
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
        self._release = finalize(self, _let_go, self._device, frozenset(held))
        self._release.atexit = False
        self._homes.clear()
        self._known.clear()
        self._made.clear()

    def drop(self) -> None:
        """Forgets what was captured, after an error."""
        try:
            self._pause()
        finally:
            self._device.memory.end_holding(())
            self._captured = None
            self._homes.clear()
            self._known.clear()
            self._seen = Watch()
            self._made.clear()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """What is recorded meanwhile is done once, now, and is no part of it."""
        self._tape.evaluate()
        self._pause()
        self._holding.is_paused = True
        try:
            yield
            self._tape.evaluate()
        finally:
            self._holding.is_paused = False
            self._device.recorder.start_capture(self._captured)
            self._go_on()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is uploaded meanwhile is done once, to memory that is not its own."""
        self._holding.is_paused = True
        self._device.graphs.open = None
        try:
            yield
        finally:
            self._device.graphs.open = self
            self._holding.is_paused = False

    def note(self, x: Value) -> None:
        """An array is about to take another value. It has a home if it was there before."""
        if id(x) in self._homes or self._is_made(x):
            return
        node: Node = NODE.__get__(x)
        if isinstance(node.window, Arriving):
            node.in_memory()
        self._homes[id(x)] = Home(x)

    def _is_made(self, x: Value) -> bool:
        made = self._made.get(id(x))
        return made is not None and made() is x

    def may_write(self, x: Value) -> bool:
        """Whether an array can be changed where it lies, so that a replay finds what it needs: one
        that was there before, or that is in the graph's own memory."""
        node: Node = NODE.__get__(x)
        return not self._is_made(x) or node.storage.buffer.id in self._holding.own

    def _bring_home(self) -> None:
        changed = [home for home in self._homes.values() if home.now is not home.node]
        for home in changed:
            homes.check(home)
            home.now.in_memory()
        homes.check_apart(changed)
        places = {id(home.node.storage): home.node.storage for home in changed}
        targets = [homes.again(home.node) for home in changed]
        # One that has come from another's home is read before that is written.
        values = [
            homes.copy_of(self._tape, home.now) if id(home.now.storage) in places else home.now
            for home in changed
        ]
        if changed:
            read = self._read_before()
            with self.outside():
                for storage in places.values():
                    sharing = homes.others(storage, [*targets, *(home.node for home in changed)])
                    homes.check_unread(node for node in sharing if id(node) in read)
                    homes.move_out(self._tape, homes.others(storage, targets))
        for home, value, target in zip(changed, values, targets, strict=True):
            homes.write(self._tape, value, target)
            home.settle(target)

    def _read_before(self) -> set[int]:
        """The values that were there before the block, and were asked for in it."""
        made = {id(node) for one in self._seen.made if (node := one()) is not None}
        asked = {id(node) for one in self._seen.asked if (node := one()) is not None}
        return asked - made

    def _watch(self, held: Container[int]) -> None:
        """Notes the values that it reads and makes, of those that arrays have. Others in their
        memory, as views that come later, stay as they are."""
        known = self._device.graphs.known
        by_storage: dict[int, Storage] = {}
        for reference in (*self._seen.made, *self._seen.asked):
            node = reference()
            if node is None or node.window is not None or not node.holders:
                continue
            storage = node.storage
            if storage.buffer.id in held:
                known.add(node)
                by_storage[id(storage)] = storage
        self._seen = Watch()
        self._watched = [[storage, storage.noted] for storage in by_storage.values()]

    # -- what Python does before each replay -------------------------------------------------------

    def repeated(self, action: Callable[[], None]) -> None:
        """Does something now, and before each replay."""
        action()
        self._actions.append(action)

    def number(self, key: Hashable, value: Callable[[], float], like: Value) -> Any:
        """An array without axes of a number that is computed now and before each replay; the one
        that there is already for a key."""
        known = self._known.get(key)
        if known is None:
            with self.aside():
                node, change = self._numbers.add(value())
            self._actions.append(lambda: change(value()))
            known = self._known[key] = type(like)(node, self._tape)
        return known

    @property
    def draws(self) -> int:
        """How many dispatches have parameters that a replay may have others of."""
        assert self._captured is not None
        return len(self._captured.lates)

    def words(self, first: int, words: Callable[[], Sequence[int]]) -> None:
        """Has the parameters of those from the ``first`` on computed before each replay."""
        assert self._captured is not None
        self._late.append((self._captured.lates[first:], words))

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

        Raises InvalidArgument in a block and after :meth:`close`, DeviceLost or NotInitialized once
        the device is gone.
        """
        device, captured = self._device, self._captured
        if captured is None or self._is_open:
            told = "one in its block" if self._is_open else "a closed graph"
            raise InvalidArgument("replay", "graph", told, "one whose block has ended")
        with TURN:
            device.check_open("replay")
            if device.graphs.open is not None:
                raise InvalidArgument("replay", "graph", "in a block of capture()", "one after it")
            device.keep_pace("replay")
            self._tape.evaluate()
            for one in self._watched:
                storage, noted = one
                if storage.noted != noted:
                    homes.move_out(self._tape, device.graphs.are_others(storage))
                    one[1] = storage.noted
            for action in self._actions:
                action()
            self._numbers.send()
            changes: list[tuple[Any, Sequence[int]]] = []
            for places, words in self._late:
                own = words()
                changes += [(place, own) for place in places]
            device.recorder.replay(captured, changes)

    def close(self) -> None:
        """Gives its memory back. Arrays that were made in it keep the values that they have."""
        if self._is_open:
            raise InvalidArgument("close", "graph", "one in its block", "one whose block has ended")
        if self._release is not None:
            self._release()
        self._captured = None
        self._actions.clear()
        self._late.clear()
        self._watched.clear()
        self._constants.clear()

    def __repr__(self) -> str:
        state = "closed" if self._captured is None else f"{len(self._captured.dispatches)} kernels"
        return f"<Graph of {state}>"


class Graphs:
    """Those of one device."""

    def __init__(self) -> None:
        #: That whose block runs.
        self.open: Graph | None = None
        #: Values that graphs read or make.
        self.known: WeakSet[Node] = WeakSet()

    def given(self, x: Value, other: Value) -> Value:
        """What an array shall take in place of another's value; itself, where the value is in its
        memory by now."""
        if self.open is not None:
            self.open.note(x)
            return other
        own, value = NODE.__get__(x), NODE.__get__(other)
        if own is value or not self._has(own, x.tape):
            return other
        if own.kind is not value.kind or own.shape != value.shape:
            return other
        value.in_memory()
        x.tape.evaluate()  # what is recorded to read the memory as it is
        home = Home(x)
        target = homes.again(own)
        apart = [
            node
            for node in self.known
            if node.storage is own.storage and not homes.overlap(node, own)
        ]
        kept = (target, own) if own.holders == 1 else (target,)
        homes.move_out(x.tape, homes.others(own.storage, (*kept, *apart)))
        homes.write(x.tape, value, target)
        home.settle(target)
        self.known.add(target)
        return x

    def unshared(self, node: Node, tape: Tape) -> Node:
        """A value for another array: not one that a graph may change, but a copy of it."""
        is_copied = self.open is None and self._has(node, tape)
        return homes.copy_of(tape, node) if is_copied else node

    def _has(self, node: Node, tape: Tape) -> bool:
        """Whether a graph that may be replayed reads or makes a value."""
        return node in self.known and node.storage.buffer.id in tape.device.memory.held

    def are_others(self, storage: Storage) -> list[Node]:
        """The values in some memory that no graph reads or makes."""
        return homes.others(storage, [node for node in storage.users if node in self.known])


def _let_go(device: Device, held: frozenset[int]) -> None:
    device.memory.let_go(held)
