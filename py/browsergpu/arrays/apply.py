"""Elementwise operations on arrays and numbers: types, shapes, and entries in a trace."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from math import isnan
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.lazy import host_number
from browsergpu.arrays.lazy.host_number import HostNumber
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.numbers import (
    bounds_of_float,
    overflows,
    python_number,
    typed_number,
    words_of,
)
from browsergpu.arrays.pending_upload import on_host, pending_upload
from browsergpu.arrays.traced_number import is_traced
from browsergpu.arrays.upload import on_host as host_data
from browsergpu.arrays.upload import uploaded
from browsergpu.arrays.value import Value
from browsergpu.arrays.x64 import check_x64, check_x64_pair
from browsergpu.engine.core import shapes
from browsergpu.engine.core.element_types import (
    BOOL,
    DEFAULTS,
    ElementType,
    beside_number,
    promoted,
)
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, two_devices
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description
from browsergpu.engine.kernels.fused.operations import Overload, cast, overload
from browsergpu.engine.kernels.fused.source import number as number_entry

V = TypeVar("V", bound=Value)


#: Overloads by operation and types. Every recorded operation looks them up, and a dict is several
#: times as fast as functools' caches.
_resolved: dict[tuple[Any, ...], Overload] = {}


def resolve(op: str, kinds: tuple[ElementType, ...]) -> Overload:
    """Return the overload for operand types. Raises InvalidType if there is none."""
    found = overload(op, kinds)
    if found is None:
        given = Description(", ".join(kind.name for kind in kinds))
        raise InvalidType(op, "dtypes", given, "dtypes that the operation is defined for")
    if found.cast_to[-1].kind in "fc" and check_x64_pair(op, kinds):
        return found  # not cached, as set_x64 decides each time
    _resolved[op, *kinds] = found
    return found


def unary(op: str, x: V, /) -> V:
    """Record an operation on one array."""
    node, tracer = x.node, x.tracer
    made = _resolved.get((op, node.kind)) or resolve(op, (node.kind,))
    trace = node.trace
    if trace is None or len(trace.code) > trace.free_below:
        if type(trace) is HostNumber:
            found = host_number.computed(op, made, tracer, (trace.number,))
            if found is not None:
                return type(x)(found, tracer)
        trace = tracer.trace(node.shape, 1)
    return type(x)(trace.add_one(made, node), tracer)


def binary(op: str, a: Any, b: Any, /) -> Any:
    """Record an operation on two arrays, or on an array and a number, a list or a NumPy array.

    Returns NotImplemented for any other operand, which only operators pass.
    """
    if not isinstance(a, Value):
        return _beside_another(op, b, a, False)
    if isinstance(b, Value):
        x, y = a.node, b.node
        made = _resolved.get((op, x.kind, y.kind)) or resolve(op, (x.kind, y.kind))
        tracer = a.tracer
        if b.tracer is not tracer:
            return binary(op, *on_one_device(op, a, b))
        trace, other = x.trace, y.trace
        if (
            trace is None
            or len(trace.code) > trace.free_below
            # An array that the trace reads needs no further entry.
            or (trace is not other and (other is not None or y not in trace.read))
        ):
            if type(trace) is HostNumber or type(other) is HostNumber:
                found = _beside_host_number(op, made, a, b)
                if found is not None:
                    return found
            shape = x.shape
            if y.shape is not shape and y.shape != shape:
                shape = shapes.broadcast(op, shape, y.shape)
            trace = tracer.trace(shape, 2)
        return type(a)(trace.add_two(made, x, y), tracer)
    return _beside_another(op, a, b, True)


def _beside_host_number(op: str, made: Overload, a: V, b: Value) -> V | None:
    """Record an operation with an operand that the host knows. Compute it if it knows both.

    Returns None if the operands must be arrays, as in a captured graph.
    """
    tracer, x, y = a.tracer, a.node, b.node
    if not host_number.is_here(tracer):
        return None
    first, second = host_number.number_in(x), host_number.number_in(y)
    if first is not None and second is not None:
        found = host_number.computed(op, made, tracer, (first, second))
        return None if found is None else type(a)(found, tracer)
    is_left = first is None
    node, other, number = (x, y, second) if is_left else (y, x, first)
    entry, words = number_entry(other.kind), words_of(number, other.kind)
    trace = node.trace
    if trace is None or len(trace.code) > trace.free_below:
        trace = tracer.trace(node.shape, 2)
    return type(a)(trace.add_number(made, entry, words, node, is_left), tracer)


Beside = tuple[Overload, int, tuple[int, ...]]

#: Overload, number entry and number words of operations on an array and a number. The key has the
#: operation, the types, the number, and whether the array is the left operand.
_numbers: dict[tuple[Any, ...], Beside] = {}
_MOST_NUMBERS = 1024  # then the cache is cleared


#: The type and words of each number, and None for each array.
Numbers = Sequence[tuple[ElementType, tuple[int, ...]] | None]

#: Overload and numbers of operations on arrays and numbers, by :func:`_key`.
_mixed: dict[tuple[Any, ...], tuple[Overload, Numbers]] = {}


def forget_numbers() -> None:
    """Clear the caches of numbers, since the default type has changed."""
    _numbers.clear()
    _mixed.clear()


def _key(op: str, tracer: Tracer, operands: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the operation, the types of arrays, and Python numbers with their classes.

    Return None for other operands, arrays of other devices and NaN, which equals no key.
    """
    key: list[Any] = [op]
    for x in operands:
        if isinstance(x, Value):
            if x.tracer is not tracer:
                return None
            key.append(x.node.kind)
        else:
            kind = type(x)
            if kind not in _ALIKE or x != x:
                return None
            key += (kind, x if x or kind is not float else str(x))  # 0.0 equals -0.0
    return tuple(key)


