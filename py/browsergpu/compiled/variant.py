"""Variants: the graph of a function for one signature, its inputs and its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from browsergpu.arrays.apply import copied
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import UNTRACKED_OF
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.arrays.graphs.graph import Graph
from browsergpu.arrays.in_place import become
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.upload import uploaded
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import alias
from browsergpu.compiled.gradient import Gradient
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import TURN
from browsergpu.engine.tensors.device_array import Storage

_OP = "jit"


class Writes(Shown):
    """The ids of the buffers that dispatches write within the ``with`` block."""

    def __init__(self, tracer: Tracer) -> None:
        self.ids: set[int] = set()
        self._observers = tracer.device.recorder.observers

    def __enter__(self) -> Writes:
        self._observers.append(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._observers.remove(self._note)

    def _note(self, pipeline: Any, fields: tuple[Any, ...]) -> None:
        self.ids.update(pipeline.written(fields))


def of_input(x: Any, tracer: Tracer) -> Node:
    """Return a packed copy of an argument, in memory that nothing else shares."""
    if isinstance(x, np.ndarray):
        return uploaded(tracer, x)
    return copied(Value(NODE.__get__(x), tracer)).node


def is_packed(node: Node) -> bool:
    """Whether a value in memory is packed from the start of its memory."""
    return node.strides is None and node.offset == 0


@dataclass(slots=True)
class Input:
    """An argument's memory in the graph.

    Attributes
    ----------
    storage
        The memory in the traced call.
    nbytes
        The bytes of the argument, a multiple of 4.
    is_kept
        Whether each call copies the argument to this memory, because the graph writes or keeps it.
        Otherwise the graph reads the argument's own memory.
    is_written
        Whether the function changes the argument.
    """

    storage: Storage | None
    nbytes: int
    is_kept: bool
    is_written: bool


@dataclass(frozen=True, slots=True)
class Made:
    """A result that each call computes: the index of its memory, its layout and its class."""

    storage: int
    kind: ElementType
    shape: Shape
    strides: Shape | None
    offset: int
    array: Any


@dataclass(frozen=True, slots=True)
class OfInput:
    """A result that is an argument, or a view of one."""

    at: int
    node: Node | None  # the view's place, or None for the argument itself


@dataclass(frozen=True, slots=True)
class Same:
    """A result that is the same object in each call."""

    value: Any


@dataclass(frozen=True, slots=True)
class Computed:
    """A result that is a number computed from the arguments' numbers."""

    number: Any


class Variant(Shown):
    """A graph with the places of its inputs and results."""

    def __init__(
        self,
        graph: Graph,
        inputs: Sequence[Input],
        results: Sequence[Any],
        buffers: Sequence[Storage],
        rebuild: Callable[[Sequence[Any]], Any],
    ) -> None:
        self.graph = graph
        self.inputs = inputs
        self._results = results
        self._rebuild = rebuild
        #: The ids and sizes of the results' memory in the graph.
        self._buffers = [(one.buffer.id, one.buffer.nbytes) for one in buffers]
        self._ids = [
            None if one.is_kept or one.storage is None else one.storage.buffer.id for one in inputs
        ]
        self._kept = [one.storage if one.is_kept else None for one in inputs]
        for one in inputs:
            if not one.is_kept:
                one.storage = None  # others may use this memory now
        self.calls = 0
        #: The backward pass, if results require gradients.
        self.gradient: Gradient | None = None

    @property
    def result_bytes(self) -> int:
        """The bytes of the results of one call."""
        return sum(nbytes for _, nbytes in self._buffers)

    def conflicts(self, arrays: Sequence[Any]) -> bool:
        """Whether arguments share memory that the graph writes."""
        writes = self.graph.writes
        seen: set[int] = set()
        for x, one in zip(arrays, self.inputs, strict=True):
            if isinstance(x, np.ndarray):
                continue
            node: Node = NODE.__get__(x).in_memory()
            identity = node.storage.buffer.id
            if writes(node.storage):
                return True
            if one.is_written and node.is_read_only:
                return True
            seen.add(identity)
        are_written = any(one.is_written for one in self.inputs)
        return are_written and len(seen) < len(self.inputs)

    def run(self, arrays: Sequence[Any], tracer: Tracer) -> list[Any]:
        """Replay the graph for some arguments. Returns the memory of the results."""
        device = tracer.device
        recorder, memory = device.recorder, device.memory
        exchanged: dict[int, int] = {}
        temporary: list[Node] = []
        device.throttle(_OP)
        for x, one, identity, kept in zip(arrays, self.inputs, self._ids, self._kept, strict=True):
            if type(x) is np.ndarray:
                if kept is not None:
                    data = np.asarray(x, order="C")
                    recorder.write(kept.buffer.id, 0, data.data.cast("B"), data.nbytes)
                    continue
                node = uploaded(tracer, x)
            else:
                node = NODE.__get__(x)
                if node.trace is not None:
                    node.in_memory()
                if not is_packed(node):
                    node = copied(Value(node, tracer)).node
            temporary.append(node)
            if kept is None:
                exchanged[identity] = node.storage.buffer.id  # type: ignore[index]
            elif one.nbytes:
                recorder.copy(node.storage.buffer.id, 0, kept.buffer.id, 0, one.nbytes)
        made = []
        for identity, nbytes in self._buffers:
            storage = Storage(device, memory.get_buffer(_OP, nbytes))
            made.append(storage)
            exchanged[identity] = storage.buffer.id
        self.graph.replay_on(exchanged)
        self.calls += 1
        return made

    def results(self, arrays: Sequence[Any], made: Sequence[Storage], tracer: Tracer) -> Any:
        """Return the results of a call, from the arguments and the memory of the results."""
        first: dict[int, Array] = {}
        found: list[Any] = []
        for one in self._results:
            kind = type(one)
            if kind is Made:
                node = stored(one.kind, one.shape, made[one.storage], one.strides, one.offset)
                x = one.array(node, tracer)
                if one.storage in first:
                    alias(first[one.storage], x)
                else:
                    first[one.storage] = x
                found.append(x)
            elif kind is OfInput:
                found.append(of_callers(one, arrays, tracer))
            elif kind is Computed:
                found.append(one.number.computed())
            else:
                value = one.value
                found.append(value.copy() if isinstance(value, np.ndarray) else value)
        if self.gradient is not None:
            self.gradient.attach(_OP, arrays, found)
        return self._rebuild(found)

    def write_back(self, arrays: Sequence[Any], tracer: Tracer) -> None:
        """Give the arguments that the function has changed their new values."""
        with no_grad():
            for x, one, kept in zip(arrays, self.inputs, self._kept, strict=True):
                if one.is_written and not isinstance(x, np.ndarray):
                    node: Node = NODE.__get__(x)
                    assert kept is not None
                    value = copied(Value(stored(node.kind, node.shape, kept), tracer))
                    become(x, value)

    def close(self) -> None:
        """Free the graph's memory."""
        with TURN:
            self.graph.close()


def of_callers(one: OfInput, arrays: Sequence[Any], tracer: Tracer) -> Any:
    """Return an argument, or a view of it at a place of the traced argument's view."""
    x = arrays[one.at]
    if one.node is None:
        return x
    node: Node = NODE.__get__(x).in_memory()
    place = one.node
    if not is_packed(node):
        raise Unsupported(
            _OP,
            "the function returns a view of an argument that is not contiguous. Return a copy(), "
            "or pass a copy().",
        )
    own = stored(place.kind, place.shape, node.storage, place.strides, place.offset)
    return alias(x, UNTRACKED_OF[type(x)](own, tracer))
