"""Tracing: one call of a function, whose GPU work is captured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from browsergpu.arrays.apply import copied
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED, UNTRACKED_OF
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled, no_grad
from browsergpu.arrays.autograd.nodes import Leaf, Source, next_number
from browsergpu.arrays.autograd.precision import fresh_casts
from browsergpu.arrays.autograd.variable import require, source_of
from browsergpu.arrays.graphs.graph import Graph
from browsergpu.arrays.in_place import become
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.traced_number import TracedNumber, is_traced
from browsergpu.arrays.value import NODE, Value
from browsergpu.autograd.trees import map_tree
from browsergpu.compiled.gradient import Gradient
from browsergpu.compiled.guards import NO_GUARDS, Guards
from browsergpu.compiled.variant import (
    Computed,
    Input,
    Made,
    OfInput,
    Same,
    Variant,
    Writes,
    of_callers,
    of_input,
)
from browsergpu.engine.core import blocks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.places import users_place
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import TURN, exclusive
from browsergpu.engine.tensors.device_array import Storage


class Trace(Shown):
    """One call that is captured, if nothing in it prevents that.

    Attributes
    ----------
    reason : str
        Why the call could not be captured, or "". The call's result is right in both cases.
    fixed : set of str
        Numbers that must be part of the signature.
    numbers : list
        The numbers of the current call, which traced numbers read.
    variant : Variant or None
        The captured graph.
    """

    def __init__(
        self, tracer: Tracer, numbers: Sequence[Any], paths: Sequence[str], *, optimize: bool
    ) -> None:
        self.tracer = tracer
        self.reason = ""
        self.fixed: set[str] = set()
        self.numbers = list(numbers)
        self.variant: Variant | None = None
        self._arguments: list[Source | None] = []  # of the arguments' copies
        self._since = 0  # the first autograd node of the call
        self._sources: dict[int, Source] = {}  # of results, by their number
        self._classes: list[Any] = []  # of results, those of untracked arrays
        self._paths = paths
        self._block = blocks.begin()  # a graph belongs to the block that creates it
        self._optimize = optimize
        self._graph = Graph(tracer, optimize=optimize, keeps_constants=True)

    def _traced_numbers(self) -> list[TracedNumber]:
        """Return the numbers to call the function with."""
        return [self._traced(at) for at in range(len(self.numbers))]

    def _traced(self, at: int) -> TracedNumber:
        def fix() -> None:
            self.fixed.add(self._paths[at])
            self._stop("")

        return TracedNumber(self.numbers[at], lambda: self.numbers[at], fix)

    def _stop(self, reason: str) -> None:
        """Continue without capturing. The work so far is kept."""
        graph = self._graph
        if not graph.is_open:
            return
        self.reason = reason
        with TURN:
            graph.abandon()
        blocks.end(self._block)

    def _stop_to_read(self) -> None:
        place = users_place()
        self._stop(f"it reads a value{f' ({place})' if place else ''}")

    def call(
        self,
        function: Callable[..., Any],
        guards: Guards,
        arrays: Sequence[Any],
        rebuild: Callable[[Sequence[Any], Sequence[Any]], Any],
    ) -> Any:
        """Call the function, and capture its work.

        ``rebuild`` makes its arguments from arrays and numbers.
        """
        tracer, graph = self.tracer, self._graph
        graph.before_read = self._stop_to_read
        try:
            inputs = self._inputs(arrays)
            nodes: list[Node] = [NODE.__get__(x) for x in inputs]
            self._arguments = [source_of(x) for x in inputs]
            self._since = next_number()
            with Writes(tracer) as writes:
                with TURN:
                    graphs = tracer.device.graphs
                    is_free = graphs is None or graphs.begun is None
                    if is_free:
                        graph.start()
                if not is_free:  # another thread or task is tracing
                    blocks.end(self._block)
                    args, options = rebuild(arrays, self.numbers)
                    return function(*args, **options)
                args, options = rebuild(inputs, self._traced_numbers())
                try:
                    with fresh_casts():
                        results = [function(*args, **options)]
                except BaseException:
                    self._stop("")
                    self._give_back(arrays, inputs, nodes, writes)
                    raise
                del args, options
                changed = guards.changed()
                if changed is not None:
                    self._stop(f"it changes {changed}, which a replay would not")
                found = self._captured(results, arrays, inputs, nodes) if graph.is_open else None
                if found is not None:
                    return found[0]
                self._give_back(arrays, inputs, nodes, writes)
                return map_tree(lambda x: self._of_caller(x, arrays, inputs, nodes), results.pop())
        finally:
            blocks.end(self._block)

    def _inputs(self, arrays: Sequence[Any]) -> list[Array]:
        """Return copies of the arguments, which are made before the block."""
        own: dict[int, Array] = {}
        with TURN, blocks.within(None):
            for x in arrays:
                if id(x) not in own:
                    kind = UNTRACKED_OF[type(x)] if isinstance(x, Array) else Array
                    made = own[id(x)] = kind(of_input(x, self.tracer), self.tracer)
                    if type(x) in TRACKED and is_grad_enabled():
                        require(made, "jit")
        return [own[id(x)] for x in arrays]

    # -- the end of a captured call ----------------------------------------------------------------

    def _captured(
        self,
        results: list[Any],
        arrays: Sequence[Any],
        inputs: list[Array],
        nodes: Sequence[Node],
    ) -> list[Any] | None:
        """Make the variant. Returns the result in a list, or None if there can be no variant."""
        graph, tracer = self._graph, self.tracer
        with TURN:
            graph.settle()
        specs: list[Any] = []
        found = self._structure(results[0], specs, inputs, nodes)
        if self.reason:
            return None
        structure = found[0]
        # From here on, only nodes refer to the results and arguments. Arrays that are still alive
        # are held elsewhere.
        results.clear()
        alive_inputs = [ref(x) for x in inputs]
        inputs.clear()
        has_gradient = bool(self._sources)
        with TURN:
            written = [graph.writes(node.storage) for node in nodes]
            kept = [
                is_written or any(user.is_held for user in node.storage.users)
                for node, is_written in zip(nodes, written, strict=True)
            ]
            is_leaking = any(one() is not None for one in alive_inputs)
            if is_leaking or (kept != written and not has_gradient):
                self._stop("it keeps an argument, which a replay would not")
                for x, node, is_written in zip(arrays, nodes, written, strict=True):
                    if is_written:
                        self._assign(x, node)
                return [map_tree(lambda at: self._built(at, specs[at], arrays), structure)]
            made: list[Storage] = []
            alive: list[Any] = []
            for at, spec in enumerate(specs):
                if not isinstance(spec, Node):
                    continue
                node = spec
                if any(user.is_held for user in node.storage.users):
                    alive.append(copied(Value(node, tracer)))
                    node = alive[-1].node
                number = next((n for n, one in enumerate(made) if one is node.storage), len(made))
                if number == len(made):
                    made.append(node.storage)
                place = node.kind, node.shape, node.strides, node.offset
                specs[at] = Made(number, *place, self._classes[at])
            del alive
            free = [node.storage for node, one in zip(nodes, kept, strict=True) if not one]
            graph.end([*made, *free], [node.storage for node in nodes])
            graph.before_read = _nothing
            own = [
                Input(node.storage, _device_bytes(node), is_kept, is_written)
                for node, is_kept, is_written in zip(nodes, kept, written, strict=True)
            ]
            self.variant = Variant(
                graph, own, specs, made, lambda found: map_tree(found.__getitem__, structure)
            )
            if has_gradient:
                roots = [self._sources.get(at) for at in range(len(specs))]
                found_gradient = Gradient(roots, self._arguments, self._since, self._backward)
                found_gradient.watch(graph)
                self.variant.gradient = found_gradient
            self.variant.write_back(arrays, tracer)
            return [self.variant.results(arrays, made, tracer)]

    def _structure(
        self, result: Any, specs: list[Any], inputs: Sequence[Array], nodes: Sequence[Node]
    ) -> list[Any]:
        """Append the specification of each result to ``specs``.

        Returns a list of one item: the tree of results, with an index into ``specs`` for each
        result.
        """
        numbers: dict[int, int] = {}

        def visit(x: Any) -> int:
            if id(x) not in numbers:
                numbers[id(x)] = len(specs)
                specs.append(self._spec(x, inputs, nodes))
                self._classes.append(UNTRACKED_OF[type(x)] if isinstance(x, Array) else None)
                if isinstance(specs[-1], Node) and (source := source_of(x)) is not None:
                    self._sources[len(specs) - 1] = source
            return numbers[id(x)]

        return [map_tree(visit, result)]

    def _spec(self, x: Any, inputs: Sequence[Array], nodes: Sequence[Node]) -> Any:
        if is_traced(x):
            return Computed(x)
        if not isinstance(x, Array):
            if isinstance(x, np.ndarray) or type(x) in _PLAIN or isinstance(x, np.generic):
                return Same(x)
            self._stop(f"it returns an object of type {type(x).__name__}")
            return None
        for at, one in enumerate(inputs):
            if x is one:
                return OfInput(at, None)
        node: Node = NODE.__get__(x)
        if self._graph.is_own(node):
            return node
        source = source_of(x)
        if source and source.node.number >= self._since and not isinstance(source.node, Leaf):
            self._stop("it returns a view of an array that requires a gradient")
        for at, other in enumerate(nodes):
            if node.storage is other.storage:
                return OfInput(at, node)
        return Same(x)

    def _backward(self, function: Callable[..., Any], arrays: Sequence[Array]) -> Any:
        """Call a backward pass and capture it. Returns its result and how to call it again."""
        if blocks.here() is not None:
            return function(*arrays), lambda others: function(*others)
        tracer = self.tracer
        trace = Trace(tracer, (), (), optimize=self._optimize)
        result = trace.call(function, NO_GUARDS, arrays, lambda own, _: (tuple(own), {}))
        variant = trace.variant
        if variant is None:
            return result, lambda others: function(*others)

        def replay(others: Sequence[Array]) -> Any:
            if blocks.here() is not None:
                return function(*others)
            with TURN:
                return variant.results(others, variant.run(others, tracer), tracer)

        return result, replay

    @exclusive
    def _built(self, at: int, spec: Any, arrays: Sequence[Any]) -> Any:
        if isinstance(spec, Node):
            return self._classes[at](spec, self.tracer)
        if isinstance(spec, OfInput):
            return of_callers(spec, arrays, self.tracer)
        return spec.number.computed() if isinstance(spec, Computed) else spec.value

    # -- the end of a call that is not captured ----------------------------------------------------

    def _give_back(
        self,
        arrays: Sequence[Any],
        inputs: Sequence[Array],
        nodes: Sequence[Node],
        writes: Writes,
    ) -> None:
        """Give the arguments the values that the function has assigned."""
        with TURN:
            self.tracer.evaluate()
            for x, own, node in zip(arrays, inputs, nodes, strict=True):
                now: Node = NODE.__get__(own)
                is_written = now is not node or node.storage.buffer.id in writes.ids
                if is_written:
                    self._assign(x, now)

    def _assign(self, x: Any, node: Node) -> None:
        if isinstance(x, Array):
            with no_grad():
                become(x, copied(Value(node, self.tracer)))

    @exclusive
    def _of_caller(
        self, x: Any, arrays: Sequence[Any], inputs: Sequence[Array], nodes: Sequence[Node]
    ) -> Any:
        """Return a result with the caller's argument in place of its copy."""
        if is_traced(x):
            return x.computed()
        if not isinstance(x, Array):
            return x
        node: Node = NODE.__get__(x)
        for at, (own, theirs) in enumerate(zip(inputs, nodes, strict=True)):
            if x is own:
                return arrays[at]
            if node.trace is None and node.storage is NODE.__get__(own).storage:
                return of_callers(OfInput(at, node), arrays, self.tracer)
            if node.trace is None and node.storage is theirs.storage:
                return of_callers(OfInput(at, node), arrays, self.tracer)
        return x


_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), np.dtype, type))


def _device_bytes(node: Node) -> int:
    """Return the bytes of a packed value, a multiple of 4."""
    return node.kind.device_bytes(product(node.shape)) + 3 & ~3


def _nothing() -> None:
    """Do nothing."""