#: Python types of which equal values are identical, except 0.0 and -0.0.
_ALIKE = frozenset({bool, int, float})


def _beside(op: str, kind: ElementType, own: ElementType, number: Any, is_left: bool) -> Beside:
    if op == "pow" and is_left and kind.kind in "iu" and own.kind == "i" and number < 0:
        expected = "at least 0 for an array of integers"
        raise InvalidArgument(op, "x2", number, expected, "Cast the array with .astype('float32').")
    made = resolve(op, (kind, own) if is_left else (own, kind))
    return made, number_entry(own), words_of(number, own)


def _beside_pythons(op: str, kind: ElementType, number: Any, is_left: bool) -> Beside:
    """Return the cached operation on an array and a Python number."""
    own = beside_number(kind, type(number))
    found = _beside(op, kind, own, number, is_left)
    if own.kind in "fc" and overflows(number, own):
        return found  # not cached, as set_x64 decides each time
    if len(_numbers) >= _MOST_NUMBERS:
        _numbers.clear()
    _numbers[op, kind, type(number), number, is_left] = found
    return found


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def _is(op: str, number: int, is_left: bool) -> bool:
    """Return the comparison of any array integer with a number outside its type's range."""
    compare = _COMPARISONS[op]
    return compare(0, number) if is_left else compare(number, 0)


#: The equivalent comparison for swapped operands.
_TURNED = {"less": "greater", "less_equal": "greater_equal"}
_TURNED |= {other: own for own, other in _TURNED.items()}


def _compares_float(op: str, kind: ElementType, other: Any) -> bool:
    is_wide = kind.computed in "IU"
    return is_wide and op in _COMPARISONS and isinstance(other, float | np.floating)


def _beside_float(op: str, array: V, number: float, is_left: bool) -> Any:
    """Compare 64-bit integers with a float exactly: float32 has 24 bits of precision."""
    op = op if is_left else _TURNED.get(op, op)
    if isnan(number):
        return array.like(full_node(array.tracer, array.node.shape, BOOL, op == "not_equal"))
    least, above = bounds_of_float(number)
    if op in ("equal", "not_equal"):
        from_least = binary("greater_equal", array, least)
        found = binary("logical_and", from_least, binary("less", array, above))
        return found if op == "equal" else unary("logical_not", found)
    own = {"less": "less", "less_equal": "less", "greater": "greater_equal"}.get(op, op)
    return binary(own, array, least if op in ("less", "greater_equal") else above)


