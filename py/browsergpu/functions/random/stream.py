"""A stream of random numbers on a GPU, and the arrays that are drawn from it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Any, Self

import numpy as np

from browsergpu.arrays import reduce
from browsergpu.arrays.apply import on_one_device
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import FRAMES, RANDOMNESS
from browsergpu.arrays.context import current, open_tracer
from browsergpu.arrays.graphs.graph import Graph
from browsergpu.arrays.graphs.hooks import block_of
from browsergpu.arrays.lazy import host_number
from browsergpu.arrays.lazy.host_number import HostNumber
from browsergpu.arrays.lazy.node import room
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.upload import element_type
from browsergpu.engine.core.element_types import DEFAULTS, FLOAT32, INT32, UINT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.fused.operations import Operation
from browsergpu.engine.tensors import philox, random
from browsergpu.functions import creation, manipulation
from browsergpu.functions.custom.declarations import Parameter
from browsergpu.functions.custom.operations import applied, operations_of
from browsergpu.functions.meta import nowhere
from browsergpu.functions.random import redraw
from browsergpu.functions.random.bits import BitGenerator
from browsergpu.functions.random.parameters import (
    Rule,
    drawn_shape,
    parameter,
    shape_of,
    shape_of_parameter,
)


class Stream(Shown):
    """Base class of :class:`Generator` and :class:`RandomState`."""

    def __init__(self, bits: BitGenerator, device: Any = None) -> None:
        self._bits: Any = bits
        self._tracer = open_tracer() if device is None else current(device)

    def _facts(self) -> str:
        key, counter = self.place
        return f"at {counter} of stream {key}"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the device, which depends on the process."""
        return {"bits": self._bits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._bits = state["bits"]
        self._tracer = None

    def __deepcopy__(self, memo: Any) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__({"bits": copy(self._bits)})
        made._tracer = self._tracer
        return made

    @property
    def place(self) -> redraw.Place:
        """The key and the counter of the stream."""
        found: redraw.Place = self._bits.place
        return found

    @place.setter
    def place(self, value: redraw.Place) -> None:
        if not redraw.is_again(self):  # a repeated function draws as before
            self._bits.place = value

    @property
    def seeded_at(self) -> int:
        """When the stream was seeded."""
        found: int = self._bits.seeded_at
        return found

    def _restart(self, place: redraw.Place, *, is_seeded: bool = True) -> None:
        """Continue from a position that does not depend on the earlier one."""
        before = self.place
        self._bits.restart(place)
        self._bits.is_seeded = is_seeded
        if redraw.is_again(self):  # a repeated function draws as before
            self._bits.place = before

    def _is_seeded_in(self, block: Graph) -> bool:
        """Return whether each run of a block seeds the stream, with the same seed."""
        return bool(self._bits.is_seeded and self._bits.seeded_at > block.created_at)

    def _where(self, shape: Shape) -> Tracer:
        """Return the tracer of the device that draws arrays of this shape."""
        if self._tracer is None and 0 in shape:
            return nowhere()  # nothing is drawn, as Dask needs only the dtype
        if self._tracer is None:
            self._tracer = current()
        return self._tracer

    @exclusive
    def _new(self, op: str, size: Any, kind: ElementType) -> Array:
        shape = shape_of(op, size)
        if RANDOMNESS.value == "error" and FRAMES.get():
            told = Description("a draw in a function that vmap calls")
            advice = "Draw before the call, or pass randomness='same'."
            raise InvalidArgument("vmap", "randomness", told, "'same' for such functions", advice)
        tracer = self._where(shape)
        if not shape and kind in host_number.KINDS and host_number.is_here(tracer):
            return Array(host_number.node_of(tracer, kind, 0), tracer)
        return Array(room(tracer.device, op, kind, shape), tracer)

    @exclusive
    def _draw(self, function: Any, op: str, array: Array, *parameters: Any) -> Array:
        known = array.node.trace
        if type(known) is HostNumber:  # a single number is drawn on the host
            kind = array.node.kind.dtype
            assert kind is not None
            drawn = random.HostDraw(kind)
            redraw.draw(
                self,
                philox.blocks_for(function.__name__, 1),
                is_captured=False,
                work=lambda place: function(array.device, op, drawn, *place, *parameters),
            )
            known.number = drawn.number
            return array
        view, block = reduce.memory_view(array.node), block_of(array)
        first = 0 if block is None else block.draws
        places = redraw.draw(
            self,
            philox.blocks_for(function.__name__, array.size),
            is_captured=block is not None,
            work=lambda place: function(array.device, op, view, *place, *parameters),
            restarts=block is not None and self._is_seeded_in(block),
        )
        if block is not None:
            block.words(first, lambda: random.place(*places()))
        return array

    def _sample(
        self, op: str, size: Any, sampler: str, parameters: Sequence[tuple[str, Any, Rule]],
        kind: ElementType = FLOAT32,
    ) -> Array:  # fmt: skip
        """Draw by a function of shaders/lib/chance/.

        Each element has its own stream. Two words of this stream are its key, and the index of the
        element is part of its counter.
        """
        given = [parameter(op, name, value, rule) for name, value, rule in parameters]
        shape = drawn_shape(op, size, [shape_of_parameter(value) for value in given])
        found = self._sampled(op, sampler, shape, given, [rule for _, _, rule in parameters], kind)
        return found if kind is FLOAT32 else found.astype(kind.numpy, copy=False)

    @exclusive
    def _sampled(
        self, op: str, sampler: str, shape: Shape, given: list[Any], rules: list[Rule],
        kind: ElementType,
    ) -> Array:  # fmt: skip
        tracer = self._where(shape)
        if 0 in shape:
            return Array(room(tracer.device, op, kind, shape), tracer)
        words = self._draw(random.words, op, self._new(op, 2, UINT32))
        seeds = [manipulation.broadcast_to(words[0], shape), words[1]]
        operands = [
            creation.asarray(value, device=words.device) if isinstance(value, np.ndarray) else value
            for value in given
        ]
        on_one_device(op, words, *(value for value in operands if isinstance(value, Array)))
        whole = tuple(rule.is_whole for rule in rules)
        made = _sampler(op, sampler, whole, kind.kind in "iu")
        kinds = [UINT32, UINT32, *(INT32 if is_whole else FLOAT32 for is_whole in whole)]
        return applied(op, made, [*seeds, *operands], kinds)[0]

    def _float(self, op: str, dtype: Any) -> ElementType:
        kind = element_type(op, dtype)
        if kind.kind != "f":
            raise InvalidType(op, "dtype", kind.numpy, "float32 or float16")
        return kind


@cache
def _sampler(
    op: str, sampler: str, whole: tuple[bool, ...], gives_whole: bool
) -> tuple[Operation, ...]:
    """Return the elementwise operation that draws by a function of shaders/lib/chance/."""
    names = [f"a{n}" for n in range(len(whole))]
    inputs = (
        Parameter("key0", UINT32),
        Parameter("key1", UINT32),
        *(
            Parameter(name, INT32 if is_whole else FLOAT32)
            for name, is_whole in zip(names, whole, strict=True)
        ),
    )
    file = "whole" if gives_whole else "continuous"
    body = (
        "var draws = draws_of(key0, key1, i);\n"
        f"y = drawn_{sampler}({', '.join(['&draws', *names])});"
    )
    return operations_of(
        op, inputs, (Parameter("y", INT32 if gives_whole else FLOAT32),), body,
        (f"lib/chance/{file}.wgsl",),
    )  # fmt: skip


def whole_kind() -> ElementType:
    """Return the default integer type."""
    return DEFAULTS[int]
