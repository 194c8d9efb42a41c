"""Recurrent layers RNN, LSTM and GRU, with PyTorch's formulas, layouts and names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import sqrt
from typing import Any, ClassVar

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, manipulation
from browsergpu.functions.nn import dropping, tables
from browsergpu.networks import init
from browsergpu.networks.layers.cells import (
    State,
    check_nonlinearity,
    gru_step,
    lstm_step,
    rnn_step,
)
from browsergpu.networks.layers.making import optional
from browsergpu.networks.module import Module
from browsergpu.networks.seeding import drawer
from browsergpu.networks.sequences.packing import PackedSequence


class _Recurrent(Module):
    """Base of recurrent layers.

    Layer n has ``weight_ih_l{n}`` [G H, I], ``weight_hh_l{n}`` [G H, H], and ``bias_ih_l{n}`` and
    ``bias_hh_l{n}`` [G H], with the rows of G gates one after the other. If ``bidirectional``, the
    names for the reverse direction end with ``_reverse``.
    """

    _gates: ClassVar[int]
    _states: ClassVar[int] = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        self.input_size = checks.integer(op, "input_size", input_size, 1)
        self.hidden_size = checks.integer(op, "hidden_size", hidden_size, 1)
        self.num_layers = checks.integer(op, "num_layers", num_layers, 1)
        self.bias = checks.flag(op, "bias", bias)
        self.batch_first = checks.flag(op, "batch_first", batch_first)
        self.dropout = checks.fraction(op, "dropout", dropout)
        self.bidirectional = checks.flag(op, "bidirectional", bidirectional)
        self.proj_size = checks.integer(op, "proj_size", proj_size, 0, self.hidden_size - 1)
        if self.proj_size and self._states == 1:
            raise InvalidArgument(op, "proj_size", proj_size, "0, except for LSTM")
        rows, width = self._gates * self.hidden_size, self.proj_size or self.hidden_size
        for layer in range(self.num_layers):
            ways = len(self._ways())
            inside = self.input_size if layer == 0 else width * ways
            for way in self._ways():
                optional(self, f"weight_ih_l{layer}{way}", True, (rows, inside), device, dtype)
                size = (rows, width)
                optional(self, f"weight_hh_l{layer}{way}", True, size, device, dtype)
                if self.bias:
                    for name in ("bias_ih", "bias_hh"):
                        optional(self, f"{name}_l{layer}{way}", True, (rows,), device, dtype)
                if self.proj_size:
                    size = (width, self.hidden_size)
                    optional(self, f"weight_hr_l{layer}{way}", True, size, device, dtype)
        self.reset_parameters()

    def _ways(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def reset_parameters(self) -> None:
        """Set all parameters from the uniform distribution on ±1 / √hidden_size."""
        bound = 1 / sqrt(self.hidden_size)
        for one in self.parameters():
            init.uniform_(one, -bound, bound)

    def _begun(self, given: Any, batches: int, like: Array) -> list[Array]:
        """Return the initial states, each [layers directions, N, H]. Zeros by default."""
        widths = (self.proj_size or self.hidden_size, self.hidden_size)[: self._states]
        shapes = [(self.num_layers * len(self._ways()), batches, width) for width in widths]
        if given is None:
            made: dict[tuple[int, ...], Array] = {}
            for shape in shapes:
                made[shape] = creation.zeros(shape, dtype=like.dtype, device=like.device)
            return [made[shape] for shape in shapes]
        for x, shape in zip(given, shapes, strict=True):
            if not isinstance(x, Array):
                raise InvalidType(type(self).__name__, "hx", x, "arrays")
            if x.shape != shape:
                raise InvalidArgument(type(self).__name__, "hx", x, f"have shape {shape}")
        return list(given)

    def _run_packed(
        self, input: PackedSequence, given: Sequence[Array] | None
    ) -> tuple[PackedSequence, list[Array]]:
        """Run all layers over sequences of different lengths."""
        x, sizes = input.data, [int(n) for n in input.batch_sizes]
        if x.ndim != 2 or x.shape[1] != self.input_size:
            expected = f"have data of shape [total length, {self.input_size}]"
            raise InvalidArgument(type(self).__name__, "input", x, expected)
        begun = self._begun(given, sizes[0], x)
        order, back = input.sorted_indices, input.unsorted_indices
        if given is not None and order is not None:
            begun = [manipulation.take(one, order, axis=1) for one in begun]
        found, last = self._through_layers(x, begun, sizes)
        if back is not None:
            last = [manipulation.take(one, back, axis=1) for one in last]
        return PackedSequence(found, input.batch_sizes, order, back), last

    def _run(self, input: Any, given: Sequence[Array] | None) -> tuple[Any, list[Array]]:
        op = type(self).__name__
        if isinstance(input, PackedSequence):
            return self._run_packed(input, given)
        if not isinstance(input, Array):
            raise InvalidType(op, "input", input, "an array")
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size:
            expected = f"have shape [length, N, {self.input_size}], or without N"
            raise InvalidArgument(op, "input", input, expected)
        is_alone = input.ndim == 2
        if is_alone:
            x = manipulation.expand_dims(input, axis=1)
            given = given and [
                manipulation.expand_dims(one, axis=1) if isinstance(one, Array) else one
                for one in given
            ]
        else:
            x = manipulation.moveaxis(input, 0, 1) if self.batch_first else input
        if not x.shape[0]:
            raise InvalidArgument(op, "input", input, "have at least one step")
        begun = self._begun(given, x.shape[1], x)
        x, last = self._through_layers(x, begun, None)
        if is_alone:
            return x[:, 0], [one[:, 0] for one in last]
        return (manipulation.moveaxis(x, 0, 1) if self.batch_first else x), last

    def _through_layers(
        self, x: Array, begun: list[Array], sizes: list[int] | None
    ) -> tuple[Array, list[Array]]:
        """Run all layers over [length, N, I], or over packed data with ``sizes``."""
        ends: list[State] = []
        ways = self._ways()
        for layer in range(self.num_layers):
            if layer and self.dropout and self.training:
                generator = drawer(type(self).__name__, None, x.device)
                x = dropping.dropout(x, self.dropout, generator=generator)
            outputs = []
            for at, way in enumerate(ways):
                own = tuple([one[layer * len(ways) + at] for one in begun])
                found, end = self._over_time(x, own, sizes, f"_l{layer}{way}", bool(way))
                outputs.append(found)
                ends.append(end)
            x = outputs[0] if len(outputs) == 1 else manipulation.concat(outputs, axis=-1)
        last = [manipulation.stack(each, axis=0) for each in zip(*ends, strict=True)]
        return x, last

    def _over_time(
        self, x: Array, state: State, sizes: list[int] | None, name: str, backwards: bool
    ) -> tuple[Array, State]:
        """Run one layer in one direction. Return the outputs and the final state.

        The input projections of all steps are one matrix product.
        """
        added_in, added = (
            getattr(self, f"{kind}{name}") if self.bias else None for kind in ("bias_ih", "bias_hh")
        )
        inside = tables.linear(x, getattr(self, f"weight_ih{name}"), added_in)
        weight = getattr(self, f"weight_hh{name}")
        narrow = getattr(self, f"weight_hr{name}") if self.proj_size else None

        def next_state(step: Array, state: State) -> State:
            found = self._step(step, tables.linear(state[0], weight, added), state)
            return found if narrow is None else (tables.linear(found[0], narrow), *found[1:])

        if sizes is not None:
            return _over_packed(inside, state, sizes, next_state, backwards)
        steps = manipulation.unstack(inside, axis=0)
        outputs = []
        for step in reversed(steps) if backwards else steps:
            state = next_state(step, state)
            outputs.append(state[0])
        return manipulation.stack(outputs[::-1] if backwards else outputs, axis=0), state

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        """Return the next state from the projected input and state, [N, G H] each."""
        raise NotImplementedError

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return the outputs of the last layer, and the final states of all layers.

        Parameters
        ----------
        input : Array or PackedSequence
            [length, N, I], or [N, length, I] with ``batch_first``, or [length, I].
        hx : Array, optional
            The initial states, [layers directions, N, H]. Zeros by default.

        Returns
        -------
        tuple
            The outputs [length, N, directions H], or a PackedSequence of them, and the states
            [layers directions, N, H].
        """
        found, last = self._run(input, None if hx is None else [hx])
        return found, last[0]

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        said = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0,
                 "bidirectional": False, "proj_size": 0}  # fmt: skip
        said += [
            f"{name}={getattr(self, name)}" for name, value in usual.items()
            if getattr(self, name) != value
        ]  # fmt: skip
        return ", ".join(said)


