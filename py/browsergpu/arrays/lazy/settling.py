"""Settle a trace: dispatch the products that it reads, with the operations that follow them.

The kernel of a product computes a chain of elementwise operations, if each value before the last is
read once and no array holds it. The last value then is an array in memory for the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from struct import pack, unpack
from typing import Any

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.products import Epilogue, Product
from browsergpu.core.element_types import FLOAT32
from browsergpu.core.shapes import Shape
from browsergpu.kernels.fused.operations import Overload
from browsergpu.kernels.fused.source import (
    is_leaf,
    is_loaded,
    is_number,
    needed,
    operands_of,
    overload_at,
    with_operands,
)

#: Elementwise operations that are activations of a product, by their names there.
_ACTIVATIONS = {"relu": "relu", "gelu": "gelu_erf", "gelu_tanh": "gelu", "silu": "silu"}


def settle(trace: Any, places: Sequence[int]) -> None:
    """Dispatch the products that the values at ``places`` of a trace depend on.

    Afterwards all arrays that these values read are in memory. Raises OutOfMemory if there is no
    memory for temporaries. The remaining products then stay as they are.
    """
    wanted = {node.place for node in trace.nodes if node.trace is trace and node.is_held}
    wanted.update(places)
    trace.code = _shared(trace.code, trace.words, wanted)
    reading = [(at, place) for place in needed(trace.code, [*wanted])
               for at in operands_of(trace.code[place])]  # fmt: skip
    counts = Counter(at for at, _ in reading)
    readers = dict(reading)
    for place in needed(trace.code, places):
        node = trace.leaves.get(place)
        if node is None or not isinstance(node.trace, Product):
            continue
        if node.is_held:
            node.in_memory()
            continue
        end, epilogue, merged = _chain(trace, node, place, counts, readers, wanted)
        if end == place:
            node.in_memory()
            continue
        result = next((one for one in trace.nodes if one.place == end), None)
        if result is None:
            result = Node(node.kind, trace.shape)
        node.trace.compute(node, result, epilogue, merged)
        if result in trace.nodes:
            trace.nodes.remove(result)
        del trace.leaves[place]
        trace.take(end, result)


def _shared(
    code: Sequence[int], words: Mapping[int, tuple[int, ...]], wanted: set[int]
) -> list[int]:
    """Return a trace whose entries read the first of equal values. Entries keep their places."""
    first: dict[Any, int] = {}
    same: list[int] = []
    found: list[int] = []
    for place, entry in enumerate(code):
        own = with_operands(entry, [same[at] for at in operands_of(entry)])
        found.append(own)
        # Arrays differ, and a wanted value has memory of its own.
        if is_leaf(entry) or place in wanted:
            same.append(place)
        else:
            same.append(first.setdefault((own, words.get(place)), place))
    return found


def _chain(
    trace: Any,
    node: Node,
    place: int,
    counts: Mapping[int, int],
    readers: Mapping[int, int],
    wanted: set[int],
) -> tuple[int, Epilogue, tuple[str, ...]]:
    """Return the last value that a product's kernel computes, its epilogue and its operations."""
    kernel = node.trace.kernel
    kind, epilogue, names = node.kind, Epilogue(), []
    is_wide = "casts" in kernel.parts
    found: tuple[int, Epilogue, tuple[str, ...]] = place, epilogue, ()
    while place not in wanted and counts.get(place) == 1:
        reader = readers[place]
        overload = overload_at(trace.code[reader])
        if overload is None or overload.custom is not None:
            break
        if not _has_kinds(overload, node, is_wide):
            break
        if overload.operation.name != "astype":
            more = _extended(trace, node, place, reader, overload, epilogue)
            if more is None or more[0] not in kernel.parts:
                break
            epilogue = more[1]
            names.append(overload.operation.name)
        kind, place = overload.result, reader
        if kind is node.kind:
            found = place, epilogue, tuple(names)
    return found


def _has_kinds(overload: Overload, node: Node, is_wide: bool) -> bool:
    """Whether an operation reads and makes values of the product's type.

    If the kernel computes in float32 and rounds once, float32 values count as float16 ones.
    """
    kinds = (node.kind, FLOAT32) if is_wide else (node.kind,)
    return all(one in kinds for one in (overload.result, *overload.given))


def _extended(
    trace: Any,
    node: Node,
    place: int,
    reader: int,
    overload: Overload,
    epilogue: Epilogue,
) -> tuple[str, Epilogue] | None:
    """Return the part of an epilogue that computes an operation too, and that epilogue.

    Returns None if there is none. ``reader`` is the place of the operation, which reads the value
    at ``place``.
    """
    entry = trace.code[reader]
    name = overload.operation.name
    if epilogue.last is not None:
        return None
    has_activation = epilogue.activation is not None or epilogue.residual is not None
    if name in _ACTIVATIONS:
        return _with_activation(epilogue, _ACTIVATIONS[name])
    if name not in ("add", "multiply", "maximum"):
        return None
    other = next(at for at in operands_of(entry) if at != place)
    if is_number(trace.code[other]):
        number = _number(trace.words[other])
        if name == "maximum" and number == 0:
            return _with_activation(epilogue, "relu")
        # A factor of 0 would leave NaN and infinities out.
        if name == "multiply" and epilogue == Epilogue() and number and isfinite(number):
            return "factor", replace(epilogue, factor=number)
        return None
    array = None if is_loaded(trace.code[other]) else trace.leaves.get(other)
    if array is None or array.trace is not None or name == "maximum":
        return None
    if array.strides is not None or array.offset:  # packing takes a kernel
        return None
    is_along = not has_activation and epilogue.bias is None and _is_along(array.shape, node)
    if name == "multiply":
        is_first = is_along and epilogue == Epilogue()
        return ("scale", replace(epilogue, scale=array)) if is_first else None
    if is_along:
        return "bias", replace(epilogue, bias=array)
    if epilogue.residual is None and array.shape == node.shape and array.kind is node.kind:
        part = "residual" if epilogue.activation is None else "late residual"
        return part, replace(epilogue, residual=array)
    return None


def _with_activation(epilogue: Epilogue, function: str) -> tuple[str, Epilogue] | None:
    if epilogue.residual is not None:
        return "last", replace(epilogue, last=function)
    if epilogue.activation is not None:
        return None
    return "activation", replace(epilogue, activation=function)


def _is_along(shape: Shape, node: Node) -> bool:
    """Return whether an array has one element for each column or channel of a product."""
    axis = node.trace.kernel.axis
    if axis is None:
        return False
    whole = (1,) * (len(node.shape) - len(shape)) + shape
    return all(extent == (node.shape[axis] if at == axis else 1) for at, extent in enumerate(whole))


def _number(words: tuple[int, ...]) -> float:
    """Return a float from its word."""
    number: float = unpack("<f", pack("<I", words[0]))[0]
    return number