def _beside_another(op: str, array: V, other: Any, is_left: bool) -> Any:
    """Record an operation on an array and an operand that is not an array."""
    node = array.node
    kind = type(other)
    if kind in _ALIKE and (other or kind is not float):
        found = _numbers.get((op, node.kind, kind, other, is_left))
        if found is None:
            if _compares_float(op, node.kind, other):
                return _beside_float(op, array, float(other), is_left)
            try:
                found = _beside_pythons(op, node.kind, other, is_left)
            except OverflowError:
                if op not in _COMPARISONS or node.kind.kind not in "iu":
                    raise
                return array.like(
                    full_node(array.tracer, node.shape, BOOL, _is(op, other, is_left))
                )
    else:
        if _compares_float(op, node.kind, other):
            return _beside_float(op, array, float(other), is_left)
        if is_traced(other):
            found = other.beside(array, beside_number(node.kind, type(other.value)))
            return binary(op, array, found) if is_left else binary(op, found, array)
        number = python_number(other)
        if number is not None:
            own = beside_number(node.kind, type(number))
        else:
            typed = typed_number(other)
            if typed is None:
                return _beside_elements(op, array, other, is_left)
            own, number = typed
        found = _beside(op, node.kind, own, number, is_left)
    made, entry, words = found
    trace = node.trace
    if trace is None or len(trace.code) > trace.free_below:
        if type(trace) is HostNumber:
            known = _with_number(op, made, array, other, is_left)
            if known is not None:
                return known
        trace = array.tracer.trace(node.shape, 2)
    return type(array)(trace.add_number(made, entry, words, node, is_left), array.tracer)


def _with_number(op: str, made: Overload, array: V, other: Any, is_left: bool) -> V | None:
    """Compute an operation on an array that the host knows and a number, or return None."""
    number = python_number(other)
    if number is None:
        typed = typed_number(other)
        number = None if typed is None else typed[1]
    own = made.given[1 if is_left else 0]
    number = None if number is None else host_number.converted(number, own)
    if number is None:
        return None
    known = array.node.trace.number
    numbers = (known, number) if is_left else (number, known)
    found = host_number.computed(op, made, array.tracer, numbers)
    return None if found is None else array.like(found)


def _beside_elements(op: str, array: Value, other: Any, is_left: bool) -> Any:
    if isinstance(other, np.ndarray):
        check_x64(op, "operand", other.dtype)
    elif isinstance(other, list | tuple | range):
        if op == "multiply" and not array.node.shape and array.node.kind.kind in "iu":
            return NotImplemented  # Python repeats the sequence, as for NumPy's integers
    elif op in ("equal", "not_equal") and (other is None or isinstance(other, str | bytes)):
        return array.like(full_node(array.tracer, array.node.shape, BOOL, op == "not_equal"))
    else:
        return NotImplemented
    data, own = host_data(other)
    if array.node.kind.computed in "IU":
        own = None  # a list next to 64-bit integers is 64-bit too
    copy = array.like(uploaded(array.tracer, data, own))
    return binary(op, array, copy) if is_left else binary(op, copy, array)


