"""In-place updates of many arrays by one formula, such as an optimizer's parameters.

The formula is recorded once, on placeholders for the arrays of a row. Arrays whose memory nothing
else uses are written in place. For others a copy is written, which the array then takes. Each
kernel updates as many rows as it has bindings for.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections import Counter
from collections.abc import Sequence
from typing import Any

from browsergpu.arrays.apply import copied
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import UNTRACKED_OF
from browsergpu.arrays.graphs.originals import span
from browsergpu.arrays.in_place import become
from browsergpu.arrays.lazy import joint_copy, row_update
from browsergpu.arrays.lazy.extract import extract
from browsergpu.arrays.lazy.node import Node, room, stored
from browsergpu.arrays.lazy.row_update import Formula
from browsergpu.arrays.lazy.trace import Trace, Tracer, tracer_of
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import fills_memory, other_values
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import BOOL, ElementType
from browsergpu.engine.core.errors import DeviceError
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.fused.layout import Place
from browsergpu.engine.kernels.fused.row_update import NEW, Rule
from browsergpu.engine.kernels.fused.source import LARGEST_TRACE, is_leaf, leaf, result_of
from browsergpu.engine.tensors.device_array import Storage

_SHAPE: Shape = (4,)  # the shape of placeholders, whatever the arrays' shapes


class Draft(Shown):
    """A formula that is being recorded."""

    def __init__(self, device: Device) -> None:
        self._tracer = Tracer(device)
        self._page = _Page(self._tracer, _SHAPE)
        self._tracer.traces[_SHAPE] = self._page
        self._operands: list[int] = []  # places of the placeholders
        self._results: list[tuple[int, int]] = []
        self._packed: list[Node] = []  # what the formula reads, until its kernels are recorded

    def operand(self, kind: ElementType) -> Array:
        """Return a placeholder for the next array of a row."""
        node = self._page.operand(kind)
        self._operands.append(node.place)
        return Array(node, self._tracer)

    def number(self, x: Any) -> Any:
        """Return a number, or an array without axes, as an operand of the formula."""
        return Array(x.node, self._tracer) if isinstance(x, Value) else x

    def result(self, value: Array, into: int = NEW) -> None:
        """Assign a value to an operand of the row by its number, or to a new array (NEW).

        A bool value can go to FLAG: :func:`update_if_any` returns whether any of them is true.
        """
        self._results.append((value.node.place, into))

    def formula(self, op: str) -> Formula:
        """Return the recorded formula. Use it while this draft exists.

        Raises OutOfMemory, which names ``op``.
        """
        page = self._page
        part = extract(tuple(page.code), tuple([place for place, _ in self._results]))
        count = len(self._operands)
        bound = count + len([into for _, into in self._results if into < 0])
        numbers = self._numbers(op, [at for at in part.arrays if at in page.leaves], bound)
        shared: list[int] = []
        operands, offsets = [], []
        for place in part.arrays:
            if place in numbers:
                node = numbers[place]
                buffer = node.storage.buffer.id
                if buffer not in shared:
                    shared.append(buffer)
                operands.append(count + shared.index(buffer))
                offsets.append(node.offset)
            else:
                operands.append(self._operands.index(place))
        rule = Rule(
            part.code,
            part.results,
            tuple([place for place, entry in enumerate(part.code) if is_leaf(entry)]),
            tuple(operands),
            tuple([into for _, into in self._results]),
            count,
        )
        return Formula(rule, tuple(shared), tuple(offsets), tuple(part.parameters(page.words)))

    def _numbers(self, op: str, places: Sequence[int], bound: int) -> dict[int, Node]:
        """Return the numbers that all rows share, by place.

        If a kernel cannot bind their buffers beside the ``bound`` ones of a row, the numbers of
        each type are copied to one buffer.
        """
        leaves = self._page.leaves
        found = {place: leaves[place] for place in places}
        kernels = tracer_of(self._tracer.device).kernels
        buffers = {node.storage.buffer.id for node in found.values()}
        if len(buffers) + bound <= kernels.most_leaves + 1:
            return found
        device = kernels.device
        for kind in {node.kind for node in found.values()}:
            own = [place for place in places if found[place].kind is kind]
            target = room(device, op, kind, (len(own),))
            parts: list[tuple[Node, Place]] = []
            for at, place in enumerate(own):
                node = found[place]
                parts.append(
                    (stored(kind, (1,), node.storage, None, node.offset), ((1,), (1,), at))
                )
                found[place] = stored(kind, (), target.storage, None, at)
            for command in joint_copy.commands(kernels, parts, target):
                device.recorder.dispatch(*command)
            self._packed.append(target)
        return found


class _Page(Trace):
    """A trace that is never evaluated."""

    __slots__ = ()

    def __init__(self, tracer: Tracer, shape: Shape) -> None:
        super().__init__(tracer, shape)
        self.free_below = LARGEST_TRACE

    def operand(self, kind: ElementType) -> Node:
        """Append an array that is not known yet."""
        return self._added(kind, leaf(kind))

    def has_room(self, operands: int, entries: int) -> bool:
        """Return True."""
        return True


#: By row and operand, the value of an array that others see, and the copy that is written instead.
_Copies = dict[tuple[int, int], tuple[Node, Value]]


def update(op: str, formula: Formula, rows: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Apply a formula to rows of arrays.

    Parameters
    ----------
    op
        The name of the function, for error messages.
    formula
        The recorded formula.
    rows
        The operands of each row. All are on one device, and those of a row have one shape.

    Returns
    -------
    list of list of Array
        The NEW arrays of each row, in the order of the formula's results.

    Raises
    ------
    OutOfMemory
        If there is no memory. Nothing has changed then.
    DeviceError
        If debug mode finds a fault. All rows are updated then.
    """
    parts = _apart(rows, formula.rule.written)
    return [made for part in parts for made in _update(op, formula, part)]


