"""Settle a trace: dispatch the products that it reads, with the operations that follow them.

The kernel of a product computes elementwise operations that follow it, if nothing else reads the
values before the last and no array holds them. The last value then is an array in memory for the
trace. Operations that are no part of an epilogue become a generated chain
(engine/kernels/fused/chain.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from struct import pack, unpack
from typing import Any

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.products import Epilogue, Product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.base.chains import is_chain
from browsergpu.engine.kernels.fused import chain as chains
from browsergpu.engine.kernels.fused.operations import Overload
from browsergpu.engine.kernels.fused.source import (
    is_leaf,
    is_loaded,
    is_number,
    leaf,
    name_of,
    needed,
    operands_of,
    overload_at,
    result_of,
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
    readers: dict[int, list[int]] = {}
    all_needed = needed(trace.code, [*wanted])
    for place in all_needed:
        for at in operands_of(trace.code[place]):
            readers.setdefault(at, []).append(place)
    for place in needed(trace.code, places):
        node = trace.leaves.get(place)
        if node is None or not isinstance(node.trace, Product):
            continue
        if node.is_held:
            node.in_memory()
            continue
        end, epilogue, merged = _Following(trace, node, all_needed, readers, wanted).found(place)
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


class _Following(Shown):
    """The operations of a trace that follow a product.

    ``needed`` are the places of the values that are needed, in order. ``readers`` are the places of
    the operations that read each value, twice if both operands do.
    """

    def __init__(
        self,
        trace: Any,
        node: Node,
        needed: Sequence[int],
        readers: Mapping[int, list[int]],
        wanted: set[int],
    ) -> None:
        self._needed = needed
        self._trace = trace
        self._node = node
        self._readers = readers
        self._wanted = wanted
        self._parts: frozenset[str] = node.trace.kernel.parts

    def found(self, place: int) -> tuple[int, Epilogue, tuple[str, ...]]:
        """Return the last value that the kernel computes, its epilogue and its operations.

        ``place`` is that of the product.
        """
        node = self._node
        epilogue = Epilogue()
        names: list[str] = []
        found: tuple[int, Epilogue, tuple[str, ...]] = place, epilogue, ()
        # Where the last function of the epilogue begins, and the epilogue and names before it.
        begin = place, epilogue, 0
        while place not in self._wanted:
            more = self._one(place, epilogue)
            if more is None:
                start, before, count = begin
                chain = self._chain(start, place, before)
                if chain is None:
                    break
                place, epilogue, operations = chain
                names[count:] = operations
                found = place, epilogue, tuple(names)
                continue
            reader, extended = more
            name = name_of(self._trace.code[reader])
            if extended is not epilogue:
                names.append(name)
            is_function = (extended.activation, extended.last) != (
                epilogue.activation,
                epilogue.last,
            )
            if is_function:
                begin = place, epilogue, len(names) - 1
            elif extended is not epilogue:
                begin = reader, extended, len(names)
            epilogue, place = extended, reader
            if result_of(self._trace.code[reader]) is node.kind:
                found = place, epilogue, tuple(names)
        return found

    def _one(self, place: int, epilogue: Epilogue) -> tuple[int, Epilogue] | None:
        """Return the place of the only operation that reads a value, and the epilogue with it.

        Returns None if no part of an epilogue computes the operation.
        """
        if len(self._readers.get(place, ())) != 1:
            return None
        reader = self._readers[place][0]
        overload = overload_at(self._trace.code[reader])
        if overload is None or overload.custom is not None:
            return None
        if not _has_kinds(overload, self._node, "casts" in self._parts):
            return None
        if overload.operation.name == "astype":
            return reader, epilogue
        more = _extended(self._trace, self._node, place, reader, overload, epilogue)
        return None if more is None or more[0] not in self._parts else (reader, more[1])

    def _chain(
        self, start: int, after: int, epilogue: Epilogue
    ) -> tuple[int, Epilogue, list[str]] | None:
        """Return the last value of the longest chain, the epilogue with it, and its operations.

        Parameters
        ----------
        start
            The value that the chain reads.
        after
            A value that the epilogue computes already. The chain must contain its readers.
        epilogue
            The epilogue of the value at ``start``.
        """
        if epilogue.last is not None:
            return None
        part = "activation"
        if epilogue.activation is not None or epilogue.residual is not None:
            part = "last"
        if part not in self._parts or result_of(self._trace.code[start]).computed != "f":
            return None
        inside, ends = self._region(start)
        for end in reversed([end for end in ends if end > after]):
            places = [place for place in inside if place <= end]
            name = self._activation(places)
            if name is None:
                return None
            if is_chain(epilogue.activation) and epilogue.activation != name:
                continue  # a kernel has one chain
            names = [name_of(self._trace.code[place]) for place in places[1:]]
            if part == "last":
                made = replace(epilogue, last=name)
            else:
                made = replace(epilogue, activation=name)
            return end, made, [one for one in names if one != "astype"]
        return None

    def _region(self, start: int) -> tuple[list[int], list[int]]:
        """Return the values that depend on one value and numbers alone, and the ends of chains.

        An end is a value after which nothing reads a value before it.
        """
        code = self._trace.code
        inside, ends = [start], []
        waiting = len(self._readers.get(start, ()))  # reads of the values inside
        for place in self._needed:
            own = [at for at in operands_of(code[place]) if at in inside]
            if not own:
                continue
            if len(inside) > chains.MOST_OPERATIONS or not self._computes(place, inside):
                break
            inside.append(place)
            waiting -= len(own)
            if not waiting and result_of(code[place]) is self._node.kind:
                ends.append(place)
            if place in self._wanted:
                break
            waiting += len(self._readers.get(place, ()))
        return inside, ends

    def _computes(self, place: int, inside: Sequence[int]) -> bool:
        """Whether a chain can compute an operation on the values inside and numbers."""
        entry, code = self._trace.code[place], self._trace.code
        numbers = [at for at in operands_of(entry) if at not in inside]
        if not chains.supports(entry) or not all(is_number(code[at]) for at in numbers):
            return False
        words = self._trace.words
        # A compiler could replace a product with a constant 0, also of NaN and infinities.
        if name_of(entry) == "multiply" and any(_number(words[at]) == 0 for at in numbers):
            return False
        return all(chains.is_constant(result_of(code[at]), words[at]) for at in numbers)

    def _activation(self, places: Sequence[int]) -> str | None:
        """Return the activation that computes some values, or None if there are too many chains."""
        code, words = self._trace.code, self._trace.words
        own = {places[0]: 0}
        entries: list[int] = [leaf(result_of(code[places[0]]))]
        numbers: list[tuple[int, ...]] = []
        for place in places[1:]:
            for at in operands_of(code[place]):
                if at not in own:
                    own[at] = len(entries)
                    entries.append(code[at])
                    numbers.append(tuple(words[at]))
            own[place] = len(entries)
            entries.append(with_operands(code[place], [own[at] for at in operands_of(code[place])]))
        return chains.chain(tuple(entries), tuple(numbers))


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
    is_free = not has_activation and epilogue.bias is None and "bias" in node.trace.kernel.parts
    is_along = is_free and _is_along(array.shape, node)
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