def apply(op: str, like: V, *operands: Any) -> V:
    """Record an operation on arrays and numbers, on the device of ``like``.

    Python numbers take the promoted type of the arrays, without the condition of ``where``.
    """
    tracer = like.tracer
    nodes = [x.node for x in operands if isinstance(x, Value) and x.tracer is tracer]
    if len(nodes) == len(operands):
        return _of_nodes(op, like, nodes)
    key = _key(op, tracer, operands)
    known = None if key is None else _mixed.get(key)
    if known is not None:
        return _recorded(op, like, known[0], operands, known[1])
    if any(map(is_traced, operands)):
        return apply(op, like, *_traced_as_arrays(op, like, operands))
    arrays = [x for x in operands if isinstance(x, Value)]
    if any(x.tracer is not tracer for x in arrays):
        like, *arrays = on_one_device(op, like, *arrays)
        those = iter(arrays)
        operands = tuple(next(those) if isinstance(x, Value) else x for x in operands)
        if len(arrays) == len(operands):
            return _of_nodes(op, like, [x.node for x in arrays])
    numbers = [None if isinstance(x, Value) else python_number(x) for x in operands]
    scalars = [None if isinstance(x, Value) else typed_number(x) for x in operands]
    typed = [x.node.kind for x in (arrays[1:] if op == "where" else arrays)]
    typed += [scalar[0] for scalar in scalars if scalar is not None]
    common = reduce(promoted, typed) if typed else None
    kinds = [
        x.node.kind
        if isinstance(x, Value)
        else _kind_of_number(number, common)
        if scalar is None
        else scalar[0]
        for x, number, scalar in zip(operands, numbers, scalars, strict=True)
    ]
    values = [
        scalar[1] if scalar is not None else x if number is None else number
        for x, number, scalar in zip(operands, numbers, scalars, strict=True)
    ]
    made = resolve(op, tuple(kinds))
    words = _words(values, kinds)
    if key is not None and not _depends_on_x64(op, values, kinds):
        if len(_mixed) >= _MOST_NUMBERS:
            _mixed.clear()
        _mixed[key] = made, words
    return _recorded(op, like, made, operands, words)


def _depends_on_x64(op: str, values: Sequence[Any], kinds: Sequence[ElementType]) -> bool:
    """Return whether ``set_x64`` decides each time how an operation on arrays and numbers goes."""
    return (op, *kinds) not in _resolved or any(
        kind.kind in "fc" and not isinstance(x, Value) and overflows(x, kind)
        for x, kind in zip(values, kinds, strict=True)
    )


def _traced_as_arrays(op: str, like: Value, operands: Sequence[Any]) -> list[Any]:
    """Return operands with an array for each number of a compiled function's arguments."""
    typed = operands[1:] if op == "where" else operands
    kinds = [x.node.kind for x in typed if isinstance(x, Value)]
    kinds += [scalar[0] for x in typed if (scalar := typed_number(x)) is not None]
    common = reduce(promoted, kinds) if kinds else None
    return [
        x.beside(like, _kind_of_number(x.value, common)) if is_traced(x) else x for x in operands
    ]


def _of_nodes(op: str, like: V, nodes: Sequence[Node]) -> V:
    """Record an operation on nodes on the device of ``like``."""
    kinds = tuple([node.kind for node in nodes])
    made = _resolved.get((op, *kinds)) or resolve(op, kinds)
    shape = nodes[0].shape
    for node in nodes:
        if node.shape is not shape and node.shape != shape:
            shape = shapes.broadcast(op, shape, node.shape)
    trace = like.tracer.trace(shape, len(nodes))
    return like.like(trace.add(made, *[trace.place_of(node) for node in nodes]))


def recorded(
    op: str, like: V, made: Overload, operands: Sequence[Any], kinds: Sequence[ElementType]
) -> V:
    """Record an overload for arrays of one device and numbers of known types.

    Raises OverflowError for a number outside its type's range.
    """
    return _recorded(op, like, made, operands, _words(operands, kinds))


def _words(operands: Sequence[Any], kinds: Sequence[ElementType]) -> Numbers:
    """Return the type and words of each number. Raises OverflowError as :func:`recorded` does."""
    return [
        None if isinstance(x, Value) else (kind, words_of(x, kind))
        for x, kind in zip(operands, kinds, strict=True)
    ]


def _recorded(op: str, like: V, made: Overload, operands: Sequence[Any], numbers: Numbers) -> V:
    shape: Shape | None = None
    for x, number in zip(operands, numbers, strict=True):
        if number is None:
            own = x.node.shape
            if shape is None:
                shape = own
            elif own is not shape and own != shape:
                shape = shapes.broadcast(op, shape, own)
    assert shape is not None
    trace = like.tracer.trace(shape, len(operands))
    places = [
        trace.place_of(x.node) if number is None else trace.number(*number)
        for x, number in zip(operands, numbers, strict=True)
    ]
    return like.like(trace.add(made, *places))


def _kind_of_number(number: Any, common: ElementType | None) -> ElementType:
    kind = type(number)
    return DEFAULTS[kind] if common is None else beside_number(common, kind)