def update_if_any(
    op: str, formula: Formula, rows: Sequence[Sequence[Array]], before: Array | None = None
) -> tuple[list[list[Array]], Array]:
    """Apply a formula as :func:`update` does, and return whether any FLAG result is true.

    The second result is a new bool array without axes. ``before`` is such an array from an earlier
    call, which this call sets too.
    """
    like = rows[0][0]
    device = like.tracer.device
    if before is None:
        node = room(device, op, BOOL, ())
        device.recorder.clear(node.storage.buffer.id, 0, 4)
        before = UNTRACKED_OF[type(like)](node, like.tracer)
    else:
        before.node.storage.written()
    buffer = before.node.storage.buffer.id
    return update(op, formula._replace(flag=(buffer,)), rows), before


def _update(op: str, formula: Formula, rows: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Apply a formula to rows whose written arrays do not overlap."""
    rule = formula.rule
    tracer = rows[0][0].tracer
    device = tracer.device
    device.throttle(op)
    kinds = [
        result_of(rule.trace[place])
        for place, into in zip(rule.results, rule.into, strict=True)
        if into == NEW
    ]
    made = [[room(device, op, kind, row[0].shape) for kind in kinds] for row in rows]
    copies: _Copies = {}
    while not _are_ready(tracer, rows, rule.written, copies):
        pass
    # No other task can run from here on.
    nodes = [[NODE.__get__(x) for x in row] for row in rows]
    for (at, number), (_, copy) in copies.items():
        nodes[at][number] = copy.node
    for row in nodes:
        for number in rule.written:
            row[number].storage.written()
    taken = [at for at, row in enumerate(rows) if product(row[0].shape)]
    ready = row_update.laid_out(rule, [nodes[at] for at in taken], [made[at] for at in taken])
    faults: list[DeviceError] = []
    for command in list(row_update.commands(tracer.kernels, formula, ready)):
        try:
            device.recorder.dispatch(*command)
        except DeviceError as error:
            if not faults:
                faults.append(error)
    for (at, number), (_, copy) in copies.items():
        become(rows[at][number], copy)
    found = [
        [UNTRACKED_OF[type(row[0])](node, tracer) for node in new]
        for row, new in zip(rows, made, strict=True)
    ]
    if faults:
        raise faults.pop()  # this frame must not hold the error, whose traceback holds the frame
    return found


def _apart(
    rows: Sequence[Sequence[Array]], written: Sequence[int]
) -> list[Sequence[Sequence[Array]]]:
    """Split the rows before each one whose written arrays share elements with earlier rows."""
    parts: list[Sequence[Sequence[Array]]] = []
    first = 0
    spans: dict[Storage, list[tuple[int, int]]] = {}  # in order, and apart from each other
    for at, row in enumerate(rows):
        nodes = [node for n in written if (node := NODE.__get__(row[n])).view_group is not None]
        own = [(node.in_memory().storage, span(node)) for node in nodes]
        if any(_is_within(one, spans.get(storage, ())) for storage, one in own):
            parts.append(rows[first:at])
            first = at
            spans.clear()
        for storage, one in own:
            insort(spans.setdefault(storage, []), one)
    return [*parts, rows[first:]]


def _is_within(one: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a range overlaps any of several disjoint ranges in ascending order."""
    at = bisect(spans, one)
    return (at > 0 and spans[at - 1][1] > one[0]) or (at < len(spans) and spans[at][0] < one[1])


def _are_ready(
    tracer: Tracer, rows: Sequence[Sequence[Array]], written: Sequence[int], copies: _Copies
) -> bool:
    """Return whether all arrays are computed, and each written array is unshared or has a copy.

    Otherwise this prepares them, so that the next call succeeds unless another task intervenes.
    """
    is_ready = True
    users: Counter[Storage] = Counter()  # of memory with several views
    for row in rows:
        for x in row:
            node = NODE.__get__(x)
            is_ready &= node.trace is None
            node.in_memory()
            if node.view_group is not None:
                users[node.storage] += 1
    graphs = tracer.device.graphs
    block = None if graphs is None else graphs.open
    in_place: set[Storage] = set()
    for at, row in enumerate(rows):
        for number in written:
            x = row[number]
            node = NODE.__get__(x)
            is_alone = users[node.storage] <= 1 and _is_alone(node)
            if is_alone and (block is None or block.may_write(x)):
                in_place.add(node.storage)
                copies.pop((at, number), None)
            elif (known := copies.get((at, number))) is None or known[0] is not node:
                is_ready = False
                copies[at, number] = node, copied(Value(node, tracer))
    for trace in tracer.all_traces():
        if any(node.storage in in_place for node in trace.leaves.values()):
            is_ready = False
            trace.evaluate()
    return is_ready


def _is_alone(node: Node) -> bool:
    """Return whether one array holds the value, packed in memory shared only with its views.

    Kernels write four elements at once, so no element of the memory may follow the last four.
    """
    if node.holders != 1 or node.strides is not None or node.offset:
        return False
    if product(node.shape) % 4 and not fills_memory(node):
        return False
    return node.storage.user_count == 1 or not other_values(node)