class RNN(_Recurrent):
    """Compute h = tanh(W_ih x + b_ih + W_hh h + b_hh) for each step.

    ``nonlinearity="relu"`` replaces tanh.

    Source: Elman, "Finding structure in time", 1990.
    """

    _gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
        bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
        bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        found = check_nonlinearity("RNN", nonlinearity)
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
            device, dtype,
        )  # fmt: skip
        self.nonlinearity = found

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        return rnn_step(inside, inner, self.nonlinearity)


class LSTM(_Recurrent):
    """Compute c = σ(f) c + σ(i) tanh(g) and h = σ(o) tanh(c) for each step.

    The gates i, f, g, o are the parts of W_ih x + b_ih + W_hh h + b_hh. The states are a pair of h
    and c.

    Source: Gers, Schmidhuber and Cummins, "Learning to forget", 2000.
    """

    _gates = 4
    _states = 2

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        return lstm_step(inside, inner, state[1])

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return the outputs and the final states, a pair (h, c). ``hx`` is also such a pair."""
        if hx is not None and (not isinstance(hx, tuple | list) or len(hx) != 2):
            raise InvalidType("LSTM", "hx", hx, "a pair of arrays, h and c")
        found, last = self._run(input, hx)
        return found, tuple(last)


class GRU(_Recurrent):
    """Compute h = (1 - z) n + z h for each step.

    The gates are r = σ(W_ir x + b_ir + W_hr h + b_hr), z likewise, and n = tanh(W_in x + b_in + r
    (W_hn h + b_hn)).

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder", arXiv
    1406.1078, in PyTorch's form, which multiplies by r after the matrix product.
    """

    _gates = 3

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        return gru_step(inside, inner, state[0])


def _over_packed(
    inside: Array, state: State, sizes: list[int], next_state: Callable[[Array, State], State],
    backwards: bool,
) -> tuple[Array, State]:  # fmt: skip
    """Run a layer over packed data. ``sizes`` is the number of sequences that have each step."""
    begins = [0, *accumulate(sizes)]
    begun = state
    ended: list[State] = []
    outputs: list[Array] = []
    state = tuple([one[: sizes[-1] if backwards else sizes[0]] for one in begun])
    order = range(len(sizes))
    for at in reversed(order) if backwards else order:
        count, before = sizes[at], state[0].shape[0]
        if count > before:  # sequences that end at this step begin here, backwards
            more = [one[before:count] for one in begun]
            state = tuple([manipulation.concat(pair) for pair in zip(state, more, strict=True)])
        elif count < before:  # sequences that have ended
            ended.append(tuple([one[count:] for one in state]))
            state = tuple([one[:count] for one in state])
        state = next_state(inside[begins[at] : begins[at + 1]], state)
        outputs.append(state[0])
    if ended:
        parts = zip(state, *reversed(ended), strict=True)
        state = tuple([manipulation.concat([*part]) for part in parts])
    return manipulation.concat(outputs[::-1] if backwards else outputs), state