def cast_to(op: str, x: V, kind: ElementType, *, copy: bool = True) -> V:
    """Convert an array to another type. Without ``copy``, return it as it is if it has the type."""
    node = x.node
    if node.kind is kind:
        return duplicate(x) if copy else x
    if type(node.trace) is HostNumber and host_number.is_here(x.tracer):
        known = host_number.converted(node.trace.number, kind)
        if known is not None:
            return x.like(host_number.node_of(x.tracer, kind, known))
    trace = x.tracer.trace(node.shape, 1)
    return x.like(trace.add(cast(node.kind, kind), trace.place_of(node)))


def duplicate(x: V) -> V:
    """Return a copy of an array. It is computed when needed."""
    node = x.node
    data = on_host(node)
    if data is not None:
        known = host_number.number_in(node)
        if known is not None:
            return x.like(host_number.node_of(x.tracer, node.kind, known))
        return x.like(pending_upload(x.tracer, data))
    trace = x.tracer.trace(node.shape, 1)
    return x.like(trace.add(cast(node.kind, node.kind), trace.place_of(node)))


def packed(x: V) -> V:
    """Return an array that is packed from the start of its memory: the array itself or a copy."""
    node = x.node
    if node.trace is not None:
        node.in_memory()
    return x if node.strides is None and node.offset == 0 else copied(x)


def copied(x: V) -> V:
    """Copy an array to its own packed memory."""
    node = x.node
    trace = x.tracer.trace(node.shape, 1)
    return x.like(trace.add(cast(node.kind, node.kind), trace.place_of(node)).in_memory())


def array_of(op: str, name: str, given: Any, beside: V) -> V:
    """Return an argument as an array. A number becomes an array without axes.

    The number takes the type that it has beside another array. Raises InvalidType for any other
    argument.
    """
    if isinstance(given, Value):
        if given.tracer is not beside.tracer:
            given, _ = on_one_device(op, given, beside)
        return beside.like(given.node)
    number = python_number(given)
    if number is not None:
        kind = beside_number(beside.node.kind, type(number))
    elif (typed := typed_number(given)) is not None:
        kind, number = typed
    else:
        raise InvalidType(op, name, given, "an array or a number")
    return beside.like(full_node(beside.tracer, (), kind, number))


def full_node(tracer: Tracer, shape: Shape, kind: ElementType, number: Any) -> Node:
    """Return a node whose elements all equal a number."""
    words = words_of(number, kind)
    trace = tracer.trace(shape, 0)
    return trace.add_value(kind, trace.number(kind, words))


def same_device(op: str, *arrays: Any) -> None:
    """Raise InvalidType if arrays are on two GPUs. Other arguments are ignored."""
    one = arrays[0].tracer if isinstance(arrays[0], Value) else None
    for x in arrays:
        if not isinstance(x, Value) or x.tracer is not one:
            break
    else:
        return
    tracers = {id(x.tracer): x.tracer for x in arrays if isinstance(x, Value)}
    if len(tracers) > 1 and sum(tracer.device.has_values for tracer in tracers.values()) > 1:
        raise two_devices(op)


def on_one_device(op: str, *arrays: Any) -> list[Any]:
    """Bring arrays of a GPU and of devices without values to one device.

    Values on the host and empty arrays move to the GPU. If another array has no values, the result
    has none either, and only shapes and dtypes count. Raises InvalidType for arrays on two GPUs.
    """
    tracers = {id(x.tracer): x.tracer for x in arrays}.values()
    gpus = [tracer for tracer in tracers if tracer.device.has_values]
    if len(gpus) != 1:
        raise two_devices(op)
    known = [
        x.tracer is gpus[0] or 0 in x.node.shape or on_host(x.node) is not None for x in arrays
    ]
    target = gpus[0] if all(known) else next(tracer for tracer in tracers if tracer is not gpus[0])
    return [x if x.tracer is target else _moved(x, target) for x in arrays]


def _moved(x: V, tracer: Tracer) -> V:
    data = on_host(x.node) if tracer.device.has_values else None
    if data is None:
        return type(x)(full_node(tracer, x.node.shape, x.node.kind, 0), tracer)
    return type(x)(pending_upload(tracer, data), tracer)
