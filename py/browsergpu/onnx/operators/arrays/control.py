"""Control flow, sequences and optional values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import axis_of, on_host, to_gpu
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.operators.arrays.shapes import joined
from browsergpu.onnx.registry import operator

Body = Callable[..., tuple[Any, ...]]


def _truth(node: Node, x: Any) -> bool:
    return bool(np.asarray(node.read(x)).reshape(-1)[0])


@operator("If", raw=True)
def if_(condition: Any, *, then_branch: Body, else_branch: Body, node: Node) -> Any:
    """Run one of two graphs. A condition on the GPU is read."""
    return then_branch() if _truth(node, condition) else else_branch()


def _stacked(steps: list[Any], axis: int = 0) -> Any:
    if on_host(*steps) and steps:
        return np.stack(steps, axis)
    return bg.stack([to_gpu(one) for one in steps], axis)


@operator("Loop", raw=True)
def loop(trips: Any, condition: Any, *states: Any, body: Body, node: Node) -> Any:
    """Run a graph repeatedly. A condition on the GPU is read at each step."""
    most = None if trips is None else int(np.asarray(node.read(trips)).reshape(-1)[0])
    goes_on = condition is None or _truth(node, condition)
    own = list(states)
    outputs: list[list[Any]] = [[] for _ in range(len(node.outputs) - len(own))]
    at = 0
    while goes_on and (most is None or at < most):
        found = body(np.array(at, np.int64), np.array(True), *own)
        goes_on = _truth(node, found[0])
        own = list(found[1 : 1 + len(own)])
        for each, one in zip(outputs, found[1 + len(own) :], strict=False):
            each.append(one)
        at += 1
    declared = node.plans["body"].types[1 + len(own) :]
    scans = [
        _stacked(each) if each else _none_of(kind)
        for each, kind in zip(outputs, declared, strict=True)
    ]
    return (*own, *scans)


def _none_of(declared: tuple[Any, tuple[int, ...]] | None) -> Any:
    """Return the results of no steps, by the dtype and the shape that the body declares."""
    if declared is None:
        raise ValueError("a loop of no steps needs a body that declares the types of its outputs")
    return bg.zeros((0, *declared[1]), dtype=declared[0])


@operator("Scan", since=8, until=8, raw=True)
def scan_8(
    sequence_lens: Any, *inputs: Any, body: Body, num_scan_inputs: int,
    directions: list[int] | None = None, node: Node,
) -> Any:  # fmt: skip
    """Run a graph for each element along axis 1, for each example along axis 0."""
    count = len(inputs) - num_scan_inputs
    xs = inputs[count:]
    length = xs[0].shape[1]
    lengths = [length] * xs[0].shape[0]
    if sequence_lens is not None:
        lengths = [int(n) for n in np.asarray(node.read(sequence_lens))]
    back = directions or [0] * num_scan_inputs
    last: list[list[Any]] = [[] for _ in range(count)]
    scans: list[list[Any]] = [[] for _ in range(len(node.outputs) - count)]
    for example, own_length in enumerate(lengths):
        states = [x[example] for x in inputs[:count]]
        outputs: list[list[Any]] = [[] for _ in scans]
        for at in range(own_length):
            parts = [
                x[example, own_length - 1 - at if way else at]
                for x, way in zip(xs, back, strict=True)
            ]
            found = body(*states, *parts)
            states = list(found[:count])
            for each, one in zip(outputs, found[count:], strict=True):
                each.append(one)
        for each, one in zip(last, states, strict=True):
            each.append(one)
        for each, steps in zip(scans, outputs, strict=True):
            whole = to_gpu(_stacked(steps))
            rest = [(0, 0)] * (whole.ndim - 1)
            each.append(bg.pad(whole, [(0, length - own_length), *rest]))
    return (*map(_stacked, last), *map(_stacked, scans))


@operator("Scan", since=9, raw=True)
def scan(
    *inputs: Any, body: Body, num_scan_inputs: int, scan_input_axes: list[int] | None = None,
    scan_input_directions: list[int] | None = None, scan_output_axes: list[int] | None = None,
    scan_output_directions: list[int] | None = None, node: Node,
) -> Any:  # fmt: skip
    """Run a graph for each element along an axis."""
    count = len(inputs) - num_scan_inputs
    states, xs = list(inputs[:count]), inputs[count:]
    axes = scan_input_axes or [0] * num_scan_inputs
    back = scan_input_directions or [0] * num_scan_inputs
    used = [axis_of(axis, x.ndim) for axis, x in zip(axes, xs, strict=True)]
    length = xs[0].shape[used[0]]
    if not length:
        raise ValueError("the inputs of Scan must have at least one element on their axis")
    outputs: list[list[Any]] = [[] for _ in range(len(node.outputs) - count)]
    for at in range(length):
        parts = [
            x[(*(slice(None),) * axis, length - 1 - at if way else at)]
            for x, axis, way in zip(xs, used, back, strict=True)
        ]
        parts = [np.asarray(one) if isinstance(one, np.generic) else one for one in parts]
        found = body(*states, *parts)
        states = list(found[:count])
        for each, one in zip(outputs, found[count:], strict=True):
            each.append(one)
    to = scan_output_axes or [0] * len(outputs)
    turn = scan_output_directions or [0] * len(outputs)
    scans = [
        _stacked(each[::-1] if way else each, axis if axis >= 0 else axis + each[0].ndim + 1)
        for each, axis, way in zip(outputs, to, turn, strict=True)
    ]
    return (*states, *scans)


@operator("SequenceEmpty", since=11, raw=True)
def sequence_empty(*, dtype: int = 1) -> Any:
    """Return a sequence without elements."""
    return ([],)


@operator("SequenceConstruct", since=11, raw=True)
def sequence_construct(*inputs: Any) -> Any:
    """Return a sequence of the inputs."""
    return (list(inputs),)


def _place(node: Node, position: Any, length: int, most: int) -> int:
    at = int(np.asarray(node.read(position)).reshape(-1)[0])
    if not -length <= at <= most:
        raise IndexError(f"position must be from {-length} to {most}, got {at}")
    return at + length if at < 0 else at


@operator("SequenceInsert", since=11, raw=True)
def sequence_insert(sequence: Any, tensor: Any, position: Any = None, *, node: Node) -> Any:
    """Insert an array into a sequence."""
    length = len(sequence)
    at = length if position is None else _place(node, position, length, length)
    return ([*sequence[:at], tensor, *sequence[at:]],)


@operator("SequenceErase", since=11, raw=True)
def sequence_erase(sequence: Any, position: Any = None, *, node: Node) -> Any:
    """Remove an array from a sequence."""
    length = len(sequence)
    at = length - 1 if position is None else _place(node, position, length, length - 1)
    return ([*sequence[:at], *sequence[at + 1 :]],)


@operator("SequenceAt", since=11, raw=True)
def sequence_at(sequence: Any, position: Any, *, node: Node) -> Any:
    """Return an element of a sequence."""
    return sequence[_place(node, position, len(sequence), len(sequence) - 1)]


@operator("SequenceLength", since=11, raw=True)
def sequence_length(sequence: Any) -> Any:
    """Return the number of elements."""
    return np.array(len(sequence), np.int64)


@operator("SequenceMap", since=17, raw=True)
def sequence_map(first: Any, *others: Any, body: Body, node: Node) -> Any:
    """Run a graph for each element of sequences."""
    found: list[list[Any]] = [[] for _ in node.outputs]
    for at, x in enumerate(first):
        rest = [one[at] if isinstance(one, list) else one for one in others]
        for each, one in zip(found, body(x, *rest), strict=True):
            each.append(one)
    return tuple(found)


@operator("SplitToSequence", since=11, raw=True)
def split_to_sequence(
    x: Any, split: Any = None, *, axis: int = 0, keepdims: int = 1, node: Node
) -> Any:
    """Split an array into a sequence."""
    at = axis_of(axis, x.ndim)
    extent = x.shape[at]
    if split is None:
        sizes = [1] * extent
    else:
        given = np.asarray(node.read(split))
        if given.ndim:
            sizes = [int(n) for n in given]
            if sum(sizes) != extent or min(sizes, default=0) < 0:
                raise ValueError(f"split must add up to {extent}, got {sizes}")
        else:
            each = int(given)
            sizes = [min(each, extent - begin) for begin in range(0, extent, each)]
    parts, begin = [], 0
    for n in sizes:
        key: tuple[Any, ...] = (*(slice(None),) * at, slice(begin, begin + n))
        if split is None and not keepdims:
            key = (*(slice(None),) * at, begin)
        parts.append(x[key])
        begin += n
    return (parts,)


@operator("ConcatFromSequence", since=11, raw=True)
def concat_from_sequence(sequence: Any, *, axis: int, new_axis: int = 0) -> Any:
    """Join the elements of a sequence."""
    if new_axis:
        rank = sequence[0].ndim + 1
        return _stacked(sequence, axis_of(axis, rank))
    return joined(sequence, axis)


@operator("Optional", since=15, raw=True)
def optional(x: Any = None, *, type: Any = None) -> Any:
    """Return a value that may be missing."""
    return (x,)


@operator("OptionalHasElement", since=15, raw=True)
def optional_has_element(x: Any = None) -> Any:
    """Return whether there is a value."""
    return np.array(x is not None)


@operator("OptionalGetElement", since=15, raw=True)
def optional_get_element(x: Any) -> Any:
    """Return a value that must be there."""
    if x is None:
        raise ValueError("the optional value is missing")
    return (x,)
