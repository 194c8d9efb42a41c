"""One step of recurrent layers: RNNCell, LSTMCell and GRUCell, and their formulas."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, ClassVar

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.nn import activations, tables
from browsergpu.networks import init
from browsergpu.networks.layers.making import optional, parameter
from browsergpu.networks.module import Module

#: The state h, or the states h and c.
State = tuple[Array, ...]


def _gates(x: Array, count: int) -> list[Array]:
    """Split [N, G H] into G arrays."""
    apart = manipulation.reshape(x, (x.shape[0], count, x.shape[1] // count))
    return [*manipulation.unstack(apart, axis=1)]


def rnn_step(inside: Array, inner: Array, nonlinearity: str) -> State:
    """Return the next state from the projected input and state, [N, H] each."""
    function: Callable[[Array], Array] = getattr(activations, nonlinearity)
    return (function(elementwise.add(inside, inner)),)


def lstm_step(inside: Array, inner: Array, cell: Array) -> State:
    """Return the next states h and c from the projected input and state, [N, 4 H] each."""
    i, f, g, o = _gates(elementwise.add(inside, inner), 4)
    sigmoid, tanh = activations.sigmoid, activations.tanh
    now = elementwise.add(
        elementwise.multiply(sigmoid(f), cell), elementwise.multiply(sigmoid(i), tanh(g))
    )
    return elementwise.multiply(sigmoid(o), tanh(now)), now


def gru_step(inside: Array, inner: Array, state: Array) -> State:
    """Return the next state from the projected input and state, [N, 3 H] each."""
    (r, z, n), (own_r, own_z, own_n) = _gates(inside, 3), _gates(inner, 3)
    reset = activations.sigmoid(elementwise.add(r, own_r))
    update = activations.sigmoid(elementwise.add(z, own_z))
    new = activations.tanh(elementwise.add(n, elementwise.multiply(reset, own_n)))
    # (1 - z) n + z h
    moved = elementwise.multiply(update, elementwise.subtract(state, new))
    return (elementwise.add(new, moved),)


def check_nonlinearity(op: str, nonlinearity: Any) -> str:
    """Return the name of an RNN's function. Raises InvalidArgument for another one."""
    if nonlinearity not in ("tanh", "relu"):
        raise InvalidArgument(op, "nonlinearity", nonlinearity, "'tanh' or 'relu'")
    return nonlinearity  # type: ignore[no-any-return]


class _Cell(Module):
    """Base of cells, with ``weight_ih`` [G H, I], ``weight_hh`` [G H, H] and two biases [G H]."""

    _gates: ClassVar[int]
    weight_ih: Array
    weight_hh: Array
    bias_ih: Array | None
    bias_hh: Array | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        self.input_size = checks.integer(op, "input_size", input_size, 1)
        self.hidden_size = checks.integer(op, "hidden_size", hidden_size, 1)
        self.bias = checks.flag(op, "bias", bias)
        rows = self._gates * self.hidden_size
        self.weight_ih = parameter((rows, self.input_size), device, dtype)
        self.weight_hh = parameter((rows, self.hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            optional(self, name, self.bias, (rows,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all parameters from the uniform distribution on ±1 / √hidden_size."""
        bound = 1 / sqrt(self.hidden_size)
        for one in self.parameters():
            init.uniform_(one, -bound, bound)

    def _run(self, input: Any, given: Any, count: int) -> State:
        """Check the input and ``count`` states, and return the next states."""
        op = type(self).__name__
        if not isinstance(input, Array):
            raise InvalidType(op, "input", input, "an array")
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            expected = f"have shape [N, {self.input_size}] or [{self.input_size}]"
            raise InvalidArgument(op, "input", input, expected)
        shape = (*input.shape[:-1], self.hidden_size)
        if given is None:
            given = (creation.zeros(shape, dtype=input.dtype, device=input.device),) * count
        for one in given:
            if not isinstance(one, Array):
                raise InvalidType(op, "hx", one, "arrays")
            if one.shape != shape:
                raise InvalidArgument(op, "hx", one, f"have shape {shape}")
        rows = [manipulation.reshape(x, (-1, x.shape[-1])) for x in (input, *given)]
        x, *states = rows
        found = self._step(
            tables.linear(x, self.weight_ih, self.bias_ih),
            tables.linear(states[0], self.weight_hh, self.bias_hh), tuple(states),
        )  # fmt: skip
        return tuple([manipulation.reshape(one, shape) for one in found])

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """Compute h = tanh(W_ih x + b_ih + W_hh h + b_hh), one step of :class:`RNN`.

    ``nonlinearity="relu"`` replaces tanh.
    """

    _gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        found = check_nonlinearity("RNNCell", nonlinearity)
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = found

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        return rnn_step(inside, inner, self.nonlinearity)

    def forward(self, input: Array, hx: Array | None = None) -> Array:
        """Return the next state, [N, H] or [H]. ``hx`` is the state before, zeros by default."""
        return self._run(input, None if hx is None else (hx,), 1)[0]


class GRUCell(_Cell):
    """Compute one step of :class:`GRU`."""

    _gates = 3

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        return gru_step(inside, inner, state[0])

    def forward(self, input: Array, hx: Array | None = None) -> Array:
        """Return the next state, [N, H] or [H]. ``hx`` is the state before, zeros by default."""
        return self._run(input, None if hx is None else (hx,), 1)[0]


class LSTMCell(_Cell):
    """Compute one step of :class:`LSTM`."""

    _gates = 4

    def _step(self, inside: Array, inner: Array, state: State) -> State:
        return lstm_step(inside, inner, state[1])

    def forward(self, input: Array, hx: Any = None) -> tuple[Array, Array]:
        """Return the next states, a pair (h, c). ``hx`` is the pair before, zeros by default."""
        if hx is not None and (not isinstance(hx, tuple | list) or len(hx) != 2):
            raise InvalidType("LSTMCell", "hx", hx, "a pair of arrays, h and c")
        h, c = self._run(input, hx, 2)
        return h, c
